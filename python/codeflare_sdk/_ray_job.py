"""RayJob of 0.40: one command on a Ray cluster, under a name."""

from __future__ import annotations

import os
from typing import Any

from . import _auth, _show
from ._call import Data, call
from ._config import ClusterConfiguration
from ._job_model import CodeflareRayJobStatus, JobDetails, JobList, RayJobDeploymentStatus, RayJobInfo, job_details
from ._ray_jobs import plain_runtime_env
from .errors import InvalidError

_STATES = {
    "Queued": (RayJobDeploymentStatus.SUSPENDED, CodeflareRayJobStatus.SUSPENDED),
    "Pending": (RayJobDeploymentStatus.RUNNING, CodeflareRayJobStatus.RUNNING),
    "Running": (RayJobDeploymentStatus.RUNNING, CodeflareRayJobStatus.RUNNING),
    "Succeeded": (RayJobDeploymentStatus.COMPLETE, CodeflareRayJobStatus.COMPLETE),
    "Failed": (RayJobDeploymentStatus.FAILED, CodeflareRayJobStatus.FAILED),
    "Stopped": (RayJobDeploymentStatus.SUSPENDED, CodeflareRayJobStatus.SUSPENDED),
}


class RayJob:
    """A command on a Ray cluster: one that exists (cluster_name), or one for this job alone (cluster_config).

    job = RayJob(job_name="train", cluster_name="demo", entrypoint="python train.py", runtime_env={"working_dir": "."})
    job.submit()
    job.status()

    The name is the id of the job: another process finds the job again by the same arguments. With cluster_config the job waits in
    the queue, runs and releases its cluster without a client. ttl_seconds_after_finished removes its record so long after its end
    (0: the record stays); active_deadline_seconds limits the time since its start.
    """

    def __init__(
        self,
        job_name: str,
        entrypoint: str,
        cluster_name: str | None = None,
        cluster_config: ClusterConfiguration | None = None,
        namespace: str | None = None,
        runtime_env: Any = None,
        ttl_seconds_after_finished: int = 0,
        active_deadline_seconds: int | None = None,
        local_queue: str | None = None,
        priority_class: str | None = None,
        api_client: Any = None,
    ) -> None:
        if (cluster_name is None) == (cluster_config is None):
            problem = "are both missing" if cluster_name is None else "contradict each other"
            raise InvalidError(f"cluster_name and cluster_config {problem}", "invalid_argument", hint="give exactly one of them")
        given = {"ttl_seconds_after_finished": ttl_seconds_after_finished, "active_deadline_seconds": active_deadline_seconds,
                 "priority_class": priority_class}
        names = [name for name, value in given.items() if value and cluster_name is not None]
        if names:
            raise InvalidError(f"{', '.join(names)}: only for jobs with a cluster of their own", "invalid_argument", hint="leave them out")
        if local_queue:
            raise InvalidError("local_queue: jobs wait in the queue of AppWrappers", "invalid_argument", hint="leave it out")
        self._own: Data | None = None
        self._ttl = ttl_seconds_after_finished or None
        if cluster_config is not None:
            limits = {"max_time": active_deadline_seconds, "priority_class": priority_class}
            self._own = {**cluster_config.to_dict(), "name": job_name, **{key: value for key, value in limits.items() if value}}
            self._own.pop("namespace", None)
            namespace = namespace or cluster_config.namespace
        self.name = job_name
        self.entrypoint = entrypoint
        self.cluster_name = cluster_name
        self.namespace = namespace
        self.runtime_env = plain_runtime_env(runtime_env)
        self._connection = _auth.connection_of(api_client)

    def __repr__(self) -> str:
        return f"RayJob(name={self.name!r}, cluster={self.cluster_name!r})"

    def _call(self, what: str, **arguments: Any) -> Any:
        target: Data = {"cluster": self.cluster_name, "namespace": self.namespace, "connection": self._connection}
        return call(what, **target, name=self.name, **arguments)

    def submit(self) -> str:
        """Submits the job and returns its name. A name that is taken is an AlreadyExistsError."""
        what = "job.submit" if self._own is None else "job.submit_own"
        answer = self._call(
            what, command=self.entrypoint, runtime_env=self.runtime_env, base_directory=os.getcwd(), config=self._own, ttl=self._ttl
        )
        for note in answer["notes"]:
            print(note)
        print(f"Job '{self.name}' submitted" + (f" to Ray cluster '{self.cluster_name}'" if self.cluster_name else "; it waits in the queue"))
        return self.name

    def stop(self) -> bool:
        """Stops the job; its record and log stay."""
        return bool(self._call("job.stop", wait=True)["wasRunning"])

    def resubmit(self) -> bool:
        """Runs the job again: its earlier record and log are removed."""
        self._call("job.delete")
        self.submit()
        return True

    def delete(self) -> bool:
        """Stops the job if it runs, then removes its record."""
        self._call("job.delete")
        return True

    def status(self, print_to_console: bool = True) -> tuple[CodeflareRayJobStatus, bool]:
        """Where the job is, and whether it has succeeded."""
        info = self._call("job.get")
        if print_to_console:
            _show.jobs(JobList([job_details(info)]))
        status = _STATES[info["status"]][1]
        return status, status is CodeflareRayJobStatus.COMPLETE

    def info(self) -> RayJobInfo:
        """The job as a record."""
        info = self._call("job.get")
        return RayJobInfo(
            name=self.name, job_id=info["name"], status=_STATES[info["status"]][0], namespace=info["namespace"],
            cluster_name=info["cluster"], start_time=info["started"] or None, end_time=info["ended"] or None,
        )

    def logs(self) -> str:
        """The whole log so far."""
        return str(self._call("job.logs"))

    def wait(self, timeout: float | None = None) -> JobDetails:
        """Waits for the end of the job."""
        with _show.Progress(f"Job '{self.name}'") as progress:
            return job_details(self._call("job.wait", observer=lambda info: progress.show(info["line"]), timeout=timeout))
