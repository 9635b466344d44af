"""RayJobs, under the path of 0.40."""

from .config import ManagedClusterConfig
from .rayjob import RayJob
from .status import CodeflareRayJobStatus, RayJobDeploymentStatus, RayJobInfo

__all__ = [
    "CodeflareRayJobStatus",
    "ManagedClusterConfig",
    "RayJob",
    "RayJobDeploymentStatus",
    "RayJobInfo",
]
