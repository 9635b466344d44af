"""Clusters of RayJobs, under the path of 0.32."""

from ..._config import ManagedClusterConfig

__all__ = [
    "ManagedClusterConfig",
]
