"""Configuration, under the path of 0.12."""

from .._config import ClusterConfig, ClusterConfiguration, WorkerGroup

__all__ = [
    "ClusterConfig",
    "ClusterConfiguration",
    "WorkerGroup",
]
