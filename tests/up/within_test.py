#!/usr/bin/env python3
"""An AppWrapper that has to stay within one zone, on `codeflare up` with nodes of two zones."""

import subprocess
import sys
import unittest

sys.dont_write_bytecode = True

import up_test  # noqa: E402
from pod_case import PodCase, job  # noqa: E402
from up_test import PODS, pod  # noqa: E402

WRAPPERS = "/apis/workload.codeflare.dev/v1beta1/namespaces/default/appwrappers"
ZONE = "topology.kubernetes.io/zone"


def wrapped(name, pods, cpu):
    template = pod("unused", "sleep 1000")
    template["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu}}
    body = {"apiVersion": "batch/v1", "kind": "Job", **job(name, template, parallelism=pods, completions=pods)}
    return {"apiVersion": "workload.codeflare.dev/v1beta1", "kind": "AppWrapper",
            "metadata": {"name": name, "annotations": {"workload.codeflare.dev/within": ZONE}},
            "spec": {"resources": {"GenericItems": [{"generictemplate": body}]}}}


class Within(PodCase):
    def zone_of(self, node):
        return self.cluster.get("/api/v1/nodes/" + node)["metadata"]["labels"][ZONE]

    def nodes_of(self, name):
        found = self.cluster.get(f"{PODS}?labelSelector=job-name={name}")["items"]
        return [one["spec"].get("nodeName") for one in found]

    def test_a_gang_gets_all_its_nodes_in_one_zone(self):
        self.start("--nodes", "0", "--fake-nodes", "4", "--cpus", "4")
        for number, name in enumerate(sorted(self.cluster.nodes())):
            path = "/api/v1/nodes/" + name
            node = self.cluster.get(path)
            node["metadata"]["labels"][ZONE] = "ab"[number % 2]
            self.cluster.open(path, node, method="PUT")
        self.cluster.post(WRAPPERS, wrapped("pair", 2, "3"))
        self.cluster.wait_until(lambda: len(self.nodes_of("pair")) == 2 and all(self.nodes_of("pair")))
        self.assertEqual(len({self.zone_of(node) for node in self.nodes_of("pair")}), 1)
        # Three nodes hold one pod each, but no zone has three nodes.
        self.cluster.post(WRAPPERS, wrapped("triple", 3, "1"))
        self.cluster.post(WRAPPERS, wrapped("wide", 3, "3"))
        found = self.cluster.wait_for(WRAPPERS + "/wide", lambda one: any(
            "within" in each.get("message", "") for each in one.get("status", {}).get("conditions", [])))
        text = " ".join(each.get("message", "") for each in found["status"]["conditions"])
        self.assertRegex(text, ZONE + "=[ab], the nearest of 2")
        words = [up_test.PROGRAM, "explain", "aw", "wide", "--kubeconfig", self.cluster.kubeconfig]
        run = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("All pods must fit within one of these, nearest first:", run.stdout)
        self.assertRegex(run.stdout, r"(?m)^ +a +2 ")
        self.assertRegex(run.stdout, r"(?m)^ +b +2 ")
        self.assertEqual(self.nodes_of("wide"), [])


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    unittest.main()
