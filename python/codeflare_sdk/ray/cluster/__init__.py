"""Clusters, under the path of 0.40."""

from ..._cluster import Cluster, get_cluster, list_all_clusters, list_all_queued
from ..._config import ClusterConfiguration, WorkerGroup
from ..._model import CodeFlareClusterStatus, RayCluster, RayClusterStatus, WorkerGroupStatus

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
