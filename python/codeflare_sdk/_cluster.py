"""Ray clusters: define, queue, start, watch, stop."""

from __future__ import annotations

import os
import sys
from typing import Any

from . import _auth, _show
from ._background import Tunnel
from ._call import Data, call
from ._config import ClusterConfiguration, WorkerGroup
from ._job_model import JobDetails, JobStatus
from ._model import (
    AppWrapper,
    AppWrapperStatus,
    CodeFlareClusterStatus,
    Explanation,
    RayCluster,
    RayClusterStatus,
    WorkerGroupStatus,
)
from ._ray_jobs import RayJobClient
from .errors import CodeflareError, NotFoundError

_PHASES = {
    "Held": CodeFlareClusterStatus.QUEUED,
    "Queued": CodeFlareClusterStatus.QUEUED,
    "Starting": CodeFlareClusterStatus.STARTING,
    "Ready": CodeFlareClusterStatus.READY,
    "Suspended": CodeFlareClusterStatus.SUSPENDED,
    "Failed": CodeFlareClusterStatus.FAILED,
    "Completed": CodeFlareClusterStatus.FAILED,
    "Deleting": CodeFlareClusterStatus.UNKNOWN,
}
_RAY = {
    CodeFlareClusterStatus.READY: RayClusterStatus.READY,
    CodeFlareClusterStatus.FAILED: RayClusterStatus.FAILED,
    CodeFlareClusterStatus.SUSPENDED: RayClusterStatus.SUSPENDED,
}

_APPLIED = {
    "created": "has successfully been applied",
    "unchanged": "is unchanged",
    "scaled": "has been scaled",
    "changed": "has been changed in place",
    "recreated": "has been deleted and queued anew",
}


