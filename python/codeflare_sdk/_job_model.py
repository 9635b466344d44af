"""Status words and records of jobs, with the members of every version of the SDK."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any

from . import _show

Data = dict[str, Any]


class JobStatus(str, enum.Enum):
    """State of a job on a Ray cluster, in Ray's words."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    STOPPED = "STOPPED"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"

    def __str__(self) -> str:
        return self.value

    def is_terminal(self) -> bool:
        """Whether the job has ended."""
        return self in (JobStatus.STOPPED, JobStatus.SUCCEEDED, JobStatus.FAILED)


class JobType(str, enum.Enum):
    """How a job came to the cluster."""

    SUBMISSION = "SUBMISSION"
    DRIVER = "DRIVER"


class RayJobDeploymentStatus(enum.Enum):
    """State of a RayJob object, in KubeRay's words."""

    COMPLETE = "Complete"
    RUNNING = "Running"
    FAILED = "Failed"
    SUSPENDED = "Suspended"
    UNKNOWN = "Unknown"


class CodeflareRayJobStatus(enum.Enum):
    """State of a RayJob."""

    COMPLETE = 1
    RUNNING = 2
    FAILED = 3
    SUSPENDED = 4
    UNKNOWN = 5


class AppState(enum.IntEnum):
    """State of a DDP job, in TorchX's words."""

    UNSUBMITTED = 0
    SUBMITTED = 1
    PENDING = 2
    RUNNING = 3
    SUCCEEDED = 4
    FAILED = 5
    CANCELLED = 6
    UNKNOWN = 7


def job_status(phase: str) -> JobStatus:
    """Ray's word for one of ours."""
    return JobStatus.PENDING if phase == "Queued" else JobStatus(phase.upper())


@dataclasses.dataclass
class JobDetails:
    """A job on a Ray cluster, with the fields of Ray's own JobDetails."""

    submission_id: str
    status: JobStatus
    entrypoint: str = ""
    type: JobType = JobType.SUBMISSION
    job_id: str | None = None
    message: str | None = None
    error_type: str | None = None
    start_time: int | None = None
    end_time: int | None = None
    metadata: dict[str, str] = dataclasses.field(default_factory=dict)
    runtime_env: dict[str, Any] = dataclasses.field(default_factory=dict)
    driver_node_id: str | None = None
    driver_exit_code: int | None = None
    driver_info: Any = None
    driver_agent_http_address: str | None = None
    cluster_name: str = ""
    namespace: str = ""

    def _repr_html_(self) -> str:
        return JobList([self])._repr_html_()

    def row(self) -> tuple[str, ...]:
        return (
            self.submission_id, self.namespace or "-", self.cluster_name or "-", str(self.status), _show.time_text(self.start_time),
            _show.took_text(self.start_time, self.end_time), self.entrypoint, self.message or "-",
        )


JOB_COLUMNS = ("NAME", "NAMESPACE", "CLUSTER", "STATUS", "STARTED", "TOOK", "COMMAND", "MESSAGE")


class JobList(list[JobDetails]):
    """Jobs; a table in notebooks."""

    def _repr_html_(self) -> str:
        return _show.html_table(JOB_COLUMNS, [job.row() for job in self])

    def table(self) -> str:
        """The same as plain text."""
        return _show.table(JOB_COLUMNS, [job.row() for job in self])


def job_details(info: Data) -> JobDetails:
    """The record of a job that `_core` describes."""
    return JobDetails(
        submission_id=info["name"],
        status=job_status(info["status"]),
        entrypoint=info["command"],
        job_id=info["rayJobId"] or None,
        message=info["message"] or None,
        error_type=info["reason"] or None,
        start_time=info["startMs"],
        end_time=info["endMs"],
        metadata=info["metadata"],
        runtime_env=info["runtimeEnv"],
        driver_node_id=info["nodeId"] or None,
        driver_exit_code=info["exitCode"],
        cluster_name=info["cluster"],
        namespace=info["namespace"],
    )


@dataclasses.dataclass
class RayJobInfo:
    """A RayJob."""

    name: str
    job_id: str
    status: RayJobDeploymentStatus
    namespace: str
    cluster_name: str
    start_time: str | None = None
    end_time: str | None = None
    failed_attempts: int = 0
    succeeded_attempts: int = 0


@dataclasses.dataclass
class AppStatus:
    """Where a DDP job is; prints as YAML."""

    state: AppState
    msg: str = ""
    num_restarts: int = 0
    exit_code: int | None = None
    started: str = ""
    ended: str = ""
    ui_url: str | None = None

    def is_terminal(self) -> bool:
        return self.state in (AppState.SUCCEEDED, AppState.FAILED, AppState.CANCELLED)

    def _lines(self) -> list[tuple[str, str]]:
        exit_code = "" if self.exit_code is None else str(self.exit_code)
        rows = [("state", self.state.name), ("msg", self.msg), ("exit_code", exit_code), ("started", self.started), ("ended", self.ended)]
        return [(key, value) for key, value in rows if value]

    def __str__(self) -> str:
        return "\n".join(f"{key}: {value}" for key, value in self._lines())

    def _repr_html_(self) -> str:
        return _show.html_table(("FIELD", "VALUE"), self._lines())
