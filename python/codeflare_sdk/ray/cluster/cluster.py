"""Clusters, under the path of 0.40."""

from ..._cluster import Cluster, get_cluster, list_all_clusters, list_all_queued
from ..._config import ClusterConfiguration

__all__ = [
    "Cluster",
    "ClusterConfiguration",
    "get_cluster",
    "list_all_clusters",
    "list_all_queued",
]