class Cluster:
    """A Ray cluster.

    cluster = Cluster(ClusterConfiguration(name="demo", num_workers=2))
    cluster.up()
    cluster.wait_ready()
    cluster.down()

    The constructor checks the configuration, reports every fault at once and writes `NAME.yaml` to the working directory
    (`write_to_file=False`: not). A file that somebody has edited is kept and submitted as it stands.
    """

    torchx_scheduler = "ray"

    def __init__(self, config: ClusterConfiguration, api_client: Any = None) -> None:
        self.config = config
        self._connection = _auth.connection_of(api_client)
        self._tunnels: dict[str, Tunnel] = {}
        self.app_wrapper_yaml: str | None = None
        if config.write_to_file:
            self.app_wrapper_yaml = self.create_app_wrapper()
        else:
            self.resource_yaml = call("cluster.yaml", connection={}, config=config.to_dict())

    def __repr__(self) -> str:
        return f"Cluster(name={self.config.name!r}, namespace={self.config.namespace!r})"

    def create_app_wrapper(self) -> str:
        """Writes the YAML and returns its path."""
        path = f"{self.config.name}.yaml"
        try:
            call("cluster.write", connection={}, config=self.config.to_dict(), path=path)
            print(f"Written to: {path}")
        except FileExistsError:
            print(f"Kept: {path} was edited; up() and apply() submit it as it stands")
        return path

    create_resource = create_app_wrapper

    def _call(self, what: str, **arguments: Any) -> Any:
        return call(what, connection=self._connection, namespace=self.config.namespace, name=self.config.name, **arguments)

    def up(self) -> None:
        """Submits the cluster to the queue."""
        if self.app_wrapper_yaml:
            self._call_create(path=self.app_wrapper_yaml)
        else:
            self._call_create(config=self.config.to_dict())
        print(f"Ray Cluster: '{self.config.name}' has successfully been created")

    def _call_create(self, **arguments: Any) -> None:
        call("cluster.create", connection=self._connection, namespace=self.config.namespace, **arguments)

    def apply(self, force: bool = False, timeout: int = 300) -> None:
        """Creates the cluster, or changes it to this configuration. A `NAME.yaml` that somebody has edited is applied as it stands.

        The number of workers and the priority change in place. Any other difference needs `force`, which deletes the cluster and queues
        it anew.
        """
        del timeout  # nothing is waited for but the deletion of the old one
        applied = self._call("cluster.apply", config=self.config.to_dict(), path=self.app_wrapper_yaml, force=force)
        print(f"Ray Cluster: '{self.config.name}' {_APPLIED[applied]}")

    def down(self) -> None:
        """Deletes the cluster and waits until it is gone."""
        self.close()
        self._call("cluster.delete", wait=True)
        print(f"Ray Cluster: '{self.config.name}' has successfully been deleted")

    def status(self, print_to_console: bool = True) -> tuple[CodeFlareClusterStatus, bool]:
        """Where the cluster is, and whether it can be used."""
        try:
            info = self._call("cluster.get")
        except NotFoundError:
            if print_to_console:
                _show.text("No resources found, have you run cluster.up() yet?")
            return CodeFlareClusterStatus.UNKNOWN, False
        if print_to_console:
            _show.status(info)
        status = _PHASES[info["state"]["status"]]
        return status, status is CodeFlareClusterStatus.READY

    def details(self, print_to_console: bool = True) -> RayCluster:
        """Sizes and addresses of the cluster."""
        info = self._call("cluster.get")
        if print_to_console:
            _show.details([info])
        return ray_cluster(info)

    def explain(self, print_to_console: bool = True) -> Explanation:
        """Why the cluster waits, what holds its resources and when it is expected to start, by the controller's own queue."""
        told = self._call("cluster.explain")
        report = told.get("report", {})
        explanation = Explanation(
            name=told["name"],
            namespace=told["namespace"],
            state=told["state"],
            waits=told["waits"],
            reason=told["reason"],
            message=told["message"],
            position=told.get("position"),
            estimated_start=told.get("estimatedStart"),
            estimate_note=told.get("estimateNote", ""),
            paused=told.get("paused", False),
            advice=report.get("advice", []),
            holders=report.get("holders", []),
            problem=told.get("problem", ""),
            report=report,
        )
        if print_to_console:
            _show.explanation(explanation)
        return explanation

    def wait_ready(self, timeout: int | None = None, dashboard_check: bool = True) -> None:
        """Waits until the cluster can be used, and says where it is. Fails as soon as it cannot become ready."""
        del dashboard_check  # a cluster is ready when its head is, dashboard included
        with _show.Progress(f"Ray cluster '{self.config.name}'") as progress:
            self._call("cluster.wait", observer=lambda state: progress.show(state["line"]), goal="ready", timeout=timeout)
        print("Requested cluster is up and running!")

    def cluster_uri(self) -> str:
        """For Ray clients inside the Kubernetes cluster."""
        namespace = self.config.namespace or str(call("namespace", connection=self._connection))
        return f"ray://{self.config.name}-head-svc.{namespace}.svc:10001"

    @property
    def job_client(self) -> RayJobClient:
        """Jobs on this cluster, through the API server."""
        return RayJobClient._of_cluster(self.config.name or "", self.config.namespace, self._connection)

    def list_jobs(self) -> list[JobDetails]:
        """The jobs of the cluster; a table in notebooks."""
        return self.job_client.list_jobs()

    def job_status(self, job_id: str) -> JobStatus:
        return self.job_client.get_job_status(job_id)

    def job_logs(self, job_id: str) -> str:
        """The whole log of a job so far."""
        return self.job_client.get_job_logs(job_id)

    def cluster_dashboard_uri(self) -> str:
        """The URL of an exposed dashboard (`expose`), else one on this machine: a tunnel through the API server that lives until close()."""
        exposed: str = self._call("cluster.get")["dashboardUri"]
        return exposed or self._tunnel("dashboard.serve")

    def local_client_url(self) -> str:
        """An address for `ray.init()` on this machine: a tunnel through the API server, which lives as long as this object."""
        return self._tunnel("client.serve")

    def _tunnel(self, what: str) -> str:
        tunnel = self._tunnels.get(what)
        if tunnel is None or not tunnel.alive():
            tunnel = Tunnel(what, connection=self._connection, namespace=self.config.namespace, cluster=self.config.name).__enter__()
            self._tunnels[what] = tunnel
        return tunnel.url()

    def close(self) -> None:
        """Ends the tunnels to the dashboard and to the port of Ray clients."""
        while self._tunnels:
            self._tunnels.popitem()[1].__exit__()

    def __del__(self) -> None:
        for tunnel in getattr(self, "_tunnels", {}).values():
            tunnel.leave()

    def is_dashboard_ready(self) -> bool:
        """Whether Ray's dashboard answers."""
        try:
            self.job_client._call("job.list", patience=5)
        except CodeflareError:
            return False
        return True

    def torchx_config(self, working_dir: str | None = None, requirements: str | None = None) -> dict[str, str]:
        """Arguments for `scheduler_args`."""
        given = {"cluster_name": self.config.name, "working_dir": working_dir, "requirements": requirements}
        return {key: value for key, value in given.items() if value}

    def config_check(self) -> None:
        """Reports every fault of the configuration."""
        call("config.check", connection={}, config=self.config.to_dict())


