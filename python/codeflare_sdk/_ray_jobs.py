"""Jobs on a Ray cluster that runs. No Ray is needed here, and no way to the cluster beside the API server."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from ._background import Background
from ._call import Data, call
from ._job_model import JobDetails, JobList, JobStatus, job_details, job_status


class RayJobClient:
    """Submits jobs to a Ray cluster and looks after them.

    client = cluster.job_client                                  # through the API server
    client = RayJobClient("http://127.0.0.1:8265")               # at an address
    id = client.submit_job(entrypoint="python train.py", runtime_env={"working_dir": "."})
    print(client.get_job_logs(id))

    Without an address RAY_ADDRESS counts, else http://127.0.0.1:8265.
    """

    def __init__(
        self,
        address: str | None = None,
        create_cluster_if_needed: bool = False,
        cookies: dict[str, Any] | None = None,
        metadata: dict[str, Any] | None = None,
        headers: dict[str, Any] | None = None,
        verify: str | bool | None = True,
    ) -> None:
        del create_cluster_if_needed  # only Ray itself can start one
        address = address or os.environ.get("RAY_ADDRESS") or "http://127.0.0.1:8265"
        if "://" not in address:
            address = f"http://{address}"
        sent = {str(key): str(value) for key, value in (headers or {}).items()}
        if cookies:
            sent["Cookie"] = "; ".join(f"{key}={value}" for key, value in cookies.items())
        self._metadata = {str(key): str(value) for key, value in (metadata or {}).items()}
        self._target: Data = {"connection": {}, "address": address, "headers": sent}
        if verify is False:
            self._target["insecure"] = True
        elif isinstance(verify, str):
            self._target["ca_file"] = verify

    @classmethod
    def _of_cluster(cls, name: str, namespace: str | None, connection: Data | None) -> RayJobClient:
        client = cls.__new__(cls)
        client._metadata = {}
        client._target = {"cluster": name, "namespace": namespace, "connection": connection}
        return client

    def __repr__(self) -> str:
        return f"RayJobClient({self._target.get('address') or self._target.get('cluster')!r})"

    def _call(self, what: str, **arguments: Any) -> Any:
        return call(what, **self._target, **arguments)

    def submit_job(
        self,
        entrypoint: str,
        job_id: str | None = None,
        runtime_env: Any = None,
        metadata: dict[str, str] | None = None,
        submission_id: str | None = None,
        entrypoint_num_cpus: int | float | None = None,
        entrypoint_num_gpus: int | float | None = None,
        entrypoint_memory: int | None = None,
        entrypoint_resources: dict[str, float] | None = None,
    ) -> str:
        """Submits a command and returns the name of the job. A name that is taken is an AlreadyExistsError."""
        answer = self._call(
            "job.submit",
            name=submission_id or job_id,
            command=entrypoint,
            runtime_env=plain_runtime_env(runtime_env),
            metadata={**self._metadata, **(metadata or {})},
            num_cpus=entrypoint_num_cpus,
            num_gpus=entrypoint_num_gpus,
            memory=entrypoint_memory,
            resources=entrypoint_resources,
            base_directory=os.getcwd(),
        )
        for note in answer["notes"]:
            print(note)
        return str(answer["name"])

    def stop_job(self, job_id: str) -> tuple[bool, str]:
        """Stops a job; its record and log stay."""
        stopped = self._call("job.stop", name=job_id)["wasRunning"]
        if stopped:
            return True, f"Successfully stopped Job {job_id}"
        return False, f"Failed to stop Job, {job_id} could have already completed."

    def delete_job(self, job_id: str) -> tuple[bool, str]:
        """Stops a job if it runs, then removes its record."""
        self._call("job.delete", name=job_id)
        return True, f"Successfully deleted Job {job_id}"

    def get_address(self) -> str:
        """The URL of the jobs API. Through an API server other clients need the same credentials."""
        return str(self._call("job.address"))

    def get_job_info(self, job_id: str) -> JobDetails:
        return job_details(self._call("job.get", name=job_id))

    def get_job_status(self, job_id: str) -> JobStatus:
        return job_status(self._call("job.get", name=job_id)["status"])

    def get_job_logs(self, job_id: str) -> str:
        """The whole log so far."""
        return str(self._call("job.logs", name=job_id))

    def list_jobs(self) -> list[JobDetails]:
        """The jobs of the cluster; a table in notebooks."""
        return JobList(job_details(info) for info in self._call("job.list")["jobs"])

    def wait(self, job_id: str, timeout: float | None = None) -> JobDetails:
        """Waits for the end of a job."""
        from . import _show

        with _show.Progress(f"Job '{job_id}'") as progress:
            return job_details(self._call("job.wait", observer=lambda info: progress.show(info["line"]), name=job_id, timeout=timeout))

    def follow_job_logs(self, job_id: str, on_state: Callable[[JobDetails], None] | None = None) -> Iterator[str]:
        """The log from its first line to the end of the job, in pieces as they come. on_state gets each state before the end."""
        import queue

        pieces: queue.SimpleQueue[str | Data | None] = queue.SimpleQueue()
        with _Follower(self._target, job_id, pieces.put, states=on_state is not None) as follower:
            while (piece := pieces.get()) is not None:
                if isinstance(piece, str):
                    yield piece
                elif on_state is not None:
                    on_state(job_details(piece))
            follower.check()

    async def tail_job_logs(self, job_id: str, on_state: Callable[[JobDetails], None] | None = None) -> AsyncIterator[str]:
        """The same for `async for`."""
        import asyncio

        loop = asyncio.get_running_loop()
        pieces: asyncio.Queue[str | Data | None] = asyncio.Queue()

        def put(piece: str | Data | None) -> None:
            loop.call_soon_threadsafe(pieces.put_nowait, piece)

        with _Follower(self._target, job_id, put, states=on_state is not None) as follower:
            while (piece := await pieces.get()) is not None:
                if isinstance(piece, str):
                    yield piece
                elif on_state is not None:
                    on_state(job_details(piece))
            follower.check()


class _Follower(Background):
    """Follows a log; its last piece is None. With `states` there are records of the job among the pieces."""

    def __init__(self, target: Data, job_id: str, put: Any, states: bool) -> None:
        super().__init__("job.follow", put, **target, name=job_id, states=states or None)
        self._put = put

    def ended(self) -> None:
        try:
            self._put(None)
        except RuntimeError:
            pass  # the event loop that waited is closed


def plain_runtime_env(given: Any) -> Data | None:
    """A dict, or a RuntimeEnv of Ray, recognised by its shape."""
    if given is None or isinstance(given, dict):
        return dict(given) if given else None
    to_dict = getattr(given, "to_dict", None)
    if to_dict is None:
        raise TypeError(f"runtime_env: expected a dict or a RuntimeEnv, not {type(given).__name__}")
    return dict(to_dict())
