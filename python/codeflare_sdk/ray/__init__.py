"""Ray, under the path of 0.40."""

from .cluster import (
    Cluster,
    ClusterConfiguration,
    CodeFlareClusterStatus,
    RayCluster,
    RayClusterStatus,
    WorkerGroup,
    WorkerGroupStatus,
    get_cluster,
    list_all_clusters,
    list_all_queued,
)

__all__ = [
    "Cluster",
    "ClusterConfiguration",
    "CodeFlareClusterStatus",
    "RayCluster",
    "RayClusterStatus",
    "WorkerGroup",
    "WorkerGroupStatus",
    "get_cluster",
    "list_all_clusters",
    "list_all_queued",
]
