#!/usr/bin/env python3
"""elastic_mission_test.py CODEFLARE KUBECTL: the commands of docs/lattice.md as a user types them, with kubectl and make, on `codeflare up`; KUBECTL is
a path or a version as in tests/apiserver/kubectl."""

import json
import os
import pathlib
import re
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent / "apiserver" / "kubectl")]

import programs  # noqa: E402
import up_test  # noqa: E402
from pod_case import PodCase  # noqa: E402

EXAMPLE = ROOT / "examples/lattice/env/trainingjob.yaml"
PATIENCE_SECONDS = 120


class Mission(PodCase):
    def run_command(self, *words, **how):
        environment = {**os.environ, "KUBECONFIG": self.cluster.kubeconfig}
        run = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS, **how)
        self.assertEqual(run.returncode, 0, f"{words}\n{run.stdout}\n{run.stderr}")
        return run.stdout

    def kubectl(self, *words):
        return self.run_command(KUBECTL, *words)

    def workers(self):
        """UID and restarts of each that is ready."""
        found = json.loads(self.kubectl("get", "pods", "-l", "breezeml.ai/job=trainingjob-example", "-o", "json"))["items"]
        return {one["metadata"]["name"]: (one["metadata"]["uid"], one["status"]["containerStatuses"][0]["restartCount"]) for one in found
                if "deletionTimestamp" not in one["metadata"] and any(c["type"] == "Ready" and c["status"] == "True" for c in one["status"].get("conditions", []))}

    def wait_for_workers(self, count):
        until = time.monotonic() + PATIENCE_SECONDS
        while len(found := self.workers()) != count:
            self.assertLess(time.monotonic(), until, f"{found}\n{self.kubectl('get', 'tj', '-o', 'yaml')}")
            time.sleep(0.2)
        return found

    def edited(self, smallest, largest):
        text = re.sub(r"minSize: \d+", f"minSize: {smallest}", EXAMPLE.read_text())
        path = self.scratch / "trainingjob.yaml"
        path.write_text(re.sub(r"maxSize: \d+", f"maxSize: {largest}", text))
        return str(path)

    def test_install_create_modify_and_delete(self):
        self.start("--cpus", "4")
        self.run_command("make", "install", f"CODEFLARE={up_test.PROGRAM}", cwd=ROOT)
        self.assertIn("trainingjobs.breezeml.ai", self.kubectl("get", "crds"))
        self.kubectl("apply", "-f", str(EXAMPLE))
        first = self.wait_for_workers(3)
        state, size, priority = self.kubectl("get", "trainingjobs", "--no-headers").split()[1:4]
        self.assertEqual((state, size, priority), ("Running", "3", "0"))
        self.kubectl("apply", "-f", self.edited(2, 4))
        grown = self.wait_for_workers(4)
        self.assertEqual({name: grown[name] for name in first}, first, "survivors keep UID and restarts")
        self.kubectl("apply", "-f", self.edited(1, 2))
        shrunk = self.wait_for_workers(2)
        self.assertEqual({name: grown[name] for name in shrunk}, shrunk, "survivors keep UID and restarts")
        self.kubectl("scale", "tj/trainingjob-example", "--replicas", "1")
        self.wait_for_workers(1)
        self.kubectl("delete", "-f", self.edited(1, 2))
        self.assertNotIn("trainingjob-example", self.kubectl("get", "tj"))
        self.wait_for_workers(0)

    def test_definitions_and_documents_are_written(self):
        self.start("--cpus", "1")
        before = (ROOT / "docs/api/trainingjob.md").read_text()
        self.run_command("make", "api", "doc", cwd=ROOT)
        self.assertEqual((ROOT / "docs/api/trainingjob.md").read_text(), before, "docs/api is out of date")
        self.run_command("make", "manifests", cwd=ROOT)
        self.kubectl("apply", "--dry-run=server", "-f", str(ROOT / "build/manifests/breezeml.ai_trainingjobs.yaml"))


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    KUBECTL = programs.find_kubectl(sys.argv.pop(1))
    unittest.main()
