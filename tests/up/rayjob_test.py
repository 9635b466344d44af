#!/usr/bin/env python3
"""Real Ray (PyPI) on `codeflare up`: RayJobs bring their clusters, are submitted by a pod or by the controller, and take them down again."""

import pathlib
import sys
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
# What a shell reads, and Kubernetes must not: quotes, && and dollars.
WORK = """python -c "import ray; ray.init(); print('answer', ray.get(ray.remote(lambda: 6 * 7).remote()))" && echo "in $(($NUMBER + 1))" """


def ray_job(name, **spec):
    cluster = {"rayVersion": "2.60.0", "headGroupSpec": group("ray-head", "3Gi")}
    return {"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": {"name": name}, "spec": {
        "shutdownAfterJobFinishes": True, "rayClusterSpec": cluster, **spec}}


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


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    VENV = environment.python(HERE / "ray" / "requirements.txt").parents[1]
    unittest.main()
