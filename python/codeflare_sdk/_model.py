"""Status words and plain records, with the members of every version of the SDK."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any


class RayClusterStatus(enum.Enum):
    """State of a RayCluster object."""

    READY = "ready"
    UNHEALTHY = "unhealthy"
    FAILED = "failed"
    UNKNOWN = "unknown"
    SUSPENDED = "suspended"


class AppWrapperStatus(enum.Enum):
    """State of an AppWrapper, in the words of v1beta1 and v1beta2."""

    QUEUEING = "queueing"
    PENDING = "pending"
    RUNNING = "running"
    FAILED = "failed"
    DELETED = "deleted"
    COMPLETED = "completed"
    RUNNING_HOLD_COMPLETION = "runningholdcompletion"
    SUSPENDED = "suspended"
    RESUMING = "resuming"
    RESETTING = "resetting"
    SUSPENDING = "suspending"
    SUCCEEDED = "succeeded"
    TERMINATING = "terminating"


class CodeFlareClusterStatus(enum.Enum):
    """Where a cluster is on its way from the queue to its end."""

    READY = 1
    STARTING = 2
    QUEUED = 3
    QUEUEING = 4
    FAILED = 5
    UNKNOWN = 6
    SUSPENDED = 7


@dataclasses.dataclass
class Explanation:
    """Why a cluster waits, by the controller's own queue; or its state, when it does not wait."""

    name: str
    namespace: str
    state: str
    waits: bool
    reason: str = ""
    message: str = ""
    position: int | None = None
    estimated_start: str | None = None
    estimate_note: str = ""
    paused: bool = False
    advice: list[str] = dataclasses.field(default_factory=list)
    holders: list[str] = dataclasses.field(default_factory=list)
    problem: str = ""
    report: dict[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class WorkerGroupStatus:
    """A further worker group of a cluster."""

    group_name: str
    replicas: int = 0
    cpu_requests: str = ""
    cpu_limits: str = ""
    memory_requests: str = ""
    memory_limits: str = ""
    extended_resources: dict[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class RayCluster:
    """A Ray cluster as the server has it."""

    name: str
    status: RayClusterStatus
    num_workers: int = 0
    worker_mem_requests: str = ""
    worker_mem_limits: str = ""
    worker_cpu_requests: str = ""
    worker_cpu_limits: str = ""
    namespace: str = ""
    dashboard: str = ""
    worker_extended_resources: dict[str, str] = dataclasses.field(default_factory=dict)
    head_extended_resources: dict[str, str] = dataclasses.field(default_factory=dict)
    head_cpu_requests: str = ""
    head_cpu_limits: str = ""
    head_mem_requests: str = ""
    head_mem_limits: str = ""
    worker_groups: list[WorkerGroupStatus] = dataclasses.field(default_factory=list)
    reason: str = ""
    message: str = ""

    # Names of 0.12.
    @property
    def workers(self) -> int:
        return self.num_workers

    @property
    def worker_mem_min(self) -> str:
        return self.worker_mem_requests

    @property
    def worker_mem_max(self) -> str:
        return self.worker_mem_limits

    @property
    def worker_cpu(self) -> str:
        return self.worker_cpu_limits

    @property
    def worker_gpu(self) -> int:
        return int(self.worker_extended_resources.get("nvidia.com/gpu", 0))

    @property
    def head_cpus(self) -> str:
        return self.head_cpu_limits

    @property
    def head_mem(self) -> str:
        return self.head_mem_limits

    @property
    def head_gpu(self) -> int:
        return int(self.head_extended_resources.get("nvidia.com/gpu", 0))


@dataclasses.dataclass
class AppWrapper:
    """An AppWrapper in the queue."""

    name: str
    status: AppWrapperStatus
    can_run: bool = False
    job_state: str = ""
    namespace: str = ""
    reason: str = ""
    message: str = ""
