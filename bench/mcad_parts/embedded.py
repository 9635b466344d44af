"""Dispatches a second of `codeflare up`: of a backlog that is let go, and of AppWrappers that are submitted meanwhile."""

import subprocess
import time

from api import Api
from harness.processes import cpu_seconds, resident_bytes
from live_cluster import Cluster, Failure, tell
from wrapped_jobs import Ledger, wrapped_job, wrappers_path

from report import PATIENCE_SECONDS, number, say

PODS_OF_NODE = 110


class Embedded:
    def __init__(self, folder, program, count, environment):
        self.folder, self.program, self.count = folder, program, count
        self.cluster = Cluster({**environment, "HOME": str(folder)})
        # Room for all of both loads.
        self.nodes = 2 * count // PODS_OF_NODE + 1

    def run(self):
        try:
            self.process = self.cluster.up(self.program, self.folder, "--fake-nodes", self.nodes, "--cpus", 64, "--memory", "256Gi")
            self.api = Api(self.cluster.environment["KUBECONFIG"], self.folder)
            backlog, stream = self.load("backlog"), self.load("stream")
        except Failure:
            tell(self.folder)
            raise
        finally:
            self.cluster.stop()
        print(f"\n| {self.count:,} AppWrappers, {self.nodes} fake nodes | a backlog, let go | while they are submitted |\n|---|---|---|")
        for what, value in backlog.items():
            print(f"| {what} | {number(value)} | {number(stream[what])} |", flush=True)

    def load(self, namespace):
        say(f"embedded, {namespace}")
        self.api.call("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
        ledger = Ledger(self.api, namespace)
        try:
            return self.measure(ledger, namespace, paused=namespace == "backlog")
        finally:
            ledger.ended()

    def measure(self, ledger, namespace, paused):
        if paused:
            self.queue("pause")
        began, server, generator = self.now()
        self.api.create_all(wrappers_path(namespace), (wrapped_job(f"{namespace}-{i}") for i in range(self.count)))
        submitted = time.monotonic() - began
        if paused:
            if ledger.count("Dispatched"):
                raise Failure("the paused queue dispatches")
            began, server, generator = self.now()
            self.queue("resume")
        ledger.await_stage("Dispatched", self.count, PATIENCE_SECONDS, self.alive)
        ledger.await_stage("Completed", self.count, PATIENCE_SECONDS, self.alive)
        dispatched = ledger.last("Dispatched") - began
        _, server_end, generator_end = self.now()
        return {
            "submitting them, s": submitted,
            "until all are Dispatched, s": dispatched,
            "dispatches/s": self.count / dispatched,
            "until all are Completed, s": ledger.last("Completed") - began,
            "CPU of `codeflare up`, s": server_end - server,
            "its resident memory, MB": resident_bytes(self.process.pid) / 1e6,
            "load generator's CPU, s": generator_end - generator,
        }

    def now(self):
        return time.monotonic(), cpu_seconds(self.process.pid), time.process_time()

    def queue(self, word):
        command = [self.program, "queue", word]
        done = subprocess.run(command, env=self.cluster.environment, capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            raise Failure(f"codeflare queue {word}: {done.stderr.strip()}")

    def alive(self):
        return self.process.poll() is None
