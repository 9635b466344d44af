#!/usr/bin/env python3
"""mypy --strict on the package and on a typed example of its use, and stubtest on the extension.

types_test.py PYTHON: the package must be importable (PYTHONPATH).
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PACKAGE = pathlib.Path(__file__).resolve().parents[1] / "codeflare_sdk"
EXAMPLE = """
from codeflare_sdk import Cluster, ClusterConfiguration, CodeFlareClusterStatus, DDPJobDefinition, JobDetails, get_cluster

def train(name: str) -> list[JobDetails]:
    cluster: Cluster = Cluster(ClusterConfiguration(name=name, num_workers=2))
    cluster.up()
    status, ready = cluster.status()
    if status is CodeFlareClusterStatus.READY and ready:
        job = DDPJobDefinition(script="train.py", j="2x1").submit(get_cluster(name))
        text: str = job.logs()
        print(text, job.status().state.name)
    return cluster.list_jobs()
"""


class Types(unittest.TestCase):
    def check(self, *words, **variables):
        environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"} | variables
        with tempfile.TemporaryDirectory() as cache:
            run = subprocess.run(words, env={**environment, "MYPY_CACHE_DIR": cache}, cwd=cache, stdin=subprocess.DEVNULL, capture_output=True,
                                 text=True)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_the_package_is_typed(self):
        self.check(PYTHON, "-m", "mypy", "--strict", str(PACKAGE))

    def test_its_users_are_typed(self):
        with tempfile.TemporaryDirectory() as folder:
            example = pathlib.Path(folder) / "example.py"
            example.write_text(EXAMPLE)
            self.check(PYTHON, "-m", "mypy", "--strict", str(example), MYPYPATH=str(PACKAGE.parent))

    def test_the_stub_of_the_extension_is_true(self):
        self.check(PYTHON, "-m", "mypy.stubtest", "codeflare_sdk._core", **{key: os.environ[key] for key in ("LD_PRELOAD",) if key in os.environ})


if __name__ == "__main__":
    PYTHON = sys.argv.pop(1)
    unittest.main()