def ray_cluster(info: Data) -> RayCluster:
    """The record of a cluster that `_core` describes."""
    config = ClusterConfiguration(**info.get("config", {"name": info["name"]}))
    status = _PHASES[info["state"]["status"]]
    groups = [
        WorkerGroupStatus(
            group.group_name, group.replicas, str(group.cpu_requests), str(group.cpu_limits), str(group.memory_requests),
            str(group.memory_limits), {key: str(value) for key, value in group.extended_resource_requests.items()},
        )
        for group in (WorkerGroup(**given) if isinstance(given, dict) else given for given in config.additional_worker_groups)
    ]
    return RayCluster(
        name=info["name"],
        status=_RAY.get(status, RayClusterStatus.UNKNOWN),
        num_workers=config.num_workers,
        worker_mem_requests=_memory(config.worker_memory_requests),
        worker_mem_limits=_memory(config.worker_memory_limits),
        worker_cpu_requests=str(config.worker_cpu_requests),
        worker_cpu_limits=str(config.worker_cpu_limits),
        namespace=info["namespace"],
        worker_extended_resources={key: str(value) for key, value in config.worker_extended_resource_requests.items()},
        head_extended_resources={key: str(value) for key, value in config.head_extended_resource_requests.items()},
        head_cpu_requests=str(config.head_cpu_requests),
        head_cpu_limits=str(config.head_cpu_limits),
        head_mem_requests=_memory(config.head_memory_requests),
        head_mem_limits=_memory(config.head_memory_limits),
        worker_groups=groups,
        reason=info["state"]["reason"],
        message=info["state"]["message"],
    )


def _memory(amount: Any) -> str:
    return f"{amount}G" if isinstance(amount, (int, float)) else str(amount)


def get_current_namespace(api_client: Any = None) -> str:
    """The namespace of the current context, or of the pod."""
    return str(call("namespace", connection=_auth.connection_of(api_client)))


def get_cluster(
    cluster_name: str, namespace: str | None = None, verify_tls: bool = True, write_to_file: bool = False, api_client: Any = None
) -> Cluster:
    """The cluster of this name, queued or running, also one of another session."""
    del verify_tls
    info = call("cluster.get", connection=_auth.connection_of(api_client), namespace=namespace, name=cluster_name)
    config = ClusterConfiguration(**info["config"])
    config.name, config.namespace, config.write_to_file = info["name"], info["namespace"], write_to_file
    return Cluster(config, api_client)


def list_all_clusters(namespace: str | None = None, print_to_console: bool = True, api_client: Any = None) -> list[RayCluster]:
    """Every Ray cluster of a namespace, those that wait included."""
    infos = call("cluster.list", connection=_auth.connection_of(api_client), namespace=namespace)
    if print_to_console:
        _show.details(infos)
    return [ray_cluster(info) for info in infos]


def list_all_queued(
    namespace: str | None = None, print_to_console: bool = True, api_client: Any = None, **_: Any
) -> list[AppWrapper]:
    """The Ray clusters of a namespace that wait in the queue, with the reason."""
    everything = call("cluster.list", connection=_auth.connection_of(api_client), namespace=namespace)
    infos = [info for info in everything if info["state"]["status"] in ("Queued", "Held")]
    if print_to_console:
        _show.queue(infos)
    return [
        AppWrapper(
            name=info["name"],
            status=AppWrapperStatus.QUEUEING,
            job_state=info["state"]["reason"],
            namespace=info["namespace"],
            reason=info["state"]["reason"],
            message=info["state"]["message"],
        )
        for info in infos
    ]


class AWManager:
    """Submits and removes an AppWrapper file."""

    def __init__(self, filename: str) -> None:
        if not os.path.isfile(filename):
            raise NotFoundError(f"{filename} is not a file", "not_found", object=filename, hint="give the path of an AppWrapper in YAML")
        self.filename = filename
        self.name = os.path.splitext(os.path.basename(filename))[0]
        self.submitted = False

    def submit(self) -> None:
        """Submits the file as it stands."""
        created = call("cluster.create", path=self.filename)
        self.name = created["metadata"]["name"]
        self.namespace = created["metadata"]["namespace"]
        self.submitted = True
        print(f"AppWrapper {self.filename} submitted!")

    def remove(self) -> None:
        """Deletes the AppWrapper, whoever submitted it."""
        call("cluster.delete", namespace=getattr(self, "namespace", None), name=self.name)
        print(f"AppWrapper {self.name} removed!")


if sys.version_info < (3, 10):
    raise ImportError("codeflare_sdk needs Python 3.10 or later")
