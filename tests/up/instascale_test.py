#!/usr/bin/env python3
"""The manifest that codeflare-sdk 0.12.1 writes with instascale=True gets both kinds of machines and runs on them.

instascale_test.py PROGRAM: the first run fetches the SDK.
"""

import pathlib
import sys
import time
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "sdk"))

import original_sdk  # noqa: E402
import up_test  # noqa: E402
from pod_case import PodCase  # noqa: E402
from up_test import PODS  # noqa: E402

WRAPPERS = "/apis/workload.codeflare.dev/v1beta1/namespaces/default/appwrappers"
REQUESTS = "/apis/scale.codeflare.dev/v1alpha1/machinerequests"
TYPE = "scale.codeflare.dev/machine-type"
MACHINES = ("--machine-type", "m5.xlarge=cpu=4,memory=16Gi,max=3", "--machine-type", "g4dn.xlarge=cpu=4,memory=16Gi,gpus=1,max=2")


class InstaScale(PodCase):
    def manifest(self):
        """As the SDK writes it, unmodified, and as it sends it."""
        wanted = {"name": "insta", "namespace": "default", "machine_types": ["m5.xlarge", "g4dn.xlarge"], "instascale": True, "num_workers": 2,
                  "min_cpus": 2, "max_cpus": 2, "min_memory": 4, "max_memory": 4, "num_gpus": 1, "image": "ray:any"}
        (objects,) = original_sdk.manifests(self.scratch / "home", self.cluster.kubeconfig, [wanted])
        (manifest,) = objects
        return manifest

    def types_of_nodes(self):
        return {one["metadata"]["name"]: one["metadata"]["labels"].get(TYPE) for one in self.cluster.get("/api/v1/nodes")["items"]}

    def until(self, test, patience=120):
        end = time.monotonic() + patience
        while not test():
            if time.monotonic() > end:
                raise AssertionError(f"it stays as it is: {self.cluster.get(WRAPPERS)}\n{self.cluster.get(REQUESTS)}\n{self.cluster.get(PODS)}")
            time.sleep(0.1)

    def places(self):
        """Where pods of Ray run: type of the machine by group."""
        types = self.types_of_nodes()
        running = [one for one in self.cluster.get(PODS)["items"] if one["status"].get("phase") == "Running"]
        return sorted((one["metadata"]["labels"]["ray.io/node-type"], types.get(one["spec"]["nodeName"])) for one in running)

    def test_both_kinds_of_machines_come_and_hold_the_cluster(self):
        # Pods only pretend to run: the SDK's images are not here.
        self.start("--fake-nodes", "1", "--scale-down-after", "2s", *MACHINES)
        manifest = self.manifest()
        self.assertEqual(manifest["metadata"]["labels"]["orderedinstance"], "m5.xlarge_g4dn.xlarge")
        self.cluster.post(WRAPPERS, manifest)
        self.until(lambda: self.places() == [("head", "m5.xlarge"), ("worker", "g4dn.xlarge"), ("worker", "g4dn.xlarge")])
        asked = [{one["type"]: one["count"] for one in request["spec"]["machines"]} for request in self.cluster.get(REQUESTS)["items"]]
        self.assertEqual(asked, [{"m5.xlarge": 1, "g4dn.xlarge": 2}])
        labels = [one["metadata"]["labels"] for one in self.cluster.get("/api/v1/nodes")["items"] if TYPE in one["metadata"]["labels"]]
        self.assertEqual({(one.get("insta"), one.get("insta-default")) for one in labels}, {("insta", "insta-default")})
        self.delete(f"{WRAPPERS}/insta")
        self.until(lambda: set(self.types_of_nodes().values()) == {None} and not self.cluster.get(REQUESTS)["items"])


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    unittest.main()
