"""The resources that a default kube-apiserver serves, in the order of its discovery."""

import dataclasses
import re

from apitables_parts.go_types import imports_of
from apitables_parts.sources import read_json

_STABLE = re.compile(r"stableAPIGroupVersionsEnabledByDefault = \[\]schema\.GroupVersion\{(.*?)\n\t\}", re.S)
_ENTRY = re.compile(r"(\w+)\.SchemeGroupVersion")
# Served by the two servers that kube-apiserver delegates to; both have only v1.
_DELEGATES = (
    "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1",
    "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1",
)


@dataclasses.dataclass
class Resource:
    group: str
    version: str
    entry: dict  # of an APIResourceList
    subresources: list  # of such entries

    @property
    def kind(self):
        return self.entry["kind"]


def served_packages(modules):
    """Go packages of the group versions that are on by default."""
    text = (modules["k8s.io/kubernetes"] / "pkg/controlplane/instance.go").read_text(encoding="utf-8")
    imports = imports_of(text.split("\n"))
    # One is named by its defaulting package instead of the one with the types.
    stable = [imports[a].replace("k8s.io/kubernetes/pkg/apis/", "k8s.io/api/") for a in _ENTRY.findall(_STABLE.search(text)[1])]
    return stable + list(_DELEGATES)


def resources(modules, group_versions):
    """Resources of these group versions, the core group first, then by rank."""
    folder = modules["k8s.io/kubernetes"] / "api/discovery"
    ranked = [("", "v1", "api__v1.json")]
    for group in read_json(folder / "aggregated_v2.json")["items"]:
        name = group["metadata"]["name"]
        ranked += [(name, v["version"], f"apis__{name}__{v['version']}.json") for v in group["versions"]]
    ranked = [entry for entry in ranked if entry[:2] in group_versions]
    if len(ranked) != len(group_versions):
        raise ValueError(f"discovery lacks {sorted(set(group_versions) - {entry[:2] for entry in ranked})}")
    found = []
    for group, version, file in ranked:
        entries = read_json(folder / file)["resources"]
        for entry in (e for e in entries if "/" not in e["name"]):
            prefix = entry["name"] + "/"
            subresources = [e for e in entries if e["name"].startswith(prefix)]
            found.append(Resource(group, version, entry, subresources))
    return found
