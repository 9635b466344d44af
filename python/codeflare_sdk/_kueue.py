"""Local queues of Kueue."""

from __future__ import annotations

from typing import Any

from . import _auth
from ._call import Data, call

_DEFAULT = "kueue.x-k8s.io/default-queue"


def _queues(namespace: str | None, api_client: Any = None) -> list[Data]:
    return list(call("object.list", connection=_auth.connection_of(api_client), resource="localqueues.kueue.x-k8s.io", namespace=namespace))


def list_local_queues(namespace: str | None = None, flavors: list[str] | None = None, api_client: Any = None) -> list[Data]:
    """Name and flavors of each LocalQueue of a namespace; with `flavors` those that have all of them."""
    found = [
        {"name": queue["metadata"]["name"], "flavors": [each["name"] for each in queue.get("status", {}).get("flavors", [])]}
        for queue in _queues(namespace, api_client)
    ]
    return [queue for queue in found if set(flavors or []) <= set(queue["flavors"])]


def get_default_kueue_name(namespace: str | None = None) -> str | None:
    """The LocalQueue that is marked as the default of a namespace."""
    for queue in _queues(namespace):
        if queue["metadata"].get("annotations", {}).get(_DEFAULT, "").lower() == "true":
            return str(queue["metadata"]["name"])
    return None


def local_queue_exists(namespace: str | None, local_queue_name: str) -> bool:
    """Whether a namespace has a LocalQueue of this name."""
    return any(queue["metadata"]["name"] == local_queue_name for queue in _queues(namespace))
