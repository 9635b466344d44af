"""Authentication, under the path of 0.40."""

from ..._auth import Authentication, KubeConfigFileAuthentication, KubeConfiguration, TokenAuthentication

__all__ = [
    "Authentication",
    "KubeConfigFileAuthentication",
    "KubeConfiguration",
    "TokenAuthentication",
]
