"""Jobs on Ray clusters, under the path of 0.40."""

from .ray_jobs import RayJobClient

__all__ = [
    "RayJobClient",
]
