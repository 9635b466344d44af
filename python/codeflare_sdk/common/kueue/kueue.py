"""Kueue's queues, under the path of 0.40."""

from ..._kueue import get_default_kueue_name, list_local_queues, local_queue_exists

__all__ = [
    "get_default_kueue_name",
    "list_local_queues",
    "local_queue_exists",
]
