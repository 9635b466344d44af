"""Common parts of attacks on `codeflare up`: a cluster (tests/up), and a stranger who may edit one namespace of it."""

import json
import pathlib
import re
import ssl
import sys
import time
import urllib.error
import urllib.request

sys.dont_write_bytecode = True
sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "up"))

from pod_case import PodCase  # noqa: E402
from up_test import PODS  # noqa: E402

MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"


def space(ns, plural, name=""):
    return f"/api/v1/namespaces/{ns}/{plural}" + (f"/{name}" if name else "")


class Stranger:
    """Has the role `edit` in one namespace, or one with these rules, and nothing else."""

    def __init__(self, cluster, ns, name="stranger", rules=None):
        self.cluster, self.name = cluster, name
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"}
        if rules is not None:
            cluster.post(f"/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles", {"metadata": {"name": name}, "rules": rules})
            role = {**role, "kind": "Role", "name": name}
        cluster.post(space(ns, "serviceaccounts"), {"metadata": {"name": name}})
        cluster.post(f"/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/rolebindings", {
            "metadata": {"name": name}, "roleRef": role,
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": ns}]})
        answer = cluster.post(space(ns, "serviceaccounts", name) + "/token", {"kind": "TokenRequest", "spec": {}})
        self.token = answer["status"]["token"]
        self.server = re.search(r"https://[^\s\"]+", pathlib.Path(cluster.kubeconfig).read_text()).group(0)
        # Written by the cluster's own calls.
        self.context = ssl.create_default_context(cafile=cluster.scratch / "certificate-authority-data")

    def call(self, method, path, body=None, form="application/json"):
        """The status code and the answer."""
        request = urllib.request.Request(
            self.server + path, data=None if body is None else json.dumps(body).encode(), method=method,
            headers={"Content-Type": form, "Authorization": "Bearer " + self.token})
        try:
            with urllib.request.urlopen(request, context=self.context, timeout=60) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())


class AttackCase(PodCase):
    def add_namespace(self, name):
        self.cluster.post("/api/v1/namespaces", {"metadata": {"name": name}})
        self.cluster.wait_for(space(name, "serviceaccounts"), lambda found: found["items"])

    def events_of(self, ns, name):
        """Messages of events about this object."""
        return [event["message"] for event in self.cluster.get(space(ns, "events"))["items"] if event["involvedObject"].get("name") == name]

    def said_by(self, name, patience=180):
        """The first of its output."""
        until = time.monotonic() + patience
        while not (said := self.cluster.open(f"{PODS}/{name}/log")):
            self.assertLess(time.monotonic(), until, f"{name} says nothing")
            time.sleep(0.5)
        return said
