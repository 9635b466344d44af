"""./dev bench up --explain: what `codeflare explain` costs its client with 1,000 fake nodes and 8,000 pods, asked of the controller (View API) and as it is
without: all nodes and pods are read. The second is run by a user without the right to the View API, so that both are one program on one server.
"""

import json
import os
import pathlib
import re
import resource
import statistics
import subprocess
import tempfile
import time

import up_test
from harness.processes import cpu_seconds
from up_test import Cluster

NODES, WRAPPERS, PODS_EACH = 1000, 20, 400
RUNS = int(os.environ.get("RUNS", "9"))
GOAL = 0.1
READER = "reader"
WRAPPER_PATH = "/apis/workload.codeflare.dev/v1beta1/namespaces/default/appwrappers"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
GROUPS = ["", "workload.codeflare.dev", "mcad.ibm.com", "quota.codeflare.dev", "breezeml.ai"]


def wrapper(name, pods, cpu):
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "busybox", "resources": {"requests": {"cpu": cpu}}}]}}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {"parallelism": pods, "completions": pods, "template": template}}
    template["metadata"] = {"annotations": {"codeflare.dev/duration": "24h"}}
    return {"apiVersion": "workload.codeflare.dev/v1beta1", "kind": "AppWrapper", "metadata": {"name": name},
            "spec": {"resources": {"GenericItems": [{"replicas": 1, "completionstatus": "Complete", "generictemplate": job}]}}}


def reader_kubeconfig(cluster):
    """The administrator's, in the name of somebody who may list everything but not ask the controller."""
    rule = {"apiGroups": GROUPS, "resources": ["*"], "verbs": ["get", "list"]}
    cluster.post(f"{RBAC}/clusterroles", {"metadata": {"name": READER}, "rules": [rule]})
    cluster.post(f"{RBAC}/clusterrolebindings", {
        "metadata": {"name": READER}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": READER},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": READER}]})
    text = pathlib.Path(cluster.kubeconfig).read_text()
    changed, count = re.subn(r'(?m)^(\s*)("?)client-key-data("?):(.*)$', lambda found: f"{found[1]}{found[2]}as{found[3]}: {json.dumps(READER)}"
                             + ("," if found[2] else "") + f"\n{found[0]}", text)
    assert count == 1, f"{count} users in the kubeconfig"
    path = cluster.scratch / "reader.kubeconfig"
    path.write_text(changed)
    path.chmod(0o600)
    return path


def explain(cluster, kubeconfig):
    """Seconds of CPU of the client, seconds until its end, seconds of CPU of the server; what it printed."""
    before, server, began = resource.getrusage(resource.RUSAGE_CHILDREN), cpu_seconds(cluster.process.pid), time.monotonic()
    done = subprocess.run([up_test.PROGRAM, "explain", "aw", "big", "--kubeconfig", str(kubeconfig)], capture_output=True, text=True, check=True)
    took, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    client = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (client, took, cpu_seconds(cluster.process.pid) - server), done.stdout


def fill(cluster):
    for i in range(WRAPPERS):
        cluster.post(WRAPPER_PATH, wrapper(f"holds-{i}", PODS_EACH, "1"))
    cluster.wait_for(WRAPPER_PATH, lambda found: sum(
        one.get("status", {}).get("running", 0) for one in found["items"]) >= WRAPPERS * PODS_EACH, patience=600)
    cluster.post(WRAPPER_PATH, wrapper("big", 10, "8"))
    cluster.wait_for(f"{WRAPPER_PATH}/big", lambda found: found.get("status", {}).get("state") == "Pending", patience=60)


def run():
    """Whether the goal is met."""
    with tempfile.TemporaryDirectory() as name:
        cluster = Cluster(pathlib.Path(name).resolve(), "--fake-nodes", str(NODES), "--nodes", "0")
        try:
            fill(cluster)
            reader = reader_kubeconfig(cluster)
            rows = {}
            for title, kubeconfig in (("controller", cluster.kubeconfig), ("all nodes and pods", reader)) * RUNS:
                measured, text = explain(cluster, kubeconfig)
                assert "appwrapper default/big is waiting" in text and "Resources in use by:" in text, text
                rows.setdefault(title, []).append(measured)
        finally:
            cluster.stop()
    print(f"\nexplain with {NODES} nodes and {WRAPPERS * PODS_EACH} pods, medians of {RUNS}\n")
    print("| asked | client CPU, ms | until its end, ms | server CPU, ms |\n|---|---|---|---|")
    medians = {title: [statistics.median(column) for column in zip(*measured)] for title, measured in rows.items()}
    for title, columns in medians.items():
        print(f"| {title} | " + " | ".join(f"{seconds * 1000:.0f}" for seconds in columns) + " |")
    share = medians["controller"][0] / medians["all nodes and pods"][0]
    print(f"\nclient CPU: {share:.3f} of what it is without the controller (goal: at most {GOAL})")
    return share <= GOAL
