"""Authentication, under the path of 0.12."""

from .._auth import Authentication, KubeConfigFileAuthentication, KubeConfiguration, TokenAuthentication, config_check

__all__ = [
    "Authentication",
    "KubeConfigFileAuthentication",
    "KubeConfiguration",
    "TokenAuthentication",
    "config_check",
]
