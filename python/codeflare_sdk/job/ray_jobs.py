"""Jobs on Ray clusters, under the path of 0.14."""

from .._ray_jobs import RayJobClient

__all__ = [
    "RayJobClient",
]
