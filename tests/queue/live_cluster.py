"""A running cluster for tests and benchmarks of the queue: programs beside it, kubectl, nodes that kwok plays."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
KUBERNETES = ROOT / "tests/kubernetes/kubernetes"
sys.path.insert(0, str(KUBERNETES.parent))

from harness.processes import die_with_parent  # noqa: E402

PATIENCE_SECONDS = 120
MCAD = ("github.com/project-codeflare/multi-cluster-app-dispatcher", "v1.40.0")


class Failure(Exception):
    """A failure, for the caller."""


def module_folder(path, version):
    """Of a published Go module."""
    env = {**os.environ, "GOFLAGS": "-mod=mod"}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["go", "mod", "download", "-json", f"{path}@{version}"], env=env, cwd=folder, capture_output=True, text=True
        )
    answer = json.loads(done.stdout or "{}")
    if "Dir" not in answer:
        raise Failure(f"{path}: {answer.get('Error', done.stderr)}")
    return pathlib.Path(answer["Dir"])


def in_kubernetes(options, command):
    """Runs a command in a real control plane of its own, which ends with it; returns the exit code."""
    words = [KUBERNETES, "run", "--kwok", *options, "--", *command]
    return subprocess.run([str(word) for word in words], preexec_fn=die_with_parent(signal.SIGTERM)).returncode


class Cluster:
    def __init__(self, environment):
        self.environment = environment
        self.processes = []

    def start(self, log, words, **more):
        """Only from the main thread: what is started ends with the thread that did so."""
        with open(log, "a") as errors:
            process = subprocess.Popen(
                [str(word) for word in words], env=self.environment, stderr=errors, text=True,
                preexec_fn=die_with_parent(signal.SIGKILL), **more,
            )
        self.processes.append(process)
        return process

    def up(self, program, folder, *options):
        """`codeflare up` on fresh data; from here on kubectl and codeflare talk to it."""
        data = folder / "data"
        self.environment["KUBECONFIG"] = str(data / "admin.kubeconfig")
        words = [program, "up", "--data-dir", data, "--listen", "127.0.0.1:0", "--no-kubeconfig", *options]
        process = self.start(folder / "up.log", words, stdout=subprocess.PIPE)
        line = process.stdout.readline()
        if not re.fullmatch(r"ready https://\S+ in \d+ ms\n", line):
            raise Failure(f"codeflare up said {line!r}")
        return process

    def kubectl(self, *words, stdin=None):
        done = subprocess.run(
            ["kubectl", *words], env=self.environment, input=stdin, capture_output=True, text=True, timeout=60
        )
        if done.returncode != 0:
            raise Failure(f"kubectl {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def get(self, *words):
        return json.loads(self.kubectl("get", *words, "-o", "json"))

    def add_node(self, name, size):
        """One that kwok plays; returns when pods may go there."""
        node = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "annotations": {"kwok.x-k8s.io/node": "fake"}},
            "status": {"allocatable": size, "capacity": size},
        }
        self.kubectl("create", "-f", "-", stdin=json.dumps(node))
        wait_for(f"node {name}", lambda: (self.is_ready(name), None))

    def is_ready(self, node):
        node = self.get("node", node)
        conditions = {c["type"]: c["status"] for c in node["status"].get("conditions", [])}
        return conditions.get("Ready") == "True" and not node["spec"].get("taints")

    def end(self, process, number=signal.SIGTERM):
        """Exit code of one that was started here."""
        self.processes.remove(process)
        process.send_signal(number)
        try:
            return process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()

    def stop(self):
        """Exit codes, the last started first."""
        return [self.end(process) for process in self.processes[::-1]]


def wait_for(what, look, patience=PATIENCE_SECONDS):
    """The first true answer of `look`; the last false one is shown when there is none."""
    end = time.monotonic() + patience
    while True:
        done, seen = look()
        if done:
            return seen
        if time.monotonic() > end:
            raise Failure(f"{what}: not within {patience} s; last seen {json.dumps(seen)}")
        time.sleep(0.1)


def tell(folder):
    for log in sorted(folder.glob("*.log")):
        print(f"--- {log.name}\n{log.read_text(errors='replace')[-3000:]}")
