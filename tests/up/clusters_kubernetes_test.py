#!/usr/bin/env python3
"""A hub and a worker that are two real Kubernetes clusters: kube-apiserver and kube-controller-manager each, `codeflare controller` with its webhook on both, and
on the worker four nodes of two zones, which kwok plays and `--bind` fills. There is no kube-scheduler.

clusters_kubernetes_test.py CODEFLARE: needs what `tests/kubernetes/kubernetes build` makes.
"""

import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True

import first_hour_test  # noqa: E402
from first_hour_kubernetes_test import SERVICE, VIEW, free_port  # noqa: E402
from first_hour_test import PATIENCE_SECONDS, ROOT, Home, until  # noqa: E402

ZONE = "topology.kubernetes.io/zone"
WORKER = "CODEFLARE_TEST_WORKER"


def pod_template(cpu):
    return {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]}}


def wrapper(name, *items, **annotations):
    return {"apiVersion": "workload.codeflare.dev/v1beta1", "kind": "AppWrapper", "metadata": {"name": name, "annotations": annotations},
            "spec": {"resources": {"GenericItems": list(items)}}}


def job(name, pods, cpu):
    """kwok completes pods of Jobs at once."""
    body = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
            "spec": {"parallelism": pods, "completions": pods, "template": pod_template(cpu)}}
    return {"generictemplate": body, "completionstatus": "Complete"}


def gang(name, pods, cpu):
    """Pods that kwok lets run until they are deleted."""
    return [{"generictemplate": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"{name}-{number}"}, **pod_template(cpu)}} for number in range(pods)]


