"""Authentication, under the path of 0.40."""

from .kubernetes_cluster import Authentication, KubeConfigFileAuthentication, KubeConfiguration, TokenAuthentication

__all__ = [
    "Authentication",
    "KubeConfigFileAuthentication",
    "KubeConfiguration",
    "TokenAuthentication",
]
