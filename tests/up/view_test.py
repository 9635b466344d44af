#!/usr/bin/env python3
"""The View API of `codeflare up` and the verbs of worker clusters: explanations from the live queue for users without rights on nodes and pods, the way
without the API, and `cluster add|list|drain|remove` with a second `codeflare up` as the worker.

view_test.py PROGRAM [TESTS]
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error

sys.dont_write_bytecode = True

import up_test
from up_test import Cluster

WRAPPERS = "/apis/workload.codeflare.dev/v1beta1/namespaces/default/appwrappers"
VIEW = "/apis/view.codeflare.dev/v1alpha1"
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"


def wrapper(name, cpu, priority=0, seconds="24h"):
    template = {"metadata": {"annotations": {"codeflare.dev/duration": seconds}},
                "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "busybox", "resources": {"requests": {"cpu": cpu}}}]}}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {"template": template}}
    return {"apiVersion": "workload.codeflare.dev/v1beta1", "kind": "AppWrapper", "metadata": {"name": name},
            "spec": {"priority": priority, "resources": {"GenericItems": [{"replicas": 1, "completionstatus": "Complete", "generictemplate": job}]}}}


class Case(unittest.TestCase):
    def start(self, *flags):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        cluster = Cluster(pathlib.Path(scratch.name).resolve(), "--fake-nodes", "1", "--cpus", "4", *flags)
        self.addCleanup(cluster.stop)
        return cluster

    def run_verb(self, cluster, *words, kubeconfig=None, code=0):
        done = subprocess.run([up_test.PROGRAM, *words, "--kubeconfig", str(kubeconfig or cluster.kubeconfig)], capture_output=True, text=True,
                              timeout=120, env=os.environ | {"HOME": str(cluster.scratch)})
        self.assertEqual(done.returncode, code, f"{words}: {done.stdout}{done.stderr}")
        return done.stdout if code == 0 else done.stderr

    def state(self, cluster, name, state):
        cluster.wait_for(f"{WRAPPERS}/{name}", lambda found: found.get("status", {}).get("state") == state)

    def user(self, cluster, name, role):
        path = cluster.scratch / name
        self.run_verb(cluster, "user", "add", name, "--role", role, "-n", "default", "--file", str(path))
        return path


class View(Case):
    def test_explain_for_a_user_of_one_namespace(self):
        cluster = self.start()
        cluster.post(WRAPPERS, wrapper("holds", "3"))
        self.state(cluster, "holds", "Running")
        cluster.post(WRAPPERS, wrapper("waits", "2"))
        ann = self.user(cluster, "ann", "viewer")
        text = self.run_verb(cluster, "explain", "waits", "-n", "default", kubeconfig=ann)
        self.assertIn("InsufficientResources: needs 2 CPUs, 1 of 4 free on 1 eligible node", text)
        self.assertIn("Resources in use by:\n  default/holds holds 3 CPUs", text)
        self.assertNotIn("Not checked", text)
        live = json.loads(self.run_verb(cluster, "explain", "waits", "-n", "default", "-o", "json", kubeconfig=ann))
        self.assertEqual((live["reason"], live["position"]), ("InsufficientResources", 1))
        # The same words without the API, by somebody who may read everything but not ask.
        admin = json.loads(self.run_verb(cluster, "explain", "waits", "-o", "json"))
        self.assertEqual(admin["report"], live["report"])
        status = cluster.get(f"{WRAPPERS}/waits")["status"]
        queued = [one for one in status["conditions"] if one["type"] == "Queued"][-1]
        self.assertEqual((queued["reason"], queued["message"]), (live["reason"], live["message"]))

    def test_without_the_right_explain_looks_for_itself(self):
        cluster = self.start()
        rule = {"apiGroups": ["workload.codeflare.dev"], "resources": ["appwrappers"], "verbs": ["get", "list"]}
        cluster.post(ROLES, {"metadata": {"name": "codeflare-viewer-only"}, "rules": [rule]})
        cluster.post(WRAPPERS, wrapper("waits", "5"))
        self.state(cluster, "waits", "Pending")
        bob = self.user(cluster, "bob", "viewer")
        cluster.open(f"{ROLES}/codeflare-viewer", method="DELETE")
        cluster.open(f"{ROLES}/view", method="DELETE")
        for name, role in (("bob-only", "codeflare-viewer-only"),):
            cluster.post("/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings", {
                "metadata": {"name": name}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
                "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "bob"}]})
        text = self.run_verb(cluster, "explain", "waits", "-n", "default", kubeconfig=bob)
        self.assertIn("appwrapper default/waits is waiting", text)
        self.assertIn("Not checked:", text)

    def test_discovery_leaves_appwrappers_to_the_queue(self):
        cluster = self.start()
        names = [one["name"] for one in cluster.get(VIEW)["resources"]]
        self.assertEqual(names, ["appwrappers/explain", "appwrappers/log", "trainingjobs/explain"])
        with self.assertRaises(urllib.error.HTTPError) as wrong:
            cluster.get(f"{VIEW}/namespaces/default/appwrappers/none/explain")
        self.assertEqual(wrong.exception.code, 404)

    def test_preemption_has_one_reason_everywhere(self):
        cluster = self.start("--preemption")
        cluster.post(WRAPPERS, wrapper("low", "3", 1))
        self.state(cluster, "low", "Running")
        names = ["high", "middle", "last"]
        for name, priority in zip(names, (9, 5, 0)):
            cluster.post(WRAPPERS, wrapper(name, "3", priority))
        began = time.monotonic()
        compared = 0
        while time.monotonic() < began + 5 or compared <= 3:
            self.assertLess(time.monotonic(), began + 60, compared)
            for name in [*names, "low"]:
                before = cluster.get(f"{WRAPPERS}/{name}")
                text = json.loads(self.run_verb(cluster, "explain", name, "-o", "json"))
                after = cluster.get(f"{WRAPPERS}/{name}")
                same = before["metadata"]["resourceVersion"] == after["metadata"]["resourceVersion"]
                queued = [one for one in after["status"].get("conditions", []) if one["type"] == "Queued" and one["status"] == "True"]
                if same and text["waits"] and queued and not text.get("fitsNow"):
                    self.assertEqual(text["reason"], queued[-1]["reason"], name)
                    compared += 1


class Workers(Case):
    def test_a_worker_is_added_listed_drained_and_removed(self):
        hub, worker = self.start(), self.start()
        text = self.run_verb(hub, "cluster", "add", "east", "--from", worker.kubeconfig, "--label", "region=east", "--cost", "2")
        self.assertIn("worker: clusterrole codeflare-hub-east created", text)
        self.assertIn("hub: managedcluster east created", text)
        text = self.run_verb(hub, "cluster", "add", "east", "--from", worker.kubeconfig, "--label", "region=east", "--cost", "2")
        # Its status may be written at the same moment, which looks like a change.
        self.assertRegex(text, "hub: managedcluster east (unchanged|configured)")
        self.assertIn("east", self.run_verb(hub, "cluster", "list", "-o", "wide"))
        items = json.loads(self.run_verb(hub, "cluster", "list", "-o", "json"))["items"]
        self.assertEqual([(one["metadata"]["name"], one["metadata"]["labels"]["region"], one["spec"]["cost"]) for one in items], [("east", "east", 2)])
        self.assertIn("local", self.run_verb(hub, "top", "clusters"))
        self.assertIn("cluster east gets no new work\nthe cluster has no AppWrappers\n", self.run_verb(hub, "cluster", "drain", "east"))
        hub.post(WRAPPERS, wrapper("here", "1"))
        self.state(hub, "here", "Running")
        self.assertRegex(self.run_verb(hub, "list"), r"CLUSTER.*\n.*local")
        self.assertIn("no such file", self.run_verb(hub, "cluster", "add", "west", "--from", str(hub.scratch / "none"), code=2))
        self.assertIn("leads to the hub itself", self.run_verb(hub, "cluster", "add", "west", "--from", hub.kubeconfig, code=2))
        text = self.run_verb(hub, "cluster", "remove", "east")
        self.assertIn("managedcluster east deleted", text)
        self.assertIn("clusterrole codeflare-hub-east deleted on the worker", text)
        self.assertIn("secret codeflare-system/cluster-east deleted", text)
        with self.assertRaises(urllib.error.HTTPError) as gone:
            worker.get(f"{ROLES}/codeflare-hub-east")
        self.assertEqual(gone.exception.code, 404)
        accounts = "/api/v1/namespaces/codeflare-system/serviceaccounts"
        worker.wait_for(accounts, lambda found: "codeflare-hub-east" not in [one["metadata"]["name"] for one in found["items"]])
        self.assertIn("not found", self.run_verb(hub, "cluster", "remove", "east", code=3))


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    unittest.main(verbosity=2)
