"""Records, under the path of 0.40."""

from ..._model import CodeFlareClusterStatus, RayCluster, RayClusterStatus, WorkerGroupStatus

__all__ = [
    "CodeFlareClusterStatus",
    "RayCluster",
    "RayClusterStatus",
    "WorkerGroupStatus",
]
