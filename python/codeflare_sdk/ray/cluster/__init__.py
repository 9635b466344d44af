"""Clusters, under the path of 0.40."""

from ..._cluster import Cluster, get_cluster, list_all_clusters, list_all_queued  # noqa: F401
from ..._config import ClusterConfiguration, WorkerGroup  # noqa: F401
from ..._model import CodeFlareClusterStatus, RayCluster, RayClusterStatus, WorkerGroupStatus  # noqa: F401
