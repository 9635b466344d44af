"""Distributed data-parallel training: DDPJobDefinition and the jobs that are made of it."""

from __future__ import annotations

import abc
import os
from typing import TYPE_CHECKING, Any

from ._call import Data, call
from ._job_model import AppState, AppStatus
from .errors import InvalidError

if TYPE_CHECKING:
    from ._cluster import Cluster

_STATES = {
    "Queued": AppState.SUBMITTED,
    "Pending": AppState.PENDING,
    "Running": AppState.RUNNING,
    "Succeeded": AppState.SUCCEEDED,
    "Failed": AppState.FAILED,
    "Stopped": AppState.CANCELLED,
}

all_jobs: list[Job] = []  # of this process


class JobDefinition(metaclass=abc.ABCMeta):
    """Work that can be submitted."""

    @abc.abstractmethod
    def submit(self, cluster: Cluster | None = None) -> Job: ...


class Job(metaclass=abc.ABCMeta):
    """Work that was submitted."""

    @abc.abstractmethod
    def status(self) -> AppStatus: ...

    @abc.abstractmethod
    def logs(self) -> str: ...

    @abc.abstractmethod
    def cancel(self) -> None: ...


class DDPJobDefinition(JobDefinition):
    """One Python program in many processes that train together.

    job = DDPJobDefinition(name="mnist", script="mnist.py", j="2x1").submit(cluster)

    script or m: the program, exactly one of them; script_args follow it
    cpu, gpu, memMB: of one replica (on a Ray cluster cpu and gpu default to those of a worker)
    j: REPLICASxPROCESSES (default: a replica for each worker, a process for each of its GPUs)
    env, max_retries, rdzv_port: for every process; attempts after a failure; port of rank 0
    workspace: the directory that is sent with the job (default: the working directory)
    scheduler_args: working_dir and requirements, for Ray clusters
    """

    def __init__(
        self,
        script: str | None = None,
        m: str | None = None,
        script_args: list[str] | None = None,
        name: str | None = None,
        cpu: int | float | str | None = None,
        gpu: int | None = None,
        memMB: int | None = None,
        h: str | None = None,
        j: str | None = None,
        env: dict[str, str] | None = None,
        max_retries: int = 0,
        mounts: list[str] | None = None,
        rdzv_port: int | None = None,
        rdzv_backend: str | None = None,
        scheduler_args: dict[str, str] | None = None,
        image: str | None = None,
        workspace: str | None = "",
    ) -> None:
        self.script = script
        self.m = m
        self.script_args = script_args or []
        self.name = name
        self.cpu = cpu
        self.gpu = gpu
        self.memMB = memMB
        self.h = h
        self.j = j
        self.env = env or {}
        self.max_retries = max_retries
        self.mounts = mounts or []
        self.rdzv_port = rdzv_port
        self.rdzv_backend = rdzv_backend
        self.scheduler_args = scheduler_args or {}
        self.image = image
        self.workspace = f"file://{os.getcwd()}" if workspace == "" else workspace
        call("ddp.check", connection={}, definition=self.to_dict())

    def to_dict(self) -> Data:
        """Every argument that was given."""
        return {key: value for key, value in vars(self).items() if value not in (None, "", [], {})}

    def submit(self, cluster: Cluster | None = None) -> DDPJob:
        """Submits the job to a Ray cluster under its name with five letters added."""
        return DDPJob(self, cluster)


class DDPJob(Job):
    """A DDP job. `DDPJob.open(name, cluster)` finds one of an earlier session."""

    def __init__(self, job_definition: DDPJobDefinition | None, cluster: Cluster | None = None, name: str = "") -> None:
        if cluster is None:
            raise InvalidError("give the Ray cluster that the job runs on: submit(cluster)", "invalid_argument")
        self.job_definition = job_definition
        self.cluster = cluster
        self.name = name
        if job_definition is not None:
            answer = call("ddp.submit", **self._target(), definition=job_definition.to_dict(), base_directory=os.getcwd())
            self.name = answer["name"]
            for note in answer["notes"]:
                print(note)
        all_jobs.append(self)

    @classmethod
    def open(cls, name: str, cluster: Cluster) -> DDPJob:
        """The job of this name, of whichever session."""
        job = cls(None, cluster, name)
        job.status()
        return job

    def __repr__(self) -> str:
        return f"DDPJob(name={self.name!r}, cluster={self.cluster.config.name!r})"

    def _target(self) -> Data:
        return {"cluster": self.cluster.config.name, "namespace": self.cluster.config.namespace, "connection": self.cluster._connection}

    def _call(self, what: str, **arguments: Any) -> Any:
        return call(what, **self._target(), name=self.name, **arguments)

    @property
    def _app_handle(self) -> str:
        return f"ray://{self.cluster.config.namespace or ''}/{self.cluster.config.name}/{self.name}"

    def status(self) -> AppStatus:
        return _status(self._call("job.get"))

    def logs(self) -> str:
        """The log of all replicas; each line begins with its rank."""
        return str(self._call("job.logs"))

    def wait(self, timeout: float | None = None) -> AppStatus:
        """Waits for the end of the job."""
        from . import _show

        with _show.Progress(f"Job '{self.name}'") as progress:
            return _status(self._call("job.wait", observer=lambda info: progress.show(info["line"]), timeout=timeout))

    def cancel(self) -> None:
        """Stops the job; its record and log stay."""
        self._call("job.stop", wait=True)

    def delete(self) -> None:
        """Stops the job, then removes its record."""
        self._call("job.delete")


def _status(info: Data) -> AppStatus:
    return AppStatus(
        state=_STATES[info["status"]], msg=info["message"], exit_code=info["exitCode"], started=info["started"], ended=info["ended"]
    )
