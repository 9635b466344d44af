"""A controller under measurement, and what a stretch of its work took."""

import subprocess
import time
import urllib.error
import urllib.request

from harness.processes import cpu_seconds, free_port, resident_bytes
from live_cluster import Failure, wait_for

# Of one core.
REST_SHARE = 0.2
REST_LOOK_SECONDS = 2
REST_SECONDS_MAX = 60
GARBAGE_COLLECTOR_SECONDS = 32
WRITES = tuple(f'verb="{verb}"' for verb in ("POST", "PUT", "PATCH", "DELETE", "APPLY"))


class System:
    """Started for one measurement and ended after it: `with` it."""

    def __init__(self, cluster, log, command, ready):
        self.cluster, self.log, self.command, self.ready = cluster, log, command, ready

    def __enter__(self):
        health = f"127.0.0.1:{free_port()}"
        words = [word.format(health=health) for word in self.command]
        self.process = self.cluster.start(self.log, words, stdout=subprocess.DEVNULL)
        wait_for(f"{words[0]} to be ready", lambda: (self.answers(health) or not self.alive(), None))
        if not self.alive():
            raise Failure(f"{words[0]} ended with {self.process.returncode} before it was ready")
        return self

    def __exit__(self, *_):
        self.cluster.end(self.process)

    def answers(self, health):
        try:
            with urllib.request.urlopen(f"http://{health}/{self.ready}", timeout=5):
                return True
        except (urllib.error.URLError, OSError):
            return False

    def alive(self):
        return self.process.poll() is None


def server_metrics(api):
    return api.text("GET", "/metrics").splitlines()


def wait_for_rest(api):
    """Returns when the server has nothing of weight to do any more, or after a minute anyway.

    Its work and the controller manager's for a new definition (schemas, the garbage collector's look for new kinds every 30 s) is not
    part of any measurement.
    """
    began = time.monotonic()
    cpu = None
    while time.monotonic() - began < REST_SECONDS_MAX:
        before, cpu = cpu, next(float(line.split()[1]) for line in server_metrics(api) if line.startswith("process_cpu_seconds_total "))
        if before is not None and cpu - before < REST_SHARE * REST_LOOK_SECONDS and time.monotonic() - began > GARBAGE_COLLECTOR_SECONDS:
            return
        time.sleep(REST_LOOK_SECONDS)


def writes(api):
    """Requests that change something, answered by the server until now."""
    lines = server_metrics(api)
    counts = [line for line in lines if line.startswith("apiserver_request_total{") and any(verb in line for verb in WRITES)]
    return sum(int(float(line.rpartition(" ")[2])) for line in counts)


class Measured:
    """Wall time until the last event, writes on the server, CPU of the controller (if there is one) and of this process."""

    def __init__(self, api, pid=None):
        self.api, self.pid = api, pid
        self.controller = cpu_seconds(pid) if pid else None
        self.resident = None
        self.writes = writes(api)
        self.generator = time.process_time()
        self.began = time.monotonic()

    def submit(self, path, objects):
        self.api.create_all(path, objects)
        self.submitted = time.monotonic() - self.began

    def done(self, last):
        self.seconds = last - self.began
        self.generator = time.process_time() - self.generator
        if self.pid:
            self.controller = cpu_seconds(self.pid) - self.controller
            self.resident = resident_bytes(self.pid) / 1e6
        self.writes = writes(self.api) - self.writes
        return self
