"""Ray, under the path of 0.40."""

from .cluster import Cluster, ClusterConfiguration, CodeFlareClusterStatus, RayCluster, RayClusterStatus, get_cluster, list_all_clusters, list_all_queued  # noqa: F401,E501
