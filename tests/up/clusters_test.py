#!/usr/bin/env python3
"""A hub and its workers, each a `codeflare up` of its own: work that does not fit on one cluster runs on another, and never on two.

clusters_test.py PROGRAM [KILLS [WRAPPERS]]"""

import base64
import json
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error

sys.dont_write_bytecode = True

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "queue"))

import controller_test  # noqa: E402
import up_test  # noqa: E402
from up_test import Cluster  # noqa: E402

WRAPPERS = "/apis/workload.codeflare.dev/v1beta1/namespaces/default/appwrappers"
JOBS = "/apis/batch/v1/namespaces/default/jobs"
EVENTS = "/api/v1/namespaces/default/events"
CLUSTERS = "/apis/dispatch.codeflare.dev/v1alpha1/managedclusters"
SECRETS = "/api/v1/namespaces/codeflare-system/secrets"
REQUESTS = "/apis/scale.codeflare.dev/v1alpha1/machinerequests"
RAYS = "/apis/ray.io/v1/namespaces/default/rayclusters"

KILLS = 4
COUNT = 20
PATIENCE_SECONDS = 180  # without another AppWrapper that completes


def pod_spec(cpu, seconds):
    return {"metadata": {"annotations": {"codeflare.dev/duration": f"{seconds}s"} if seconds else {}},
            "spec": {"restartPolicy": "Never", "containers": [
                {"name": "c", "image": "any", "resources": {"requests": {"cpu": cpu}}}]}}


def wrapper(name, *items):
    return {"apiVersion": "workload.codeflare.dev/v1beta1", "kind": "AppWrapper", "metadata": {"name": name},
            "spec": {"resources": {"GenericItems": [{"generictemplate": item, **more} for item, more in items]}}}


def job(name, pods, cpu, seconds):
    spec = {"parallelism": pods, "completions": pods, "backoffLimit": 0, "template": pod_spec(cpu, seconds)}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": spec}, {"completionstatus": "Complete"}


def ray_cluster(name):
    """As the first example of KubeRay with MCAD has it: a head and a worker of 2 CPUs each, 4 in all."""
    def template():
        return {"spec": {"containers": [{"name": "ray", "image": "rayproject/ray:2.0.0", "resources": {
            "requests": {"cpu": "2", "memory": "1G"}, "limits": {"cpu": "2", "memory": "1G"}}}]}}
    body = {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": name}, "spec": {
        "rayVersion": "2.0.0", "headGroupSpec": {"rayStartParams": {}, "template": template()},
        "workerGroupSpecs": [{"groupName": "small", "replicas": 1, "minReplicas": 1, "maxReplicas": 1,
                              "rayStartParams": {}, "template": template()}]}}
    entry = {"replicas": 1, "requests": {"cpu": 2, "memory": "1G"}, "limits": {"cpu": 2, "memory": "1G"}}
    return body, {"custompodresources": [entry, dict(entry)]}


