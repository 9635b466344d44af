#!/usr/bin/env python3
"""`codeflare controller` asks for machines: the provider `placeholder` with a stand-in for the autoscaler, which gives nodes to pods that have none."""

import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True

import controller_test  # noqa: E402
from api import Api, Refused  # noqa: E402

PATIENCE_SECONDS = 120
WRAPPERS = "/apis/workload.codeflare.dev/v1beta1/namespaces/default/appwrappers"
REQUESTS = "/apis/scale.codeflare.dev/v1alpha1/machinerequests"
TYPES = "/apis/scale.codeflare.dev/v1alpha1/machinetypes"
NODES = "/api/v1/nodes"
PODS = "/api/v1/namespaces/default/pods"
NAMESPACES = "/api/v1/namespaces"
CONFIG = "/api/v1/namespaces/codeflare-system/configmaps"
OWN = "/api/v1/namespaces/codeflare-system/pods"
CLASS = "/apis/scheduling.k8s.io/v1/priorityclasses/codeflare-placeholder"
PENDING = "scale.codeflare.dev/pending"
REQUEST = "scale.codeflare.dev/request"


def machine_type(**spec):
    return {"apiVersion": "scale.codeflare.dev/v1alpha1", "kind": "MachineType", "metadata": {"name": "big"},
            "spec": {"capacity": {"cpu": "8", "memory": "8Gi"}, "labels": {"pool": "big"}, "provider": "placeholder",
                     "parameters": {"image": "pause"}, "max": 2, **spec}}


def gang(name, pods, cpu):
    items = [{"generictemplate": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"{name}-{i}"}, "spec": {
        "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]}}} for i in range(pods)]
    return {"apiVersion": "workload.codeflare.dev/v1beta1", "kind": "AppWrapper", "metadata": {"name": name},
            "spec": {"resources": {"GenericItems": items}}}


class StandIn:
    """In place of an autoscaler, a scheduler for placeholders and kubelets: makes nodes for placeholders, at most `most`, and removes empty ones."""

    def __init__(self, api, most, room=1):
        self.api = api
        self.most = most
        self.room = room  # placeholders on one node
        self.made = []

    def node(self, name):
        made = self.api.call("POST", NODES, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"pool": "big"}}})
        made["status"] = {"allocatable": {"cpu": "8", "memory": "8Gi", "pods": "110"}, "capacity": {"cpu": "8", "memory": "8Gi", "pods": "110"},
                          "conditions": [{"type": "Ready", "status": "True", "reason": "r", "message": "m"}]}
        self.api.call("PUT", f"{NODES}/{name}/status", made)
        self.made.append(name)

    def step(self):
        for pod in self.api.call("GET", PODS)["items"]:
            if "deletionTimestamp" in pod["metadata"]:
                self.api.call("DELETE", f"{PODS}/{pod['metadata']['name']}?gracePeriodSeconds=0")
        there = {one["metadata"]["name"] for one in self.api.call("GET", NODES)["items"]}
        placeholders = self.api.call("GET", OWN + "?labelSelector=scale.codeflare.dev/placeholder")["items"]
        load = {name: 0 for name in self.made if name in there}
        for pod in placeholders:
            if pod["spec"].get("nodeName") in load:
                load[pod["spec"]["nodeName"]] += 1
        for pod in placeholders:
            if pod["spec"].get("nodeName"):
                continue
            free = [name for name, count in load.items() if count < self.room]
            if not free and len(load) < self.most:
                free = [f"cloud-{len(self.made)}"]
                self.node(free[0])
                load[free[0]] = 0
            if free:
                target = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod["metadata"]["name"]},
                          "target": {"apiVersion": "v1", "kind": "Node", "name": free[0]}}
                try:
                    self.api.call("POST", f"{OWN}/{pod['metadata']['name']}/binding", target)
                except Refused as error:
                    if error.status not in (404, 409):  # pushed out meanwhile
                        raise
                load[free[0]] += 1


