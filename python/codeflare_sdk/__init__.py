"""codeflare: Ray clusters on Kubernetes, queued and started when all of their pods fit.

from codeflare_sdk import Cluster, ClusterConfiguration
cluster = Cluster(ClusterConfiguration(name="demo", num_workers=2))
cluster.up()
cluster.wait_ready()
"""

from ._auth import Authentication, KubeConfigFileAuthentication, KubeConfiguration, TokenAuthentication
from ._cluster import AWManager, Cluster, get_cluster, get_current_namespace, list_all_clusters, list_all_queued
from ._config import ClusterConfig, ClusterConfiguration, WorkerGroup
from ._core import __version__
from ._model import AppWrapper, AppWrapperStatus, CodeFlareClusterStatus, RayCluster, RayClusterStatus, WorkerGroupStatus
from .errors import AlreadyExistsError, CodeflareError, InvalidError, NotAllowedError, NotFoundError, TimeUpError, UnreachableError

__all__ = [
    "AWManager",
    "AlreadyExistsError",
    "AppWrapper",
    "AppWrapperStatus",
    "Authentication",
    "Cluster",
    "ClusterConfig",
    "ClusterConfiguration",
    "CodeFlareClusterStatus",
    "CodeflareError",
    "InvalidError",
    "KubeConfigFileAuthentication",
    "KubeConfiguration",
    "NotAllowedError",
    "NotFoundError",
    "RayCluster",
    "RayClusterStatus",
    "TimeUpError",
    "TokenAuthentication",
    "UnreachableError",
    "WorkerGroup",
    "WorkerGroupStatus",
    "__version__",
    "get_cluster",
    "get_current_namespace",
    "list_all_clusters",
    "list_all_queued",
]
