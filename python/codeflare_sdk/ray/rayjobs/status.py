"""Status of RayJobs, under the path of 0.40."""

from ..._job_model import CodeflareRayJobStatus, RayJobDeploymentStatus, RayJobInfo

__all__ = [
    "CodeflareRayJobStatus",
    "RayJobDeploymentStatus",
    "RayJobInfo",
]
