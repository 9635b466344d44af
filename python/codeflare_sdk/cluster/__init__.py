"""Import paths of 0.12."""

from .auth import Authentication, KubeConfigFileAuthentication, KubeConfiguration, TokenAuthentication
from .awload import AWManager
from .cluster import Cluster, ClusterConfiguration, get_cluster, list_all_clusters, list_all_queued
from .model import AppWrapper, AppWrapperStatus, CodeFlareClusterStatus, RayCluster, RayClusterStatus

__all__ = [
    "AWManager",
    "AppWrapper",
    "AppWrapperStatus",
    "Authentication",
    "Cluster",
    "ClusterConfiguration",
    "CodeFlareClusterStatus",
    "KubeConfigFileAuthentication",
    "KubeConfiguration",
    "RayCluster",
    "RayClusterStatus",
    "TokenAuthentication",
    "get_cluster",
    "list_all_clusters",
    "list_all_queued",
]
