#!/usr/bin/env python3
"""Ray's own autoscaler (PyPI) on `codeflare up`: work that needs more than the minimum brings a worker beyond the AppWrapper's plan; idle it goes."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parent / "apiserver" / folder) for folder in ("clients", "kubectl")]

import environment  # noqa: E402
import up_test  # noqa: E402
from pod_case import PodCase  # noqa: E402
from up_test import PODS  # noqa: E402

CLUSTERS = "/apis/ray.io/v1/namespaces/default/rayclusters"
WORKERS = PODS + "?labelSelector=ray.io/node-type=worker"
PATIENCE_SECONDS = 900
# The head has one CPU, so the task waits until the autoscaler has added a worker.
TASK = "import ray; ray.init(); f = ray.remote(num_cpus=2)(lambda: 42); print('answer', ray.get(f.remote()))"


class Autoscaler(PodCase):
    def codeflare(self, *words):
        run = subprocess.run([up_test.PROGRAM, *words], cwd=self.work, env={**os.environ, "KUBECONFIG": str(self.cluster.kubeconfig)},
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return run.stdout

    def test_work_brings_a_worker_that_goes_when_it_is_idle(self):
        self.start("--cpus", "6", "--memory", "12Gi")
        self.add_image("rayproject/ray:*", "--python-venv", str(VENV))
        with tempfile.TemporaryDirectory() as self.work:
            self.codeflare("define", "raycluster", "auto", "--workers", "0", "--autoscaling", "--min-workers", "0", "--max-workers", "1", "--head-cpu", "1",
                           "--head-memory", "3", "--cpu", "2", "--memory", "2", "--env", "RAY_USAGE_STATS_ENABLED=0")
            file = pathlib.Path(self.work, "auto.yaml")
            text = file.read_text()
            # A minute of idleness is long for a test.
            self.assertIn("idleTimeoutSeconds: 60", text)
            file.write_text(text.replace("idleTimeoutSeconds: 60", "idleTimeoutSeconds: 5"))
            try:
                self.codeflare("create", "raycluster", "auto", "--wait", "--timeout", str(PATIENCE_SECONDS))
                head, = self.cluster.get(PODS + "?labelSelector=ray.io/node-type=head")["items"]
                self.assertEqual([one["name"] for one in head["spec"]["containers"]][1:], ["autoscaler"])
                self.assertEqual(head["spec"]["serviceAccountName"], "auto")
                self.assertEqual(self.cluster.get(WORKERS)["items"], [])
                log = self.codeflare("submit", "job", "task", "-c", "auto", "-f", "--", "python", "-c", TASK)
                self.assertIn("answer 42", log)
                # The request of the autoscaler stays in the cluster's history, however soon the worker goes.
                self.cluster.wait_for(CLUSTERS + "/auto", lambda found: found["metadata"]["generation"] > 1, PATIENCE_SECONDS)
                self.cluster.wait_for(WORKERS, lambda found: found["items"] == [], PATIENCE_SECONDS)
                self.assertEqual(self.cluster.get(CLUSTERS + "/auto")["spec"]["workerGroupSpecs"][0]["replicas"], 0)
            except AssertionError:
                print(*self.logs().values(), sep="\n", file=sys.stderr)
                raise


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    VENV = environment.python(HERE / "ray" / "requirements.txt").parents[1]
    unittest.main()
