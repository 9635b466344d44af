#!/usr/bin/env python3
"""Real Ray (PyPI) on `codeflare up`: a virtual environment stands for its image, our controller makes head and worker, and Ray counts both. Ray's own log
files, fetched by `codeflare logs raycluster --out-dir`, show that each node takes the limit of its container for its memory."""

import pathlib
import re
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parent / "apiserver" / folder) for folder in ("clients", "kubectl")]

import environment  # noqa: E402
import programs  # noqa: E402
import up_test  # noqa: E402
from pod_case import PodCase  # noqa: E402
from up_test import PODS  # noqa: E402

CLUSTERS = "/apis/ray.io/v1/namespaces/default/rayclusters"
PATIENCE_SECONDS = 600
MEMORY = 4 << 30
QUIET = [{"name": "RAY_USAGE_STATS_ENABLED", "value": "0"}]  # there is no way to where they would go


def group(name, memory, **more):
    size = {"cpu": "1", "memory": memory}
    container = {"name": name, "image": "rayproject/ray:2.60.0", "env": QUIET, "resources": {"limits": size, "requests": size}}
    return {"rayStartParams": {}, "template": {"spec": {"containers": [container]}}, **more}


CLUSTER = {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "demo"}, "spec": {
    "rayVersion": "2.60.0", "headGroupSpec": group("ray-head", "4Gi"),
    "workerGroupSpecs": [group("ray-worker", "4Gi", groupName="small", replicas=1, minReplicas=0, maxReplicas=1)]}}


def nodes_in(status):
    """How many nodes `ray status` counts, at work or idle: the lines below these headings."""
    parts = re.findall(r"^(?:Active|Idle):\n((?: .*\n)*)", status, re.MULTILINE)
    return sum(int(count) for part in parts for count in re.findall(r"^ (\d+) \S+$", part, re.MULTILINE))


class Ray(PodCase):
    def ray_status(self, head):
        words = [KUBECTL, "--kubeconfig", self.cluster.kubeconfig, "exec", head, "-c", "ray-head", "--", "ray", "status"]
        run = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        self.said = run.stdout + run.stderr
        return run.stdout

    def check_memory(self):
        folder = self.scratch / "logs"
        words = [up_test.PROGRAM, "logs", "raycluster", "demo", "--out-dir", str(folder), "--kubeconfig", self.cluster.kubeconfig]
        run = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        self.assertEqual(run.returncode, 0, run.stderr)
        nodes = sorted(folder.iterdir())
        self.assertEqual([re.sub(r"-\w{5}$", "", one.name) for one in nodes], ["demo-head", "demo-small-worker"])
        for node in nodes:
            self.assertRegex(run.stdout, rf"{node.name}: \d+ files")
            log = (node / "raylet.out").read_text()
            # 30 % of what the limit leaves.
            store = re.search(r"Allowing the Plasma store to use up to ([\d.]+)GB", log)
            self.assertTrue(store and 0.9 < float(store[1]) <= 0.3 * MEMORY / 1e9, store)
            self.assertIn("Starting object store with directory /dev/shm,", log)
            self.assertRegex(log, rf"MemoryMonitor initialized .*total system memory bytes: {MEMORY}\b")
            for path in node.rglob("*"):
                self.assertNotRegex(path.read_text(errors="replace") if path.is_file() else "", r"(?i)negative used memory", path)

    def test_head_and_worker_are_one_cluster(self):
        self.start("--cpus", "4", "--memory", "10Gi")
        self.add_image("rayproject/ray:*", "--python-venv", str(VENV))
        self.cluster.post(CLUSTERS, CLUSTER)
        self.said = ""
        try:
            status = self.cluster.wait_for(CLUSTERS + "/demo", lambda found: found.get("status", {}).get("state") == "ready", PATIENCE_SECONDS)["status"]
            self.assertEqual(status["readyWorkerReplicas"], 1)
            head, = self.cluster.get(PODS + "?labelSelector=ray.io/node-type=head")["items"]
            # Ray's own count comes a moment after its nodes.
            self.cluster.wait_until(lambda: nodes_in(self.ray_status(head["metadata"]["name"])) == 2, PATIENCE_SECONDS)
            self.check_memory()
        except AssertionError:
            print(self.said, *self.logs().values(), sep="\n", file=sys.stderr)
            raise


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    KUBECTL = programs.find_kubectl("1.34")
    VENV = environment.python(HERE / "ray" / "requirements.txt").parents[1]
    unittest.main()
