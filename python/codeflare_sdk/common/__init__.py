"""Authentication, under the path of 0.40."""

from .kubernetes_cluster import (
    AuthConfig,
    Authentication,
    KubeConfigFileAuthentication,
    KubeConfiguration,
    TokenAuthentication,
    get_k8s_client,
)

__all__ = [
    "AuthConfig",
    "Authentication",
    "KubeConfigFileAuthentication",
    "KubeConfiguration",
    "TokenAuthentication",
    "get_k8s_client",
]
