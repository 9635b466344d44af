#!/usr/bin/env python3
"""examples_test.py CODEFLARE: examples/kuberay as docs/helm.md walks through them, on a fake node of 5 CPUs."""

import json
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples/kuberay"
PATIENCE_SECONDS = 60
CODEFLARE = None


class Examples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.data = pathlib.Path(folder.name) / "data"
        self.codeflare("up", "--detach", "--fake-nodes", "1", "--cpus", "5", "--memory", "8Gi", "--data-dir", self.data, "--no-kubeconfig",
                       "--listen", "127.0.0.1:0")
        self.addCleanup(self.codeflare, "down", "--data-dir", self.data)

    def codeflare(self, *words):
        run = subprocess.run([CODEFLARE, *map(str, words)], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        self.assertEqual(run.returncode, 0, f"{words}: {run.stderr}")
        return run.stdout

    def on_cluster(self, *words):
        return self.codeflare(*words, "--kubeconfig", self.data / "admin.kubeconfig")

    def wait_for_state(self, name, state):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            items = json.loads(self.on_cluster("list", "appwrapper", "-o", "json"))["items"]
            found = next((one["status"] for one in items if one["metadata"]["name"] == name and "status" in one), {})
            if found.get("state") == state:
                return found
            self.assertLess(time.monotonic(), deadline, f"{name}: {found}")
            time.sleep(0.1)

    def test_the_second_waits_until_the_first_is_deleted(self):
        self.on_cluster("create", "-f", EXAMPLES / "aw-raycluster.yaml")
        self.wait_for_state("raycluster-complete", "Running")
        self.on_cluster("create", "-f", EXAMPLES / "aw-raycluster-1.yaml")
        waits = self.wait_for_state("raycluster-complete-1", "Pending")
        self.assertFalse(waits.get("canrun", False))
        self.on_cluster("delete", "appwrapper", "raycluster-complete")
        self.wait_for_state("raycluster-complete-1", "Running")


if __name__ == "__main__":
    CODEFLARE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
