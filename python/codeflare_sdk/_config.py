"""The configuration of a Ray cluster. `_core` checks it and knows the names of earlier versions."""

from __future__ import annotations

import dataclasses
import warnings
from typing import Any

Amount = int | float | str


@dataclasses.dataclass
class WorkerGroup:
    """A further group of workers."""

    group_name: str
    replicas: int = 1
    min_replicas: int | None = None
    max_replicas: int | None = None
    cpu_requests: Amount = 1
    cpu_limits: Amount = 1
    memory_requests: Amount = 3
    memory_limits: Amount = 6
    gpu_type: str | None = None
    gpu_count: int | None = None
    extended_resource_requests: dict[str, Amount] = dataclasses.field(default_factory=dict)
    image: str | None = None
    envs: dict[str, str] = dataclasses.field(default_factory=dict)
    labels: dict[str, str] = dataclasses.field(default_factory=dict)
    tolerations: list[Any] | None = None
    node_selector: dict[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(init=False)
class ClusterConfiguration:
    """A Ray cluster as you describe it; names of earlier versions are taken with a word of advice.

    ClusterConfiguration(name="demo", num_workers=2, worker_cpu_requests=2, worker_cpu_limits=2)

    CPUs are numbers or "500m"; memory is gigabytes or "8Gi".
    """

    name: str | None = None
    namespace: str | None = None
    num_workers: int = 1
    worker_cpu_requests: Amount = 1
    worker_cpu_limits: Amount = 1
    worker_memory_requests: Amount = 3
    worker_memory_limits: Amount = 6
    worker_extended_resource_requests: dict[str, Amount] = dataclasses.field(default_factory=dict)
    head_cpu_requests: Amount = 1
    head_cpu_limits: Amount = 2
    head_memory_requests: Amount = 5
    head_memory_limits: Amount = 8
    head_extended_resource_requests: dict[str, Amount] = dataclasses.field(default_factory=dict)
    extended_resource_mapping: dict[str, str] = dataclasses.field(default_factory=dict)
    overwrite_default_resource_mapping: bool = False
    additional_worker_groups: list[WorkerGroup] = dataclasses.field(default_factory=list)
    ray_version: str = "2.60.0"
    image: str = ""
    image_pull_secrets: list[str] = dataclasses.field(default_factory=list)
    envs: dict[str, str] = dataclasses.field(default_factory=dict)
    enable_usage_stats: bool = False
    labels: dict[str, str] = dataclasses.field(default_factory=dict)
    annotations: dict[str, str] = dataclasses.field(default_factory=dict)
    volumes: list[Any] = dataclasses.field(default_factory=list)
    volume_mounts: list[Any] = dataclasses.field(default_factory=list)
    head_tolerations: list[Any] = dataclasses.field(default_factory=list)
    worker_tolerations: list[Any] = dataclasses.field(default_factory=list)
    head_node_selector: dict[str, str] = dataclasses.field(default_factory=dict)
    worker_node_selector: dict[str, str] = dataclasses.field(default_factory=dict)
    service_account: str = ""
    head_pod_overrides: dict[str, Any] = dataclasses.field(default_factory=dict)
    worker_pod_overrides: dict[str, Any] = dataclasses.field(default_factory=dict)
    queueing: str = ""
    priority: int | None = None
    priority_class: str = ""
    local_queue: str = ""
    quota_labels: dict[str, str] = dataclasses.field(default_factory=dict)
    max_time: int | str | None = None
    instascale: bool = False
    machine_types: list[str] = dataclasses.field(default_factory=list)
    enable_autoscaling: bool = False
    min_workers: int | None = None
    max_workers: int | None = None
    token_authentication: bool = False
    expose: bool = False
    expose_kind: str = ""
    expose_host: str = ""
    expose_tls_secret: str = ""
    expose_gateway: str = ""
    insecure_dashboard: bool = False
    enable_gcs_ft: bool = False
    redis_address: str = ""
    redis_password_secret: dict[str, str] = dataclasses.field(default_factory=dict)
    external_storage_namespace: str = ""
    write_to_file: bool = True

    def __init__(self, name: str | None = None, namespace: str | None = None, **fields: Any) -> None:
        known = {field.name: field for field in dataclasses.fields(self)}
        for key, field in known.items():
            default = field.default_factory() if field.default_factory is not dataclasses.MISSING else field.default
            setattr(self, key, default)
        self.name, self.namespace = name, namespace
        given = {key: value for key, value in fields.items() if value is not None}
        older = {key: value for key, value in given.items() if key not in known}
        if older:
            checked = self._translate(given)
            given = {key: value for key, value in given.items() if key in known}
            given.update({key: value for key, value in checked.items() if key in known})
        for key, value in given.items():
            setattr(self, key, value)

    def _translate(self, given: dict[str, Any]) -> dict[str, Any]:
        from ._call import call

        answer = call("config.check", connection={}, config={"name": self.name or "unnamed", **_data(given)})
        for line in answer["advice"]:
            warnings.warn(line, DeprecationWarning, stacklevel=4)
        config: dict[str, Any] = answer["config"]
        config.pop("name", None)
        config.pop("namespace", None)
        return config

    def to_dict(self) -> dict[str, Any]:
        """Every field that is set, as `_core` reads it."""
        return {key: value for key, value in _data(vars(self)).items() if value not in (None, "", [], {})}


ClusterConfig = ClusterConfiguration


class ManagedClusterConfig(ClusterConfiguration):
    """The cluster of a RayJob, with the names and defaults of 0.32."""

    _NAMES = {
        "head_accelerators": "head_extended_resource_requests",
        "worker_accelerators": "worker_extended_resource_requests",
        "accelerator_configs": "extended_resource_mapping",
    }
    _DEFAULTS = {
        "head_cpu_requests": 2, "head_cpu_limits": 2, "head_memory_requests": 8, "head_memory_limits": 8,
        "worker_memory_requests": 2, "worker_memory_limits": 2,
    }

    def __init__(self, **fields: Any) -> None:
        renamed: dict[str, Any] = {**self._DEFAULTS, **{self._NAMES.get(key, key): value for key, value in fields.items()}}
        super().__init__(**renamed)


def _data(fields: dict[str, Any]) -> dict[str, Any]:
    """Worker groups as plain data; the rest is converted when it is written."""

    def plain(value: Any) -> Any:
        if isinstance(value, WorkerGroup):
            return {key: item for key, item in vars(value).items() if item not in (None, {}, [])}
        return [plain(item) for item in value] if isinstance(value, list) else value

    return {key: plain(value) for key, value in fields.items()}
