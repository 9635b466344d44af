"""DDP jobs, under the path of 0.12."""

from .._ddp import DDPJob, DDPJobDefinition, Job, JobDefinition, all_jobs

__all__ = [
    "DDPJob",
    "DDPJobDefinition",
    "Job",
    "JobDefinition",
    "all_jobs",
]
