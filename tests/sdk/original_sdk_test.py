#!/usr/bin/env python3
"""Ten configurations as codeflare-sdk 0.12.1 writes them, and as we do, become the same pods: number, images, requests, limits, the
user's environment, pull secrets and priority.

original_sdk_test.py PROGRAM: the first run fetches the SDK.
"""

import decimal
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "up"))

import original_sdk  # noqa: E402
import up_test  # noqa: E402

IMAGE = "quay.io/project-codeflare/ray:latest-py39-cu118"
PRIORITY = 1000
# Defaults differ: ours are those of 0.40.
BASE = {"namespace": "default", "image": IMAGE, "head_cpus": 2, "head_memory": 8, "min_cpus": 1, "max_cpus": 1, "min_memory": 2, "max_memory": 2}
WRAPPERS = "/apis/workload.codeflare.dev/v1beta1/namespaces/default/appwrappers"
CONFIGURATIONS = {
    "plain": {},
    "ranges": {"num_workers": 3, "max_cpus": 2, "max_memory": 4},
    "gpus": {"num_workers": 2, "min_cpus": 2, "max_cpus": 2, "min_memory": 8, "max_memory": 8, "num_gpus": 1},
    "head-size": {"head_cpus": 4, "head_memory": 16},
    "head-gpu": {"head_gpus": 1, "num_workers": 2},
    "envs": {"envs": [{"name": "MODEL", "value": "small"}, {"name": "RATE", "value": "0.1"}]},
    "secrets": {"image_pull_secrets": ["registry", "mirror"]},
    "alone": {"num_workers": 0},
    "many": {"num_workers": 12, "head_cpus": 1, "head_memory": 2},
    "priority": {"dispatch_priority": "high", "num_workers": 2},
}
UNITS = {"": 1, "m": decimal.Decimal("0.001"), "k": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}


def amount(text):
    number = str(text).rstrip("mkMGKi")
    return decimal.Decimal(number) * UNITS[str(text)[len(number):]]


def amounts(resources, kind):
    """Zero is the same as nothing."""
    return sorted((name, amount(text)) for name, text in resources.get(kind, {}).items() if amount(text) != 0)


def about(pod, variables):
    spec = pod["spec"]
    ray = spec["containers"][0]
    env = sorted((one["name"], one.get("value")) for one in ray.get("env", []) if one["name"] in variables)
    return (pod["metadata"]["labels"]["ray.io/node-type"], len(spec["containers"]), ray["image"], amounts(ray["resources"], "requests"),
            amounts(ray["resources"], "limits"), env, sorted(one["name"] for one in spec.get("imagePullSecrets", [])),
            spec.get("priorityClassName", ""))


class OriginalSdk(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        # Pods only pretend to run: the images are not here.
        self.cluster = up_test.Cluster(self.scratch, "--nodes", "0", "--fake-nodes", "1", "--cpus", "64", "--memory", "512Gi", "--gpus", "8")
        self.addCleanup(self.cluster.stop)
        self.cluster.post("/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "high"}, "value": PRIORITY})
        self.cluster.wait_for("/api/v1/namespaces/default/serviceaccounts", lambda found: found["items"])

    def codeflare(self, *words):
        run = subprocess.run([up_test.PROGRAM, *words], cwd=self.scratch, env={**os.environ, "KUBECONFIG": self.cluster.kubeconfig},
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100)
        self.assertEqual(run.returncode, 0, f"{words}: {run.stdout}{run.stderr}")

    def pods(self):
        return self.cluster.get(up_test.PODS)["items"]

    def pods_of(self, configuration):
        """When as many run as it has to have, and no more come."""
        count = 1 + configuration.get("num_workers", 1)
        phases = lambda: [pod["status"].get("phase") for pod in self.pods()]
        try:
            self.cluster.wait_until(lambda: phases() == ["Running"] * count)
        except AssertionError as error:
            raise AssertionError(f"{count} pods expected: {phases()}, {self.cluster.open(WRAPPERS)}") from error
        time.sleep(1)
        variables = {one["name"] for one in configuration.get("envs", [])}
        return sorted(about(pod, variables) for pod in self.pods())

    def priority_of(self, name):
        return self.cluster.get(f"{WRAPPERS}/{name}")["spec"].get("priority", 0)

    def test_ten_configurations_become_the_same_pods(self):
        given = {name: {**BASE, "name": name, **fields} for name, fields in CONFIGURATIONS.items()}
        asked = [{**one, **({"priority_val": PRIORITY} if "dispatch_priority" in one else {})} for one in given.values()]
        originals = original_sdk.manifests(self.scratch / "home", self.cluster.kubeconfig, asked)
        for (name, configuration), objects in zip(given.items(), originals, strict=True):
            with self.subTest(name):
                self.assertEqual([one["kind"] for one in objects], ["AppWrapper"])
                self.cluster.post(WRAPPERS, objects[0])
                theirs = self.pods_of(configuration), self.priority_of(name)
                self.cluster.open(f"{WRAPPERS}/{name}", {"kind": "DeleteOptions", "apiVersion": "v1"}, method="DELETE")
                self.cluster.wait_until(lambda: not self.pods())
                (self.scratch / "fields.yaml").write_text(json.dumps(configuration))
                self.codeflare("define", "raycluster", name, "--from", "fields.yaml")
                self.codeflare("create", "raycluster", name)
                self.assertEqual((self.pods_of(configuration), self.priority_of(name)), theirs)
                self.codeflare("delete", "raycluster", name)
                self.cluster.wait_until(lambda: not self.pods())


if __name__ == "__main__":
    up_test.PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
