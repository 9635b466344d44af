#!/usr/bin/env python3
"""platform_test.py CODEFLARE: mission 002 on `codeflare up`: hack/up.sh, every Run of tests/runs on real Ray, qiskit, torch and S3, hack/down.sh."""

import os
import pathlib
import re
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True

import charts  # noqa: E402
from charts import ROOT  # noqa: E402

sys.path.append(str(ROOT / "tests/apiserver/clients"))
import environment  # noqa: E402

EXAMPLES = "codeflare-watsonxai-examples"


class Platform(unittest.TestCase):
    def setUp(self):
        folder = charts.fresh_folder()
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)
        venv = environment.python(ROOT / "hack/requirements.txt").parents[1]
        self.environment = {**os.environ, "PATH": f"{charts.tools('helm', 'kubectl', 'versitygw')}:{os.environ['PATH']}", "HOME": str(self.at),
                            "UP_DIR": str(self.at / "up"), "CODEFLARE": str(charts.static_program()), "RAY_VENV": str(venv), "LOCAL": "1", "S3": "1"}
        self.environment.pop("KUBECONFIG", None)

    def call(self, *words):
        run = subprocess.run([*map(str, words)], env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=1500)
        self.assertEqual(run.returncode, 0, f"{words}\n{run.stdout}{run.stderr}")
        return run.stdout

    def test_runs_end_as_they_should(self):
        self.call(ROOT / "hack/build.sh")
        began = time.monotonic()
        said = self.call(ROOT / "hack/up.sh")
        took = time.monotonic() - began
        print(f"hack/up.sh took {took:.1f} s", file=sys.stderr)
        self.addCleanup(self.call, ROOT / "hack/down.sh")
        self.assertRegex(said, r"codeflare-platform-\S+ +1/1 +Running")
        kubectl = ["kubectl", "--kubeconfig", str(self.at / "up/admin.kubeconfig")]
        with open(self.at / "watch", "w", encoding="utf-8") as log:
            watch = subprocess.Popen([*kubectl, "get", "runs", "-n", EXAMPLES, "-w"], env=self.environment, stdout=log)
            self.addCleanup(watch.wait)
            self.addCleanup(watch.terminate)
            tests = self.call(ROOT / "tests/kind/deploy-tests.sh", "--until-done")
        self.assertEqual(len(re.findall(r"^==> PASS ", tests, re.M)), len(list((ROOT / "tests/runs").rglob("*.yaml"))), tests)
        rows = (self.at / "watch").read_text()
        moved = set(re.findall(r"^lightning .* (\d+ +\d+%)", rows, re.M))
        self.assertGreaterEqual(len(moved), 2, rows)
        self.call(ROOT / "tests/kind/undeploy-tests.sh")
        self.call(ROOT / "hack/down.sh")
        self.assertFalse((self.at / "up").exists())
        left = subprocess.run(["pgrep", "-f", str(self.at / "up")], capture_output=True, text=True).stdout
        self.assertEqual(left, "", "no process is left")
        self.assertNotIn(str(self.at / "up"), pathlib.Path("/proc/mounts").read_text(), "no mount is left")
        self.assertFalse((self.at / ".kube/config").exists(), "no context is left")


if __name__ == "__main__":
    sys.argv.pop(1)
    unittest.main()
