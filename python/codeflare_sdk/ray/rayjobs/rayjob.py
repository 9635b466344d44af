"""RayJobs, under the path of 0.40."""

from ..._ray_job import RayJob

__all__ = [
    "RayJob",
]