class Clusters(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.sites = {}
        self.cut = None  # the worker that is cut off, and until when

    def tearDown(self):
        self.mend(wait=False)
        for site in self.sites.values():
            if site.process.poll() is None:
                site.stop()

    def start(self, name, cpus, *more, nodes=1):
        scratch = pathlib.Path(self.folder.name) / name
        scratch.mkdir(exist_ok=True)
        flags = ["--nodes", "0", "--fake-nodes", str(nodes), "--cpus", str(cpus)]
        if name == "hub":
            flags += ["--dispatch-patience", "20"]
        self.sites[name] = Cluster(scratch, *flags, *more)
        return self.sites[name]

    def kill(self, name):
        self.sites[name].process.kill()
        self.sites[name].process.communicate()

    def cut_off(self, name, seconds):
        """Its connections stay open and nothing answers, as in a network that drops everything."""
        self.sites[name].process.send_signal(signal.SIGSTOP)
        self.cut = (name, time.monotonic() + seconds)

    def mend(self, wait):
        """The worker that was cut off answers again; `wait`: for the rest of its time."""
        if self.cut is not None:
            name, until = self.cut
            time.sleep(max(0.0, until - time.monotonic()) if wait else 0)
            self.sites[name].process.send_signal(signal.SIGCONT)
            self.cut = None

    def mend_when_due(self):
        if self.cut is not None and time.monotonic() >= self.cut[1]:
            self.mend(wait=False)

    def busiest(self, names):
        return max(names, key=lambda name: sum("completionTime" not in one.get("status", {}) for one in self.sites[name].get(JOBS)["items"]))

    def copies(self, workers):
        """{(AppWrapper, worker): (UID of the hub's object, state)} of all workers."""
        return {(one["metadata"]["name"], worker): (one["metadata"]["annotations"]["dispatch.codeflare.dev/hub-uid"], one["status"].get("state"))
                for worker in workers for one in self.sites[worker].get(WRAPPERS)["items"]}

    def kubeconfig(self, name):
        return pathlib.Path(self.sites[name].kubeconfig).read_text()

    def manage(self, name, text=None):
        """`text`: another kubeconfig than the worker's own."""
        text = self.kubeconfig(name) if text is None else text
        data = {"kubeconfig": base64.b64encode(text.encode()).decode()}
        hub = self.sites["hub"]
        path = f"{SECRETS}/cluster-{name}"
        try:
            secret = hub.get(path)
            secret["data"] = data
            hub.open(path, secret, method="PUT")
        except urllib.error.HTTPError:
            hub.post(SECRETS, {"metadata": {"name": f"cluster-{name}"}, "data": data})
            hub.post(CLUSTERS, {"apiVersion": "dispatch.codeflare.dev/v1alpha1", "kind": "ManagedCluster",
                                "metadata": {"name": name}, "spec": {}})

    def connected(self, name):
        return lambda found: any(one["type"] == "Connected" and one["status"] == "True"
                                 for one in found.get("status", {}).get("conditions", []))

    def wait_connected(self, *names):
        for name in names:
            self.sites["hub"].wait_for(f"{CLUSTERS}/{name}", self.connected(name), patience=90)

    def wait_problem(self, name, reason, words):
        """Why the cluster is not connected."""
        found = self.sites["hub"].wait_for(f"{CLUSTERS}/{name}", lambda one: any(
            each["type"] == "Connected" and (each["status"], each["reason"]) == ("False", reason)
            for each in one.get("status", {}).get("conditions", [])), patience=90)
        self.assertRegex(found["status"]["conditions"][0]["message"], words)

    def bare(self):
        """An API server alone."""
        folder = pathlib.Path(self.folder.name) / "bare"
        folder.mkdir()
        controller_test.PROGRAM = up_test.PROGRAM
        server = controller_test.Server(folder)
        self.addCleanup(server.stop)
        return server

    def state(self, name, state):
        return self.sites["hub"].wait_for(f"{WRAPPERS}/{name}", lambda found: found.get("status", {}).get("state") == state, patience=120)

    def has(self, site, path):
        try:
            self.sites[site].get(path)
            return True
        except urllib.error.HTTPError:
            return False

    def places(self, path):
        return [name for name in self.sites if self.has(name, path)]

    def test_the_second_starts_on_the_other_cluster(self):
        hub = self.start("hub", 6)
        for name in ("east", "west"):
            self.start(name, 6)
            self.manage(name)
        self.wait_connected("east", "west")
        for name in ("raycluster-complete", "raycluster-complete-1", "raycluster-complete-2", "raycluster-complete-3"):
            hub.post(WRAPPERS, wrapper(name, ray_cluster(name)))
        for name in ("raycluster-complete", "raycluster-complete-1", "raycluster-complete-2"):
            found = self.state(name, "Running")
            self.assertEqual(len(self.places(f"{RAYS}/{name}")), 1, found)
        where = [self.places(f"{RAYS}/{name}")[0] for name in
                 ("raycluster-complete", "raycluster-complete-1", "raycluster-complete-2")]
        self.assertEqual(sorted(where), ["east", "hub", "west"])
        # 12 of 18 CPUs are taken; the fourth fits the sum of what is left and no cluster.
        found = hub.wait_for(f"{WRAPPERS}/raycluster-complete-3", lambda one: any(
            each["type"] == "Queued" and "codeflare.dev/cluster" in each.get("message", "")
            for each in one.get("status", {}).get("conditions", [])))
        self.assertEqual(found["status"]["state"], "Pending")
        self.assertEqual(self.places(f"{RAYS}/raycluster-complete-3"), [])
        first = where.index("east")
        hub.open(f"{WRAPPERS}/" + ("raycluster-complete", "raycluster-complete-1", "raycluster-complete-2")[first], method="DELETE")
        self.state("raycluster-complete-3", "Running")
        Cluster.wait_until(lambda: self.places(f"{RAYS}/raycluster-complete-3") == ["east"])

    def test_a_worker_that_is_killed_and_comes_back_keeps_its_work(self):
        hub = self.start("hub", 1)
        self.start("east", 4)
        self.manage("east")
        self.wait_connected("east")
        hub.post(WRAPPERS, wrapper("a", job("a", 2, "2", 40)))
        self.state("a", "Running")
        self.kill("east")
        found = hub.wait_for(f"{WRAPPERS}/a", lambda one: one["status"].get("message", "").startswith("ClusterLost"))
        self.assertEqual(found["status"]["state"], "Running")
        hub.wait_for(f"{CLUSTERS}/east", lambda one: one["status"]["conditions"][0]["reason"] == "Unreachable")
        # Another port: a changed Secret is taken up without a restart of the hub.
        self.start("east", 4)
        self.manage("east")
        self.wait_connected("east")
        self.state("a", "Completed")
        self.assertEqual(len(self.sites["east"].get(JOBS)["items"]), 1)
        hub.open(f"{WRAPPERS}/a", method="DELETE")
        Cluster.wait_until(lambda: not self.sites["east"].get(WRAPPERS)["items"])

    def test_a_wrong_secret_has_its_reason_and_the_other_clusters_go_on(self):
        hub = self.start("hub", 1)
        for name in ("east", "west"):
            self.start(name, 4)
        east, bare = self.kubeconfig("east"), pathlib.Path(self.bare().environment["KUBECONFIG"]).read_text()
        authority = re.compile("certificate-authority-data: .*")
        with socket.socket() as nobody:
            nobody.bind(("127.0.0.1", 0))  # and does not listen
            closed = re.sub("server: .*", f'server: "https://127.0.0.1:{nobody.getsockname()[1]}"', east)
            wrong = {
                "text": ("no kubeconfig", "SecretInvalid", "Secret codeflare-system/cluster-text"),
                "serverless": (re.sub(".*server: .*\n", "", east), "SecretInvalid", "Secret codeflare-system/cluster-serverless.*server"),
                "closed": (closed, "Unreachable", "(?i)connection refused"),
                "token": (re.sub("(?s)client-certificate-data: .*?\ncontexts", "token: expired\ncontexts", east), "Unauthorized", "(?i)unauthorized"),
                "authority": (authority.sub(authority.search(bare).group(), east), "CertificateInvalid", "certificate"),
                "bare": (bare, "DefinitionsMissing", "codeflare controller --install-crds"),
                "self": (self.kubeconfig("hub"), "ManagedTwice", "leads to this cluster itself"),
            }
            self.manage("moved", self.kubeconfig("west"))
            self.wait_connected("moved")
            for name, (text, _, _) in wrong.items():
                self.manage(name, text)
            self.manage("moved", bare)
            self.manage("east")
            self.wait_connected("east")
            for name, (_, reason, words) in wrong.items():
                self.wait_problem(name, reason, words)
            self.wait_problem("moved", "AnotherCluster", "remove this ManagedCluster and add a new one")
        hub.post(WRAPPERS, wrapper("a", job("a", 2, "2", 2)))
        self.state("a", "Completed")
        self.assertEqual(self.places(f"{WRAPPERS}/a"), ["hub", "east"])

    def test_work_that_fits_nowhere_goes_where_machines_for_it_cost_least(self):
        hub = self.start("hub", 1)
        # Machines take longer than the patience of the hub.
        for name, cost in (("east", 5), ("west", 2)):
            machines = f"big=cpu=8,memory=8Gi,max=2,cost={cost},delay=25,fake"
            self.start(name, 4, "--machine-type", machines, "--scale-down-after", "2s")
            # The account that the command makes sees the machines.
            subprocess.run([up_test.PROGRAM, "cluster", "add", name, "--from", self.sites[name].kubeconfig],
                           env={**os.environ, "KUBECONFIG": hub.kubeconfig}, check=True, capture_output=True)
        self.wait_connected("east", "west")
        hub.post(WRAPPERS, wrapper("a", job("a", 2, "6", 10)))
        west = self.sites["west"]
        Cluster.wait_until(lambda: west.get(REQUESTS)["items"])
        found = hub.get(f"{WRAPPERS}/a")
        self.assertEqual(found["status"]["plan"]["places"], [{"podSet": 0, "node": "west/new:big", "count": 2}])
        found = self.state("a", "Completed")
        self.assertEqual(self.places(f"{JOBS}/a"), ["west"])
        self.assertNotIn("ClusterBusy", json.dumps(found["status"]))
        self.assertEqual(self.sites["east"].get(REQUESTS)["items"], [])
        Cluster.wait_until(lambda: not west.get(REQUESTS)["items"] and len(west.get("/api/v1/nodes")["items"]) == 1)

    def test_agents_of_mcads_command_line_get_all_work(self):
        sites = [self.start(name, 4) for name in ("east", "west")]
        hub = self.bare()
        agents = ",".join(f"{site.kubeconfig}:{name}" for site, name in zip(sites, self.sites))
        ours = controller_test.Controller(hub, "--install-crds", "--no-user-check", "--dispatcher", "--agentconfigs", agents)
        self.addCleanup(ours.stop)
        self.assertTrue(ours.until("the queue starts"), ours.lines)
        self.assertEqual([one["metadata"]["name"] for one in hub.get(CLUSTERS)["items"]], ["east", "west"])
        self.assertEqual([one["metadata"]["name"] for one in hub.get(SECRETS)["items"]], ["cluster-east", "cluster-west"])
        for name in ("a", "b"):
            hub.create({**wrapper(name, job(name, 3, "1", 2))})
        Cluster.wait_until(lambda: [one.get("status", {}).get("state") for one in hub.get(WRAPPERS)["items"]] == ["Completed"] * 2, patience=120)
        self.assertEqual(hub.get(JOBS)["items"], [])
        self.assertEqual(sorted(self.places(f"{JOBS}/a") + self.places(f"{JOBS}/b")), ["east", "west"])

    def test_a_hub_that_is_killed_again_and_again_dispatches_once(self):
        random.seed(7)
        self.start("hub", 2)
        workers = ("east", "north", "west")
        for name in workers:
            self.start(name, 6)
            self.manage(name)
        self.wait_connected(*workers)
        seen = {}  # Jobs by name: where, and their UIDs
        done = 0
        for number in range(COUNT):
            name = f"w{number}"
            self.sites["hub"].post(WRAPPERS, wrapper(name, job(name, 2, "1", random.choice((2, 5, 9)))))
            if number % max(1, COUNT // 100) == 0:
                self.look(seen)
            if number == COUNT // 2:
                self.cut_off(self.busiest(workers), 60 if KILLS >= 50 else 10)
            self.mend_when_due()
            if done < KILLS and number % max(1, COUNT // KILLS) == 1:
                time.sleep(random.random())
                self.kill("hub")
                done += 1
                self.look(seen)
                self.start("hub", 2)
                if done % 10 == 5:
                    # Each worker too, now and then; it comes back on another port.
                    self.mend(wait=True)
                    for worker in workers:
                        self.kill(worker)
                        self.start(worker, 6)
                        self.manage(worker)
        self.assertEqual(done, min(KILLS, COUNT))
        best, until = -1, 0
        while True:
            self.mend_when_due()
            self.look(seen)
            items = self.sites["hub"].get(WRAPPERS)["items"]
            ended = sum(one.get("status", {}).get("state") == "Completed" for one in items)
            if ended == len(items):
                break
            if ended > best:
                best, until = ended, time.monotonic() + PATIENCE_SECONDS
            if time.monotonic() > until:
                self.fail({one["metadata"]["name"]: one.get("status", {}).get("state") for one in items})
            time.sleep(1)
        self.mend(wait=True)
        self.look(seen)
        self.read_ends(seen)
        self.assertEqual(len(items), COUNT)
        self.assertEqual(sorted(seen), sorted(f"w{number}" for number in range(COUNT)))
        for name, where in seen.items():
            self.assertEqual([len(uids) for uids in where.values()], [1], f"{name} ran on {where}")
        # Copies that never started may be there for a moment.
        agreed = {(one["metadata"]["name"], site): (one["metadata"]["uid"], "Completed")
                  for one in items for site in seen[one["metadata"]["name"]] if site != "hub"}
        until = time.monotonic() + 120
        while self.copies(workers) != agreed and time.monotonic() < until:
            time.sleep(1)
        self.assertEqual(self.copies(workers), agreed)
        for name in list(seen):
            self.sites["hub"].open(f"{WRAPPERS}/{name}", method="DELETE")
        for site in self.sites.values():
            Cluster.wait_until(lambda site=site: not site.get(WRAPPERS)["items"] and not site.get(JOBS)["items"], patience=600)

    def look(self, seen):
        """Every Job that the store of any cluster ever showed; a worker that is cut off shows none."""
        for name, site in self.sites.items():
            if site.process.poll() is not None or (self.cut is not None and self.cut[0] == name):
                continue
            for one in site.get(JOBS)["items"]:
                seen.setdefault(one["metadata"]["name"], {}).setdefault(name, set()).add(one["metadata"]["uid"])

    def read_ends(self, seen):
        """Jobs that ended and were gone between two looks: their Events stay."""
        for name, site in self.sites.items():
            for event in site.get(EVENTS)["items"]:
                job = event["involvedObject"]
                if job["kind"] == "Job":
                    seen.setdefault(job["name"], {}).setdefault(name, set()).add(job["uid"])


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    if len(sys.argv) > 1 and sys.argv[1].isdigit():
        KILLS = int(sys.argv.pop(1))
    if len(sys.argv) > 1 and sys.argv[1].isdigit():
        COUNT = int(sys.argv.pop(1))
    unittest.main()
