"""run_handover.py CODEFLARE: the rounds of handover_test, inside the environment that has the Python client."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "clients"), str(HERE.parents[1] / "kubernetes")]

from kubernetes import client, config, watch  # noqa: E402

import operator_process  # noqa: E402
from harness import build  # noqa: E402
from server import eventually  # noqa: E402

ROUNDS = int(os.environ.get("ROUNDS", "2"))
NAMESPACE = "default"
PATIENCE_SECONDS = 180  # a minute until KubeRay counts as gone, the rest for a busy machine
HEADS = "ray.io/node-type=head"


class Up:
    def __init__(self, program, folder):
        self.log = folder / "up.log"
        command = [program, "up", "--listen", "127.0.0.1:0", "--data-dir", folder / "data", "--no-kubeconfig", "--nodes", "0", "--fake-nodes", "8", "--cpus", "64"]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True)
        for line in self.process.stdout:
            if line.startswith("kubeconfig "):
                self.kubeconfig = line.removeprefix("kubeconfig ").strip()
            if line.startswith("  codeflare queue "):  # the last of its advice
                return
        raise AssertionError("up did not start: " + self.log.read_text()[-2000:])

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


class Heads(threading.Thread):
    """Follows every change of a head in the order in which the server made them; no moment is missed."""

    def __init__(self, core):
        super().__init__(daemon=True)
        self.core = core
        self.lock = threading.Lock()
        self.live = {}  # names of heads by cluster, without those that are being deleted
        self.seen = {}  # every head that a cluster ever had
        self.twice = []
        self.problem = None
        self.version = core.list_namespaced_pod(NAMESPACE, label_selector=HEADS).metadata.resource_version

    def run(self):
        try:
            while True:
                for event in watch.Watch().stream(self.core.list_namespaced_pod, NAMESPACE, label_selector=HEADS, resource_version=self.version, timeout_seconds=300):
                    self.take(event["type"], event["object"])
        except Exception as problem:  # told by check()
            self.problem = problem

    def take(self, kind, pod):
        name, cluster = pod.metadata.name, pod.metadata.labels["ray.io/cluster"]
        with self.lock:
            self.version = pod.metadata.resource_version
            heads = self.live.setdefault(cluster, set())
            if kind == "DELETED" or pod.metadata.deletion_timestamp:
                heads.discard(name)
                return
            heads.add(name)
            self.seen.setdefault(cluster, set()).add(name)
            if len(heads) > 1:
                self.twice.append((cluster, sorted(heads)))

    def check(self):
        with self.lock:
            assert self.problem is None, self.problem
            assert not self.twice, f"two heads: {self.twice}"

    def missing(self, clusters):
        self.check()
        with self.lock:
            return [name for name in clusters if not self.live.get(name)]


def ray_cluster(name):
    template = {"spec": {"containers": [{"name": "ray", "image": "rayproject/ray:2.52.0", "resources": {"requests": {"cpu": "100m"}, "limits": {"cpu": "100m"}}}]}}
    group = {"groupName": "small", "replicas": 1, "minReplicas": 0, "maxReplicas": 2, "rayStartParams": {}, "template": template}
    return {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": name}, "spec": {
        "rayVersion": "2.52.0", "headGroupSpec": {"rayStartParams": {}, "template": template}, "workerGroupSpecs": [group]}}


class Test:
    def __init__(self, up, folder):
        self.up, self.folder = up, folder
        self.api = config.new_client_from_config(config_file=up.kubeconfig)
        self.core = client.CoreV1Api(self.api)
        self.custom = client.CustomObjectsApi(self.api)
        self.program = build.ensure(["kuberay"]) / "kuberay-operator"
        operator_process.install(self.api, folder / "discovery.json", force=True)
        self.operator_kubeconfig = folder / "operator.kubeconfig"
        operator_process.write_kubeconfig(up.kubeconfig, self.api, self.operator_kubeconfig)
        self.heads = Heads(client.CoreV1Api(config.new_client_from_config(config_file=up.kubeconfig)))
        self.heads.start()
        self.made = []

    def make(self, name):
        self.custom.create_namespaced_custom_object("ray.io", "v1", NAMESPACE, "rayclusters", ray_cluster(name))
        self.made.append(name)

    def make_until(self, prefix, leads, seconds_more):
        """One after another, until `leads` and some seconds longer."""
        end = None
        for number in range(100_000):
            self.make(f"{prefix}-{number}")
            if end is None and leads():
                end = time.monotonic() + seconds_more
            if end is not None and time.monotonic() > end:
                return
            time.sleep(0.1)

    def all_have_a_head(self, who):
        eventually(lambda: not self.heads.missing(self.made), lambda: f"{who}: no head of {self.heads.missing(self.made)}\n{self.up.log.read_text()[-3000:]}",
                   PATIENCE_SECONDS)

    def clear(self):
        self.custom.delete_collection_namespaced_custom_object("ray.io", "v1", NAMESPACE, "rayclusters")
        eventually(lambda: not self.core.list_namespaced_pod(NAMESPACE, limit=1).items, "pods of deleted clusters are gone", PATIENCE_SECONDS)
        self.made = []

    def lead(self):
        """The holder of the operator's Lease."""
        leases = client.CoordinationV1Api(self.api).list_namespaced_lease(operator_process.NAMESPACE).items
        return next((lease.spec.holder_identity for lease in leases if lease.metadata.name == "ray-operator-leader"), None)

    def round(self, number):
        self.make(f"r{number}-before")
        self.all_have_a_head("ours, before KubeRay")
        before, log = self.lead(), self.folder / f"operator-{number}.log"
        operator = operator_process.Operator(self.program, self.operator_kubeconfig, log)
        try:
            self.make_until(f"r{number}-while", lambda: self.lead() != before, 3)
            assert operator.process.poll() is None, operator.text()[-3000:]
            self.all_have_a_head("KubeRay")
        finally:
            operator.process.send_signal(signal.SIGTERM if number % 2 else signal.SIGKILL)
            operator.process.wait(60)
        assert "Created head Pod for RayCluster" in operator.text(), "KubeRay made no head: " + operator.text()[-3000:]
        self.make(f"r{number}-after")
        self.all_have_a_head("ours, after KubeRay")
        again = {name: heads for name, heads in self.heads.seen.items() if len(heads) > 1}
        assert not again, f"a head was made anew: {again}"
        print(f"round {number}: {len(self.made)} clusters, one head each", flush=True)
        self.clear()


def main():
    program = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="codeflare-handover-") as name:
        up = Up(program, Path(name))
        try:
            test = Test(up, Path(name))
            for number in range(ROUNDS):
                test.round(number)
            test.heads.check()
        except BaseException:
            print(up.log.read_text()[-4000:])
            raise
        finally:
            code = up.stop()
        assert code == 0, up.log.read_text()[-4000:] if up.log.exists() else code
    return 0


if __name__ == "__main__":
    sys.exit(main())