class Placeholders(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.server = controller_test.Server(self.folder)
        self.addCleanup(self.server.stop)
        self.api = Api(self.server.environment["KUBECONFIG"], self.folder)

    def run_controller(self, *flags):
        ours = controller_test.Controller(self.server, "--install-crds", "--no-user-check", "--bind", "--scale-down-after", "2s", *flags)
        self.addCleanup(ours.stop)
        self.assertTrue(ours.until("the queue starts"), ours.lines)
        return ours

    def items(self, path):
        return self.api.call("GET", path)["items"]

    def until(self, test, stand_in=None):
        end = time.monotonic() + PATIENCE_SECONDS
        while not test():
            if stand_in is not None:
                stand_in.step()
            if time.monotonic() > end:
                raise AssertionError(f"it stays as it is: {self.items(REQUESTS)}\n{self.items(WRAPPERS)}\n{self.items(OWN)}")
            time.sleep(0.1)

    def pending(self):
        """Nodes that only the work of their request may use."""
        return [one["metadata"]["name"] for one in self.items(NODES) if PENDING in [taint["key"] for taint in one["spec"].get("taints", [])]]

    def bound(self):
        return {one["metadata"]["name"]: one["spec"].get("nodeName") for one in self.items(PODS)}

    def message(self):
        return " | ".join(one.get("status", {}).get("message", "") for one in self.items(REQUESTS))

    def why(self, name):
        found = self.api.call("GET", f"{WRAPPERS}/{name}").get("status", {}).get("conditions", [])
        return " | ".join(f"{one.get('reason')}: {one.get('message')}" for one in found)

    def test_a_gang_exists_once_each_of_its_pods_has_a_node(self):
        self.run_controller()
        self.api.call("POST", TYPES, machine_type())
        stand_in = StandIn(self.api, most=1)
        self.api.call("POST", WRAPPERS, gang("pair", 2, "6"))
        self.until(lambda: "ScalingUp: asked for 2 machines of type big" in self.why("pair"))
        self.until(lambda: len(self.items(OWN)) == 2)
        held = self.items(OWN)
        self.assertEqual({one["spec"]["priorityClassName"] for one in held}, {"codeflare-placeholder"})
        self.assertEqual(self.api.call("GET", CLASS)["value"], -10)
        self.assertEqual({one["spec"]["containers"][0]["resources"]["requests"]["cpu"] for one in held}, {"6"})
        # Half of the machines: nobody starts, and nobody else gets a place there.
        self.until(lambda: any(REQUEST in one["metadata"]["labels"] for one in self.items(NODES)), stand_in)
        half = next(one for one in self.items(NODES) if REQUEST in one["metadata"]["labels"])
        self.assertEqual(self.pending(), [half["metadata"]["name"]])
        self.assertEqual(half["metadata"]["labels"]["pair"], "pair")
        self.assertEqual(self.items(PODS), [])
        stand_in.most = 2
        self.until(lambda: set(self.bound().values()) == {"cloud-0", "cloud-1"}, stand_in)
        self.until(lambda: not self.pending())
        self.assertEqual(self.items(OWN), [])
        # After the work the autoscaler may have the nodes.
        self.api.call("DELETE", f"{WRAPPERS}/pair")
        self.until(lambda: not self.items(REQUESTS), stand_in)
        for node in self.items(NODES):
            self.assertNotIn(REQUEST, node["metadata"]["labels"])
            self.assertFalse(node["spec"].get("unschedulable"), node)
        self.assertEqual(stand_in.made, ["cloud-0", "cloud-1"])

    def test_a_larger_node_holds_the_pods_of_two_machines(self):
        self.run_controller()
        self.api.call("POST", TYPES, machine_type(capacity={"cpu": "4", "memory": "4Gi"}))
        stand_in = StandIn(self.api, most=1, room=2)
        self.api.call("POST", WRAPPERS, gang("pair", 2, "3"))
        self.until(lambda: set(self.bound().values()) == {"cloud-0"}, stand_in)
        # A machine that did not come is not counted.
        self.until(lambda: sorted(one["phase"] for one in self.items(REQUESTS)[0]["status"]["machines"]) == ["Gone", "Ready"])

    def test_half_of_the_machines_go_back_and_the_words_say_so(self):
        self.run_controller("--scale-timeout", "8s")
        self.api.call("POST", TYPES, machine_type())
        stand_in = StandIn(self.api, most=1)
        self.api.call("POST", WRAPPERS, gang("pair", 2, "6"))
        self.until(lambda: "/2 machines ready after 8 s" in self.message(), stand_in)
        # Nobody may ask again. Nothing is left of the request: no placeholder, no label, no taint.
        self.api.call("DELETE", f"{TYPES}/big")
        self.until(lambda: not self.items(OWN) and not any(REQUEST in one["metadata"]["labels"] for one in self.items(NODES)))
        self.assertEqual(self.pending(), [])
        self.assertEqual(self.items(PODS), [])

    def test_a_type_without_an_image_is_told(self):
        self.run_controller()
        self.api.call("POST", TYPES, machine_type(parameters={}))
        self.api.call("POST", WRAPPERS, gang("pair", 2, "6"))
        self.until(lambda: "MachineType big has no parameter image" in self.message())
        self.assertEqual(self.items(OWN), [])

    def test_limits_are_known_to_explain(self):
        self.run_controller("--max-scaleout", "1")
        self.api.call("POST", TYPES, machine_type())
        self.api.call("POST", WRAPPERS, gang("pair", 2, "6"))
        wanted = "needs 2 machines of type big, but --max-scaleout 1 leaves 1"
        self.until(lambda: wanted in self.why("pair"))
        words = [controller_test.PROGRAM, "explain", "aw", "pair"]
        run = subprocess.run(words, env=self.server.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        self.assertIn(wanted, " ".join(run.stdout.split()), run.stderr)
        self.assertEqual(self.items(REQUESTS), [])

    def test_the_config_map_of_instascale_is_a_limit(self):
        if "codeflare-system" not in [one["metadata"]["name"] for one in self.items(NAMESPACES)]:
            self.api.call("POST", NAMESPACES, {"metadata": {"name": "codeflare-system"}})
        config = {"metadata": {"name": "instascale-config"}, "data": {"maxScaleoutAllowed": "1"}}
        self.api.call("POST", CONFIG, config)
        self.run_controller("--max-scaleout", "5")
        self.api.call("POST", TYPES, machine_type())
        self.api.call("POST", WRAPPERS, gang("pair", 2, "6"))
        self.until(lambda: "needs 2 machines of type big, but maxScaleoutAllowed 1 of ConfigMap instascale-config leaves 1" in self.why("pair"))
        self.assertEqual(self.items(REQUESTS), [])
        config["data"]["maxScaleoutAllowed"] = "2"
        self.api.call("PUT", f"{CONFIG}/instascale-config", config)
        self.until(lambda: "ScalingUp: asked for 2 machines of type big" in self.why("pair"))


if __name__ == "__main__":
    controller_test.PROGRAM = sys.argv.pop(1)
    unittest.main()
