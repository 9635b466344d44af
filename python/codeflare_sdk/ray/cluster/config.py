"""Configuration, under the path of 0.40."""

from ..._config import ClusterConfiguration, WorkerGroup

__all__ = [
    "ClusterConfiguration",
    "WorkerGroup",
]
