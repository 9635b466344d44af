"""One object for clusters and jobs, with a login of its own: Codeflare of 0.40."""

from __future__ import annotations

import copy
import dataclasses
import logging
from typing import Any, TypedDict

from . import _auth
from ._auth import AuthConfig, Client, get_k8s_client
from ._cluster import Cluster, get_cluster, get_current_namespace, list_all_clusters, list_all_queued
from ._config import ClusterConfiguration
from ._model import AppWrapper, RayCluster
from ._ray_job import RayJob
from .errors import InvalidError

_LOG_LEVELS = ("CRITICAL", "DEBUG", "ERROR", "INFO", "WARNING")


@dataclasses.dataclass
class SDKConfig:
    """Login and namespace of a Codeflare object."""

    auth: Any = dataclasses.field(default_factory=AuthConfig)
    namespace: str | None = None
    log_level: str = "WARNING"

    def __post_init__(self) -> None:
        if self.log_level not in _LOG_LEVELS:
            raise InvalidError(f"log_level: {self.log_level!r} is not a level", "invalid_argument", hint=f"give one of {', '.join(_LOG_LEVELS)}")


class JobOptions(TypedDict, total=False):
    """Further arguments of Codeflare.jobs."""

    runtime_env: Any
    ttl_seconds_after_finished: int
    active_deadline_seconds: int | None
    local_queue: str | None
    priority_class: str | None


class ClusterHandler:
    """Codeflare.clusters."""

    def __init__(self, sdk: Codeflare) -> None:
        self._sdk = sdk

    def create(self, config: ClusterConfiguration, namespace: str | None = None) -> Cluster:
        """A Cluster, for apply()."""
        if not config.name:
            raise InvalidError("name: is missing in ClusterConfiguration", "invalid_argument", hint="give the cluster a name")
        config = copy.copy(config)
        config.namespace = self._sdk.namespace(namespace or config.namespace)
        return Cluster(config, api_client=self._sdk.client)

    def get(self, name: str, namespace: str | None = None, *, verify_tls: bool = True, write_to_file: bool = False) -> Cluster:
        """The cluster of this name."""
        del verify_tls
        return get_cluster(name, self._sdk.namespace(namespace), write_to_file=write_to_file, api_client=self._sdk.client)

    def list_queued(self, namespace: str | None = None) -> list[AppWrapper]:
        """The Ray clusters of a namespace that wait."""
        return list_all_queued(self._sdk.namespace(namespace), False, api_client=self._sdk.client)

    def list(self, namespace: str | None = None) -> list[RayCluster]:
        """Every Ray cluster of a namespace, those that wait included."""
        return list_all_clusters(self._sdk.namespace(namespace), False, api_client=self._sdk.client)


class JobHandler:
    """Codeflare.jobs."""

    def __init__(self, sdk: Codeflare) -> None:
        self._sdk = sdk

    def create(
        self,
        name: str,
        entrypoint: str,
        namespace: str | None = None,
        *,
        cluster_name: str | None = None,
        cluster_config: ClusterConfiguration | None = None,
        runtime_env: Any = None,
        ttl_seconds_after_finished: int = 0,
        active_deadline_seconds: int | None = None,
        local_queue: str | None = None,
        priority_class: str | None = None,
    ) -> RayJob:
        """A RayJob, for submit()."""
        return RayJob(
            name, entrypoint, cluster_name, cluster_config, self._sdk.namespace(namespace), runtime_env, ttl_seconds_after_finished,
            active_deadline_seconds, local_queue, priority_class, self._sdk.client,
        )

    def submit(self, name: str, entrypoint: str, namespace: str | None = None, **options: Any) -> RayJob:
        """A RayJob that is submitted; `options` are those of create()."""
        job = self.create(name, entrypoint, namespace, **options)
        job.submit()
        return job


class Codeflare:
    """Clusters and jobs under one login, which is also the login of this process from now on.

    cf = Codeflare(SDKConfig(auth=AuthConfig(method="openshift", k8s_api_host="https://host:6443", token="...")))
    cluster = cf.clusters.create(ClusterConfiguration(name="demo", num_workers=2))
    cluster.apply()
    """

    def __init__(self, config: SDKConfig | None = None) -> None:
        self.config = config or SDKConfig()
        logging.getLogger("codeflare_sdk").setLevel(self.config.log_level)
        self._client = get_k8s_client(self.config.auth)
        _auth.set_api_client(self._client)
        self.clusters = ClusterHandler(self)
        self.jobs = JobHandler(self)

    def __repr__(self) -> str:
        return f"Codeflare({self._client!r})"

    @property
    def client(self) -> Client:
        """The connection of this object."""
        return self._client

    def namespace(self, given: str | None = None) -> str:
        """The given namespace, else that of the configuration, else the current one."""
        return given or self.config.namespace or get_current_namespace(self._client)
