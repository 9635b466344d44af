"""Records, under the path of 0.12."""

from .._model import AppWrapper, AppWrapperStatus, CodeFlareClusterStatus, RayCluster, RayClusterStatus

__all__ = [
    "AppWrapper",
    "AppWrapperStatus",
    "CodeFlareClusterStatus",
    "RayCluster",
    "RayClusterStatus",
]
