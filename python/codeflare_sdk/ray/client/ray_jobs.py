"""Jobs on Ray clusters, under the path of 0.40."""

from ..._job_model import JobDetails, JobStatus, JobType
from ..._ray_jobs import RayJobClient

__all__ = [
    "JobDetails",
    "JobStatus",
    "JobType",
    "RayJobClient",
]
