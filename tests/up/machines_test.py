#!/usr/bin/env python3
"""Machines on demand on `codeflare up`: process nodes that come for a gang and go after it, also when the program is killed.

machines_test.py PROGRAM [KILLS GANGS]"""

import collections
import random
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True

import up_test  # noqa: E402
from pod_case import PodCase, job, with_volume  # noqa: E402
from up_test import PODS, pod  # noqa: E402

WRAPPERS = "/apis/workload.codeflare.dev/v1beta1/namespaces/default/appwrappers"
REQUESTS = "/apis/scale.codeflare.dev/v1alpha1/machinerequests"
EVENTS = "/api/v1/namespaces/default/events"
TYPES = "/apis/scale.codeflare.dev/v1alpha1/machinetypes"
JOBS = "/apis/batch/v1/namespaces/default/jobs"
REQUEST = "scale.codeflare.dev/request"
BIG = ("--nodes", "1", "--cpus", "2", "--memory", "4Gi", "--scale-down-after", "2s")


KILLS = 3
GANGS = 3
GATE = "until test -e /gate/open; do sleep 0.2; done"


class Machines(PodCase):
    def setUp(self):
        super().setUp()
        self.seen = {}
        self.jobs = {}  # UIDs by name
        self.gate = self.scratch / "gate"
        self.gate.mkdir()

    def start(self, *flags, **how):
        super().start("--allow-host-path", str(self.gate), *flags, **how)

    def wrapped(self, name, pods, cpu):
        """Its pods run until the gate opens."""
        template = with_volume(pod("unused", "hostname; " + GATE), {"hostPath": {"path": str(self.gate)}}, "/gate")
        template["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu}}
        body = {"apiVersion": "batch/v1", "kind": "Job", **job(name, template, parallelism=pods, completions=pods)}
        return {"apiVersion": "workload.codeflare.dev/v1beta1", "kind": "AppWrapper", "metadata": {"name": name},
                "spec": {"resources": {"GenericItems": [{"generictemplate": body, "completionstatus": "Complete"}]}}}

    def open_gate(self):
        (self.gate / "open").touch()

    def machines(self):
        """Names of the Nodes of machines."""
        nodes = {one["metadata"]["name"]: one for one in self.cluster.get("/api/v1/nodes")["items"] if REQUEST in one["metadata"]["labels"]}
        self.seen.update(nodes)
        return set(nodes)

    def state(self, name):
        return self.cluster.get(f"{WRAPPERS}/{name}").get("status", {}).get("state")

    def until(self, test, patience=120):
        """Notes all machines that there are meanwhile."""
        end = time.monotonic() + patience
        while not test():
            self.machines()
            if time.monotonic() > end:
                raise AssertionError(f"it stays as it is: {self.cluster.get(WRAPPERS)}\n{self.cluster.get(REQUESTS)}")
            time.sleep(0.05)

    def why(self, name):
        conditions = self.cluster.get(f"{WRAPPERS}/{name}").get("status", {}).get("conditions", [])
        return " | ".join(f"{one.get('reason')}: {one.get('message')}" for one in conditions)

    def nodes_of(self, name):
        return {one["spec"].get("nodeName") for one in self.cluster.get(f"{PODS}?labelSelector=job-name={name}")["items"]}

    def events(self, name, reason):
        found = self.cluster.get(EVENTS)["items"]
        return [one["message"] for one in found if one["involvedObject"]["name"] == name and one["reason"] == reason]

    def test_a_gang_gets_its_machines_and_they_go(self):
        self.start(*BIG, "--machine-type", "big=cpu=8,memory=8Gi,max=2,delay=1")
        self.assertEqual([one["metadata"]["name"] for one in self.cluster.get(TYPES)["items"]], ["big"])
        self.cluster.post(WRAPPERS, self.wrapped("pair", 2, "6"))
        self.cluster.post(WRAPPERS, self.wrapped("triple", 3, "6"))
        self.until(lambda: self.events("pair", "ScalingUp"))
        self.assertRegex(self.events("pair", "ScalingUp")[0], "^asked for 2 machines of type big .MachineRequest scale-")
        self.until(lambda: self.state("pair") == "Running" and len(self.nodes_of("pair") - {None}) == 2)
        self.assertEqual(self.nodes_of("pair"), self.machines())
        for node in self.seen.values():
            self.assertEqual(node["metadata"]["labels"]["pair"], "pair")
            self.assertEqual(node["metadata"]["labels"]["pair-default"], "pair-default")
        self.until(lambda: "needs 3 machines of type big, but MachineType big allows max 2" in self.why("triple"))
        words = [up_test.PROGRAM, "explain", "aw", "triple", "--kubeconfig", self.cluster.kubeconfig]
        run = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("needs 3 machines of type big, but MachineType big allows max 2", " ".join(run.stdout.split()))
        self.until(lambda: all(self.logs("?labelSelector=job-name=pair").values()))
        self.open_gate()
        self.until(lambda: self.state("pair") == "Completed")
        self.until(lambda: not self.machines() and not self.cluster.get(REQUESTS)["items"])
        self.assertEqual(len(self.seen), 2)
        self.assertEqual(self.state("triple"), "Pending")

    def test_the_reason_names_what_was_asked_for_until_nobody_waits(self):
        # The machine does not come while the test runs.
        self.start(*BIG, "--machine-type", "slow=cpu=8,memory=8Gi,delay=3600")
        self.cluster.post(WRAPPERS, self.wrapped("late", 1, "6"))
        self.until(lambda: "ScalingUp: asked for 1 machine of type slow" in self.why("late"))
        self.delete(f"{WRAPPERS}/late")
        self.until(lambda: not self.cluster.get(REQUESTS)["items"])
        self.assertEqual(self.seen, {})

    def test_ten_small_gangs_share_a_machine(self):
        self.start(*BIG, "--machine-type", "big=cpu=20,memory=8Gi,max=3,delay=1")
        names = [f"small-{number}" for number in range(10)]
        for name in names:
            self.cluster.post(WRAPPERS, self.wrapped(name, 1, "1900m"))
        self.until(lambda: all(self.state(name) == "Running" for name in names))
        self.open_gate()
        self.until(lambda: all(self.state(name) == "Completed" for name in names))
        self.until(lambda: not self.machines() and not self.cluster.get(REQUESTS)["items"])
        self.assertEqual(len(self.seen), 1)

    def test_a_killed_program_asks_for_no_machine_too_many(self):
        flags = (*BIG, "--machine-type", "big=cpu=8,memory=8Gi,max=4,delay=1")
        self.start(*flags)
        self.cluster.post(WRAPPERS, self.wrapped("pair", 2, "6"))
        # Before the request, with it, while the nodes come, and while the pods run.
        for pause in (0.05, 0.4, 1.1, 0.6, 1.5):
            time.sleep(pause)
            self.kill_program()
            self.start(*flags)
            self.machines()
        self.open_gate()
        self.until(lambda: self.state("pair") == "Completed")
        self.until(lambda: not self.machines() and not self.cluster.get(REQUESTS)["items"])
        self.assertEqual(len(self.seen), 2, self.seen)
        job_status = self.cluster.get("/apis/batch/v1/namespaces/default/jobs/pair")["status"]
        self.assertEqual(job_status.get("succeeded"), 2, job_status)

    def look_at_work(self, asked):
        """How many machines each request asks for, and the Jobs that there ever were."""
        for one in self.cluster.get(REQUESTS)["items"]:
            asked[one["metadata"]["name"]] = sum(each["count"] for each in one["spec"]["machines"])
        for one in self.cluster.get(JOBS)["items"]:
            self.jobs.setdefault(one["metadata"]["name"], set()).add(one["metadata"]["uid"])

    def test_many_gangs_and_a_program_that_is_killed_again_and_again(self):
        random.seed(11)
        # A machine has room for one pod, and twice as many are allowed as are needed.
        flags = (*BIG, "--machine-type", f"big=cpu=8,memory=1Gi,max={4 * GANGS},delay=1")
        self.start(*flags)
        names = [f"gang-{number}" for number in range(GANGS)]
        waiting, asked = list(names), {}
        for killed in range(KILLS):
            for name in waiting[:-(-GANGS // KILLS)]:
                self.cluster.post(WRAPPERS, self.wrapped(name, 2, "6"))
                waiting.remove(name)
            if killed == KILLS // 2:
                self.open_gate()  # from now on gangs end, and machines go
            time.sleep(random.random() * 3)
            self.look_at_work(asked)
            self.kill_program()
            self.start(*flags)
            self.assertLessEqual(len(self.machines()), 2 * GANGS)
        self.assertEqual(waiting, [])
        best, until = -1, 0
        while (ended := sum(self.state(name) == "Completed" for name in names)) < GANGS:
            if ended > best:
                best, until = ended, time.monotonic() + 120
            self.assertLess(time.monotonic(), until, self.cluster.get(WRAPPERS))
            self.assertLessEqual(len(self.machines()), 2 * GANGS)
            self.look_at_work(asked)
            time.sleep(0.05)
        self.look_at_work(asked)
        self.until(lambda: not self.machines() and not self.cluster.get(REQUESTS)["items"])
        for name in names:
            status = self.cluster.get(f"{JOBS}/{name}")["status"]
            self.assertEqual((status.get("succeeded"), status.get("failed"), len(self.jobs[name])), (2, None, 1), status)
        came = collections.Counter(one["metadata"]["labels"][REQUEST] for one in self.seen.values())
        for request, count in came.items():
            self.assertLessEqual(count, asked[request], (came, asked))

    def test_a_wrong_machine_type_is_told(self):
        words = [up_test.PROGRAM, "up", "--data-dir", str(self.scratch / "data"), "--machine-type", "big=cpu=8"]
        run = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 2)
        self.assertIn("--machine-type big=cpu=8: cpu and memory are required", run.stderr)


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    if len(sys.argv) > 2 and sys.argv[1].isdigit():
        KILLS, GANGS = int(sys.argv.pop(1)), int(sys.argv.pop(1))
    unittest.main()
