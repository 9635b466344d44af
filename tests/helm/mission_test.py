#!/usr/bin/env python3
"""mission_test.py CODEFLARE: mission 003 word for word on `codeflare up`, from `make docker-build` to `kubectl get deployment`, with `codeflare image load` in
the place of `minikube image load`; then both charts side by side: one controller leads, and a RayCluster gets each of its pods once."""

import os
import pathlib
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True

import charts  # noqa: E402
from charts import ROOT, VERSION, Commands, Up  # noqa: E402

POD = "{spec: {containers: [{name: ray, image: any, command: [sleep, '600'], resources: {requests: {cpu: 10m}}}]}}"
RAY = f"""
apiVersion: ray.io/v1
kind: RayCluster
metadata: {{name: r, namespace: default, annotations: {{ray.io/overwrite-container-cmd: "true"}}}}
spec:
  headGroupSpec: {{rayStartParams: {{}}, template: {POD}}}
  workerGroupSpecs: [{{groupName: g, replicas: 3, minReplicas: 1, maxReplicas: 9, rayStartParams: {{}}, template: {POD}}}]
"""
TRAINING = """
apiVersion: breezeml.ai/v1
kind: TrainingJob
metadata: {name: short, namespace: default}
spec:
  injectLattice: true
  replicaSpecs:
    template:
      spec:
        containers: [{name: trainingjob, image: any, command: [sh, -c, "sleep 2"], resources: {requests: {cpu: 100m}, limits: {cpu: 100m}}}]
"""


class Mission(unittest.TestCase):
    def setUp(self):
        tools = charts.tools("helm", "kubectl")
        self.program = charts.static_program()
        folder = charts.fresh_folder()
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)
        self.up = Up(self.program, self.at)
        self.addCleanup(self.up.stop)
        self.run_it = Commands(self.up.kubeconfig, tools, self.program, self.at)

    def test_the_operator_from_make_to_a_ready_deployment(self):
        # A docker client without a daemon is on some machines: the archive is written then.
        environment = {**os.environ, "PATH": f"{self.stand_ins()}:{os.environ['PATH']}"}
        out = subprocess.run(["make", "docker-build"], cwd=ROOT, env=environment, check=True, capture_output=True, text=True).stdout
        self.assertIn(f"lattice-operator-internal:{VERSION}", out)
        self.run_it.codeflare("image", "load", ROOT / f"build/image/codeflare-{VERSION}.tar", "--data-dir", self.up.data)
        chart = ROOT / "helm/lattice-operator"
        self.run_it.helm("install", "operator", chart, "--namespace", "lattice", "--create-namespace", "--set", "imagePullPolicy=Never",
                         "--set", "jfrog.username=me", "--set", "jfrog.password=s3cret", "--wait", "--timeout", "120s")
        shown = self.run_it.kubectl("get", "deployment", "lattice-operator", "--namespace", "lattice")
        self.assertRegex(shown, r"lattice-operator +1/1")
        # One leader per cluster: `codeflare up`. Differing settings are named.
        log = self.run_it.wait_for("the comparison", lambda: self.log_with("settings have no effect"))
        self.assertIn("standing by: another controller leads", log)
        self.assertIn("resource-scheduling-unit: node here, default at the leader", log)
        self.runs_the_archive("deployment/lattice-operator")
        self.train()
        self.assertNotIn("s3cret", log + self.run_it.kubectl("get", "configmaps,deployments,pods", "-n", "lattice", "-o", "yaml"))
        self.one_leader()
        self.run_it.helm("uninstall", "operator", "--namespace", "lattice", "--wait")

    def log_with(self, text):
        log = self.run_it.kubectl("logs", "-n", "lattice", "deployment/lattice-operator")
        return log if text in log else ""

    def runs_the_archive(self, target):
        """It has the program and no shell; an image that the nodes know by themselves has this machine's files."""
        on = ("exec", "-n", "lattice", target, "--")
        self.assertIn(VERSION, self.run_it.kubectl(*on, "/usr/bin/codeflare", "version"))
        self.assertIn("no such file", self.run_it.kubectl(*on, "/bin/sh", "-c", "true", fails=True))

    def train(self):
        run = self.run_it
        run.kubectl("apply", "-f", "-", stdin=TRAINING)
        run.wait_for("a finished TrainingJob", lambda: run.get("trainingjob", "short", "-n", "default").get("status", {}).get("stage") == "Completed")
        run.wait_for("its usage", lambda: "usage" in run.get("trainingjob", "short", "-n", "default")["status"])
        run.kubectl("delete", "trainingjob", "short", "-n", "default", "--timeout=60s")

    def one_leader(self):
        run = self.run_it
        run.helm("install", "codeflare", ROOT / "platform", "-n", "codeflare-system", "--create-namespace", "--wait", "--timeout", "120s")
        run.kubectl("create", "-f", "-", stdin=RAY)
        # Workers wait for the head, in which no Ray runs here.
        run.wait_for("a running head", lambda: any(one["status"].get("phase") == "Running" for one in run.get("pods", "-n", "default")["items"]))
        run.wait_for("four pods", lambda: len(run.names("pods", "-n", "default")) == 4)
        seen = [event["involvedObject"] for event in run.get("events", "-n", "default")["items"]]
        pods = {f"pod/{about['name']}" for about in seen if about["kind"] == "Pod" and about["name"].startswith("r-")}
        self.assertLessEqual(pods, run.names("pods", "-n", "default"), "a pod that was made and removed")
        run.kubectl("delete", "raycluster", "r", "-n", "default", "--timeout=60s")
        run.helm("uninstall", "codeflare", "-n", "codeflare-system", "--wait")

    def stand_ins(self):
        folder = self.at / "bin"
        folder.mkdir()
        for name in ("docker", "podman", "buildah"):
            (folder / name).write_text("#!/bin/sh\nexit 1\n")
            (folder / name).chmod(0o755)
        return folder


if __name__ == "__main__":
    sys.argv.pop(1)
    unittest.main()
