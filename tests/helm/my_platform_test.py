#!/usr/bin/env python3
"""my_platform_test.py CODEFLARE: examples/my_platform as docs/helm.md installs it on `codeflare up`: with the platform as its dependency, and as a
release beside one. Each time a Run of its Application completes. Nodes of `codeflare up` know the image of the program by themselves."""

import pathlib
import shutil
import sys
import unittest

sys.dont_write_bytecode = True

import charts  # noqa: E402
from charts import ROOT, Commands, Up  # noqa: E402

NAMESPACE = "codeflare-system"
LIMIT = ("--wait", "--timeout", "170s")


class MyPlatform(unittest.TestCase):
    def setUp(self):
        folder = charts.fresh_folder()
        self.addCleanup(folder.cleanup)
        at = pathlib.Path(folder.name)
        # The dependency is beside the example, as in the tree, which stays as it is.
        shutil.copytree(ROOT / "platform", at / "platform")
        self.chart = at / "examples/my_platform"
        shutil.copytree(ROOT / "examples/my_platform", self.chart, ignore=shutil.ignore_patterns("charts", "Chart.lock"))
        up = Up(PROGRAM, at)
        self.addCleanup(up.stop)
        self.commands = Commands(up.kubeconfig, charts.tools("helm", "kubectl"), PROGRAM, at)

    def test_one_release_brings_the_platform_and_what_runs_on_it(self):
        self.install("mine", self.chart, "--create-namespace", "--dependency-update")
        self.assertEqual(self.commands.get("deployment", "mine-codeflare", "-n", NAMESPACE)["status"]["readyReplicas"], 1)
        self.check()
        self.commands.helm("uninstall", "mine", "-n", NAMESPACE, *LIMIT)
        self.assertEqual(self.commands.names("applications.codeflare.dev", "-n", NAMESPACE), set())

    def test_a_release_of_its_own_stands_beside_the_platform(self):
        self.install("codeflare", ROOT / "platform", "--create-namespace")
        self.install("mine", self.chart, "--dependency-update", "--set", "platform.enabled=false")
        self.assertEqual(self.commands.names("deployments", "-n", NAMESPACE), {"deployment.apps/codeflare"})
        self.check()
        self.commands.helm("uninstall", "mine", "-n", NAMESPACE, *LIMIT)
        self.assertEqual(self.commands.get("deployment", "codeflare", "-n", NAMESPACE)["status"]["readyReplicas"], 1)

    def install(self, release, chart, *options):
        self.commands.helm("install", release, chart, "-n", NAMESPACE, *options, *LIMIT)

    def check(self):
        run = self.commands
        self.assertRegex(run.codeflare("list", "sizes"), r"sm +1 +500m +512Mi +0 +RunSizeConfiguration my-platform")
        run.wait_for("a fetched image", lambda: run.get("image.codeflare.dev", "debian", "-n", NAMESPACE).get("status", {}).get("ready") == "1/1")
        run.codeflare("submit", "run", "-n", "default", "-a", f"{NAMESPACE}/count-words", "--name", "count", "--wait")
        self.assertEqual(run.codeflare("logs", "run", "count", "-n", "default"), "9 /mnt/datasets/poem/poem.txt\n")
        run.codeflare("delete", "run", "count", "-n", "default")


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
