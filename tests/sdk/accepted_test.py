#!/usr/bin/env python3
"""accepted_test.py: a real kube-apiserver (KUBECONFIG) with KubeRay's definitions accepts every object of clusters/*.yaml (--dry-run=server)."""

import pathlib
import subprocess
import sys
import unittest

import yaml

sys.dont_write_bytecode = True

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/crds"))

from modules import KUBERAY  # noqa: E402

CLUSTERS = ROOT / "tests/sdk/clusters"
SERVED = {"RayCluster", "Ingress"}
# The server knows these only as parts of an AppWrapper.
NOT_SERVED = {"Route", "HTTPRoute"}


def kubectl(*words, text=None):
    return subprocess.run(["kubectl", *map(str, words)], input=text, capture_output=True, text=True, check=False, timeout=300)


def wrapped(document):
    return [item["generictemplate"] for item in document["spec"]["resources"]["GenericItems"]] if document["kind"] == "AppWrapper" else []


def objects_of(file):
    """The objects of a file and what its AppWrappers hold, all in namespace team."""
    objects = [each for document in yaml.safe_load_all(file.read_text()) for each in (document, *wrapped(document))]
    for each in objects:
        each["metadata"]["namespace"] = "team"
    return objects


def dry_run(objects):
    return kubectl("apply", "--dry-run=server", "--validate=strict", "-f", "-", text=yaml.safe_dump_all(objects))


class Accepted(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Our definition of RayClusters accepts unknown fields.
        ours = [file for file in sorted((ROOT / "crds").glob("*.yaml")) if not file.name.startswith("ray.io_")]
        for done in (kubectl("apply", "--server-side", "-f", KUBERAY.download() / KUBERAY.definitions),
                     kubectl("apply", "--server-side", *(word for file in ours for word in ("-f", file))),
                     kubectl("create", "namespace", "team"), kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")):
            if done.returncode != 0:
                raise AssertionError(done.stderr)

    def test_every_cluster(self):
        files = [file for file in sorted(CLUSTERS.glob("*.yaml")) if not file.name.endswith(".in.yaml")]
        self.assertGreaterEqual(len(files), 30)
        kinds = set()
        for file in files:
            with self.subTest(file.name):
                objects = objects_of(file)
                kinds |= {each["kind"] for each in objects}
                served = [each for each in objects if each["kind"] not in NOT_SERVED]
                done = dry_run(served)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(done.stdout.count("(server dry run)"), len(served), done.stdout)
        self.assertEqual(kinds, SERVED | NOT_SERVED | {"AppWrapper"})

    def test_a_wrong_field_is_rejected(self):
        """The test above could not fail otherwise."""
        minimal = objects_of(CLUSTERS / "minimal.yaml")
        cluster = next(each for each in minimal if each["kind"] == "RayCluster")
        container = cluster["spec"]["workerGroupSpecs"][0]["template"]["spec"]["containers"][0]
        container["imagePullPolicies"] = "Always"
        done = dry_run(minimal)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('unknown field "spec.workerGroupSpecs[0].template.spec.containers[0].imagePullPolicies"', done.stderr)


if __name__ == "__main__":
    unittest.main()
