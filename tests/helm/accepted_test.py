#!/usr/bin/env python3
"""accepted_test.py: a real kube-apiserver (KUBECONFIG) accepts every object of the golden renderings (--dry-run=server)."""

import json
import pathlib
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests/helm/golden"
# Of Prometheus' operator: its name and no more.
SERVICE_MONITORS = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "servicemonitors.monitoring.coreos.com"},
    "spec": {"group": "monitoring.coreos.com", "scope": "Namespaced",
             "names": {"kind": "ServiceMonitor", "listKind": "ServiceMonitorList", "plural": "servicemonitors", "singular": "servicemonitor"},
             "versions": [{"name": "v1", "served": True, "storage": True,
                           "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}


def kubectl(*words, text=None):
    return subprocess.run(["kubectl", *map(str, words)], input=text, capture_output=True, text=True, check=False, timeout=300)


class Accepted(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for done in (kubectl("apply", "--server-side", "-f", ROOT / "crds"), kubectl("create", "-f", "-", text=json.dumps(SERVICE_MONITORS)),
                     kubectl("create", "namespace", "namespace"),
                     # Not by -n: some objects name a namespace of their own.
                     kubectl("config", "set-context", "--current", "--namespace=namespace"),
                     kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")):
            if done.returncode != 0:
                raise AssertionError(done.stderr)

    def test_every_rendering(self):
        files = sorted(GOLDEN.glob("*.yaml"))
        self.assertGreaterEqual(len(files), 6)
        for file in files:
            with self.subTest(file.name):
                done = kubectl("apply", "--dry-run=server", "--validate=strict", "-f", file)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(done.stdout.count("(server dry run)"), file.read_text().count("\nkind: "), done.stdout)

    def test_a_wrong_field_is_rejected(self):
        """The test above could not fail otherwise."""
        text = (GOLDEN / "platform-defaults.yaml").read_text().replace("readinessProbe:", "readynessProbe:")
        done = kubectl("apply", "--dry-run=server", "--validate=strict", "-f", "-", text=text)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("readynessProbe", done.stderr)


if __name__ == "__main__":
    unittest.main()
