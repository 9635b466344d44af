"""Authentication, under the path of 0.40."""

from ..._auth import (
    AuthConfig,
    Authentication,
    KubeConfigFileAuthentication,
    KubeConfiguration,
    TokenAuthentication,
    config_check,
    get_api_client,
    get_k8s_client,
    set_api_client,
)

__all__ = [
    "AuthConfig",
    "Authentication",
    "KubeConfigFileAuthentication",
    "KubeConfiguration",
    "TokenAuthentication",
    "config_check",
    "get_api_client",
    "get_k8s_client",
    "set_api_client",
]
