"""Clusters, under the path of 0.12."""

from .._cluster import Cluster, get_cluster, get_current_namespace, list_all_clusters, list_all_queued
from .._config import ClusterConfiguration

__all__ = [
    "Cluster",
    "ClusterConfiguration",
    "get_cluster",
    "get_current_namespace",
    "list_all_clusters",
    "list_all_queued",
]
