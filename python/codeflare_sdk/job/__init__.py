"""Jobs, under the path of 0.12."""

from .jobs import DDPJob, DDPJobDefinition, Job, JobDefinition
from .ray_jobs import RayJobClient

__all__ = [
    "DDPJob",
    "DDPJobDefinition",
    "Job",
    "JobDefinition",
    "RayJobClient",
]
