"""Widgets, under the path of 0.40."""

from .widgets import view_clusters

__all__ = [
    "view_clusters",
]
