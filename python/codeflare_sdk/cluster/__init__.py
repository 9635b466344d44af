"""Import paths of 0.12."""

from .auth import Authentication, KubeConfigFileAuthentication, KubeConfiguration, TokenAuthentication  # noqa: F401
from .awload import AWManager  # noqa: F401
from .cluster import Cluster, ClusterConfiguration, get_cluster, list_all_clusters, list_all_queued  # noqa: F401
from .model import AppWrapper, AppWrapperStatus, CodeFlareClusterStatus, RayCluster, RayClusterStatus  # noqa: F401