class Clusters(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = Home()
        cls.addClassCleanup(cls.home.scratch.cleanup)
        cls.kubeconfigs = {"hub": os.environ["KUBECONFIG"], "worker": os.environ[WORKER]}
        cls.home.environment["KUBECONFIG"] = cls.kubeconfigs["hub"]
        cls.processes = []
        cls.addClassCleanup(cls.end)
        for number in range(4):
            cls.kubectl("worker", "label", "node", f"fake-{number}", f"{ZONE}={'ab'[number % 2]}")
        cls.kubectl("hub", "create", "namespace", "codeflare-system")
        cls.kubectl("hub", "create", "-f", "-", stdin=json.dumps(SERVICE))
        view = free_port()
        cls.start("hub", view, "--no-local", "--view-service", f"codeflare-system/view:{view}")
        cls.start("worker", free_port(), "--bind")
        cls.wait_condition("apiservice/v1alpha1.view.codeflare.dev", "Available")
        for site in cls.kubeconfigs:
            until(lambda: cls.log(site), lambda text: "the queue starts" in text)
        cls.home.type("cluster", "add", "east", "--from", cls.kubeconfigs["worker"])
        cls.wait_condition("managedcluster/east", "Connected")

    @classmethod
    def start(cls, site, port, *words):
        listen = f"127.0.0.1:{port}"
        words = [first_hour_test.PROGRAM, "controller", "--kubeconfig", cls.kubeconfigs[site], "--install-crds", "--no-leader-election",
                 "--health-address", "", "--webhook-listen", listen, "--webhook-url", f"https://{listen}",
                 "--webhook-dir", str(cls.home.path / f"webhook-{site}"), *words]
        with open(cls.home.path / f"{site}.log", "w") as log:
            cls.processes.append(subprocess.Popen(words, cwd=cls.home.path, env=cls.home.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log))

    @classmethod
    def log(cls, site):
        return (cls.home.path / f"{site}.log").read_text()

    @classmethod
    def end(cls):
        for process in cls.processes[::-1]:
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for site in cls.kubeconfigs:
            print(f"--- {site}\n{cls.log(site)[-3000:]}")

    @classmethod
    def kubectl(cls, site, *words, stdin=None, code=0):
        words = ["kubectl", "--kubeconfig", cls.kubeconfigs[site], *words]
        run = subprocess.run(words, env=cls.home.environment, input=stdin, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        if code is not None and run.returncode != code:
            raise AssertionError(f"{words}: exit {run.returncode}\n{run.stdout}{run.stderr}")
        return run.stdout

    @classmethod
    def get(cls, site, *words):
        """Nothing: there is no such object."""
        text = cls.kubectl(site, "get", *words, "-o", "json", code=None)
        return json.loads(text) if text else None

    @classmethod
    def wait_condition(cls, what, kind):
        until(lambda: cls.get("hub", what), lambda found: found and any(
            one["type"] == kind and one["status"] == "True" for one in found.get("status", {}).get("conditions", [])))

    def names(self, site, kind):
        return sorted(one["metadata"]["name"] for one in self.get(site, kind)["items"])

    def create(self, body):
        self.kubectl("hub", "create", "-f", "-", stdin=json.dumps(body))

    def wait_for(self, name, state):
        return until(lambda: self.get("hub", "appwrapper", name), lambda found: found.get("status", {}).get("state") == state)

    def zones(self, name):
        """Of the nodes that the gang's pods are bound to."""
        zones = {one["metadata"]["name"]: one["metadata"]["labels"][ZONE] for one in self.get("worker", "nodes")["items"]}
        return [zones.get(one["spec"].get("nodeName")) for one in self.get("worker", "pods")["items"] if one["metadata"]["name"].startswith(name)]

    def test_1_the_worker_is_registered_before_it_gets_work(self):
        found = until(lambda: self.get("hub", "managedcluster", "east"), lambda one: one["status"].get("nodes") == 4)
        self.assertEqual(found["metadata"]["finalizers"], ["dispatch.codeflare.dev/copies"])
        self.assertEqual(found["status"]["clusterID"], self.get("worker", "namespace", "kube-system")["metadata"]["uid"])
        self.assertEqual(found["status"]["version"], "v1.34.4")

    def test_2_a_job_completes_on_the_worker(self):
        self.create(wrapper("counts", job("counts", 3, "1")))
        found = self.wait_for("counts", "Completed")
        self.assertEqual(found["status"]["Succeeded"], 3)
        self.assertEqual((self.names("hub", "jobs"), self.names("worker", "jobs")), ([], ["counts"]))
        copy = self.get("worker", "appwrapper", "counts")["metadata"]["annotations"]
        self.assertEqual(copy["dispatch.codeflare.dev/hub-uid"], found["metadata"]["uid"])

    def test_3_within_a_zone(self):
        # A node holds one pod of 20 CPUs, and a zone two.
        self.create(wrapper("pair", *gang("pair", 2, "20"), **{"workload.codeflare.dev/within": ZONE}))
        self.wait_for("pair", "Running")
        zones = until(lambda: self.zones("pair"), lambda zones: len(zones) == 2 and all(zones))
        self.assertEqual(len(set(zones)), 1, zones)
        self.create(wrapper("wide", *gang("wide", 3, "9"), **{"workload.codeflare.dev/within": ZONE}))
        self.wait_for("wide", "Running")
        zones = until(lambda: self.zones("wide"), lambda zones: len(zones) == 3 and all(zones))
        self.assertEqual(len(set(zones)), 1, zones)

    def test_4_explain_comes_through_the_aggregated_api(self):
        self.create(wrapper("waits", *gang("waits", 4, "20")))
        text = until(lambda: self.home.type("explain", "waits", code=None).stdout, lambda text: "InsufficientResources" in text)
        self.assertIn("east", text)
        live = json.loads(self.kubectl("hub", "get", "--raw", f"{VIEW}/waits/explain"))
        self.assertEqual((live["kind"], live["report"]["reason"]), ("Explanation", "InsufficientResources"))
        self.assertEqual(self.names("worker", "appwrappers"), ["counts", "pair", "wide"])

    def test_5_priority_and_deletion_reach_the_worker_and_nothing_is_left(self):
        self.kubectl("hub", "patch", "appwrapper", "wide", "--type", "merge", "-p", '{"spec":{"priority":7}}')
        until(lambda: self.get("worker", "appwrapper", "wide"), lambda found: found["spec"].get("priority") == 7)
        for name in ("counts", "pair", "wide", "waits"):
            self.kubectl("hub", "delete", "appwrapper", name, "--wait=false")
        for site in ("hub", "worker"):
            for kind in ("appwrappers", "jobs", "pods"):
                until(lambda: self.names(site, kind), lambda names: not names)
        self.home.type("cluster", "remove", "east")
        until(lambda: self.get("hub", "managedcluster", "east"), lambda found: found is None)
        self.assertIsNone(self.get("worker", "clusterrole", "codeflare-hub-east"))


def main():
    program = pathlib.Path(sys.argv.pop(1)).resolve()
    if "--inside" in sys.argv:
        sys.argv.remove("--inside")
        first_hour_test.PROGRAM = str(program)
        unittest.main(verbosity=2)
    # The worker is the outer one; each cluster ends with its command.
    hub = "--hub" in sys.argv
    if hub:
        sys.argv.remove("--hub")
        os.environ[WORKER] = os.environ["KUBECONFIG"]
    words = [ROOT / "tests/kubernetes/kubernetes", "run", "--no-scheduler", *([] if hub else ["--nodes", "4"]), "--",
             sys.executable, __file__, program, "--inside" if hub else "--hub", *sys.argv[1:]]
    return subprocess.run([str(word) for word in words]).returncode


if __name__ == "__main__":
    sys.exit(main())
