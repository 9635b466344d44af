"""codeflare: Ray clusters and jobs on Kubernetes, queued and started when all of their pods fit.

from codeflare_sdk import Cluster, ClusterConfiguration
cluster = Cluster(ClusterConfiguration(name="demo", num_workers=2))
cluster.up()
cluster.wait_ready()
"""

from ._auth import (
    AuthConfig,
    Authentication,
    KubeConfigFileAuthentication,
    KubeConfiguration,
    TokenAuthentication,
    get_k8s_client,
    set_api_client,
)
from ._cluster import AWManager, Cluster, get_cluster, get_current_namespace, list_all_clusters, list_all_queued
from ._config import ClusterConfig, ClusterConfiguration, ManagedClusterConfig, WorkerGroup
from ._core import __version__
from ._ddp import DDPJob, DDPJobDefinition, Job, JobDefinition
from ._demos import copy_demo_nbs
from ._job_model import (
    AppState,
    AppStatus,
    CodeflareRayJobStatus,
    JobDetails,
    JobStatus,
    JobType,
    RayJobDeploymentStatus,
    RayJobInfo,
)
from ._kueue import list_local_queues
from ._model import (
    AppWrapper,
    AppWrapperStatus,
    CodeFlareClusterStatus,
    Explanation,
    RayCluster,
    RayClusterStatus,
    WorkerGroupStatus,
)
from ._ray_job import RayJob
from ._ray_jobs import RayJobClient
from ._widgets import view_clusters
from .codeflare import Codeflare, JobOptions, SDKConfig
from .errors import AlreadyExistsError, CodeflareError, InvalidError, NotAllowedError, NotFoundError, TimeUpError, UnreachableError
from .utils import generate_cert

__all__ = [
    "AWManager",
    "AlreadyExistsError",
    "AppState",
    "AppStatus",
    "AppWrapper",
    "AppWrapperStatus",
    "AuthConfig",
    "Authentication",
    "Cluster",
    "ClusterConfig",
    "ClusterConfiguration",
    "CodeFlareClusterStatus",
    "Codeflare",
    "CodeflareError",
    "CodeflareRayJobStatus",
    "DDPJob",
    "DDPJobDefinition",
    "Explanation",
    "InvalidError",
    "Job",
    "JobDefinition",
    "JobDetails",
    "JobOptions",
    "JobStatus",
    "JobType",
    "KubeConfigFileAuthentication",
    "KubeConfiguration",
    "ManagedClusterConfig",
    "NotAllowedError",
    "NotFoundError",
    "RayCluster",
    "RayClusterStatus",
    "RayJob",
    "RayJobClient",
    "RayJobDeploymentStatus",
    "RayJobInfo",
    "SDKConfig",
    "TimeUpError",
    "TokenAuthentication",
    "UnreachableError",
    "WorkerGroup",
    "WorkerGroupStatus",
    "__version__",
    "copy_demo_nbs",
    "generate_cert",
    "get_cluster",
    "get_current_namespace",
    "get_k8s_client",
    "list_all_clusters",
    "list_all_queued",
    "list_local_queues",
    "set_api_client",
    "view_clusters",
]
