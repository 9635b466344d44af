"""Ray, under the path of 0.40."""

from .client import RayJobClient
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
from .rayjobs import CodeflareRayJobStatus, ManagedClusterConfig, RayJob, RayJobDeploymentStatus, RayJobInfo

__all__ = [
    "Cluster",
    "ClusterConfiguration",
    "CodeFlareClusterStatus",
    "CodeflareRayJobStatus",
    "ManagedClusterConfig",
    "RayCluster",
    "RayClusterStatus",
    "RayJob",
    "RayJobClient",
    "RayJobDeploymentStatus",
    "RayJobInfo",
    "WorkerGroup",
    "WorkerGroupStatus",
    "get_cluster",
    "list_all_clusters",
    "list_all_queued",
]
