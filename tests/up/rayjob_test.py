#!/usr/bin/env python3
"""Real Ray (PyPI) on `codeflare up`: RayJobs bring their clusters, are submitted by a pod or by the controller, and take them down again."""

import json
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
from ray_test import PATIENCE_SECONDS, group  # noqa: E402

JOBS = "/apis/ray.io/v1/namespaces/default/rayjobs"
CLUSTERS = "/apis/ray.io/v1/namespaces/default/rayclusters"
# Characters for a shell that Kubernetes must not read: quotes, && and dollars.
WORK = """python -c "import ray; ray.init(); print('answer', ray.get(ray.remote(lambda: 6 * 7).remote()))" && echo "in $(($NUMBER + 1))" """

TRAIN = "import os, ray\nray.init()\nprint('answer', ray.get(ray.remote(lambda: int(os.environ['NUMBER']) * 7).remote()))\n"


def ray_job(name, **spec):
    cluster = {"rayVersion": "2.60.0", "headGroupSpec": group("ray-head", "3Gi")}
    return {"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": {"name": name}, "spec": {
        "shutdownAfterJobFinishes": True, "rayClusterSpec": cluster, **spec}}


def codeflare(kubeconfig, folder, *words):
    return subprocess.run([up_test.PROGRAM, *words], cwd=folder, env={**os.environ, "KUBECONFIG": kubeconfig}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=PATIENCE_SECONDS)


class RayJobs(PodCase):
    def ended(self, name):
        status = self.cluster.wait_for(f"{JOBS}/{name}", lambda found: found.get("status", {}).get("jobDeploymentStatus")
                                       in ("Complete", "Failed", "ValidationFailed"), PATIENCE_SECONDS)["status"]
        self.cluster.wait_until(lambda: not self.cluster.get(CLUSTERS)["items"], PATIENCE_SECONDS)
        return status

    def test_jobs_bring_their_clusters(self):
        self.start("--cpus", "4", "--memory", "8Gi")
        self.add_image("rayproject/ray:*", "--python-venv", str(VENV))
        try:
            self.cluster.post(JOBS, ray_job("train", entrypoint=WORK, runtimeEnvYAML="env_vars: {NUMBER: '6'}"))
            status = self.ended("train")
            self.assertEqual((status["jobStatus"], status["jobDeploymentStatus"], status["succeeded"]), ("SUCCEEDED", "Complete", 1), status)
            # Its cluster is gone, its log is not.
            log, = self.logs("?labelSelector=job-name=train").values()
            self.assertIn("answer 42\nin 7\n", log)
            self.cluster.post(JOBS, ray_job("broken", entrypoint="exit 3", submissionMode="HTTPMode"))
            status = self.ended("broken")
            self.assertEqual((status["jobStatus"], status["jobDeploymentStatus"], status["reason"]), ("FAILED", "Failed", "AppFailed"), status)
            self.assertIn("exit code 3", status["message"])
        except AssertionError:
            print(*self.logs().values(), sep="\n", file=sys.stderr)
            raise

    def test_a_submitted_job_brings_its_cluster_and_its_code(self):
        self.start("--cpus", "4", "--memory", "8Gi")
        self.add_image("rayproject/ray:*", "--python-venv", str(VENV))
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "train.py").write_text(TRAIN)

            def run(*words):
                done = codeflare(self.cluster.kubeconfig, folder, *words)
                self.said = done.stdout + done.stderr
                return done

            sizes = ("--workers", "0", "--head-memory", "3Gi", "--head-cpu", "1")
            done = run("submit", "job", "train", "--own-cluster", *sizes, "--env", "NUMBER=6", "--working-dir", ".", "-f", "--", "python", "train.py")
            self.assertEqual(done.returncode, 0, self.said)
            self.assertIn("answer 42\n", done.stdout)
            self.assertIn("job/train Succeeded", done.stderr)
            # No client takes part in the end.
            self.cluster.wait_until(lambda: not self.cluster.get(CLUSTERS)["items"], PATIENCE_SECONDS)
            self.assertIn("answer 42\n", run("logs", "job", "train").stdout, self.said)
            done = run("submit", "job", "broken", "--own-cluster", *sizes, "--wait", "--", "exit 3")
            self.assertEqual(done.returncode, 1, self.said)
            self.assertEqual(json.loads(run("status", "job", "broken", "-o", "json").stdout)["exitCode"], 3, self.said)
            self.assertIn("ray-own", run("list", "job").stdout, self.said)
            self.assertEqual(run("delete", "job", "train").returncode, 0, self.said)
            self.assertEqual(run("status", "job", "train").returncode, 3, self.said)


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    VENV = environment.python(HERE / "ray" / "requirements.txt").parents[1]
    unittest.main()
