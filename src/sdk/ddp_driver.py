"""Runs a Python program as one distributed job on a Ray cluster: codeflare's driver for DDPJobDefinition.

Each replica is an actor that starts its processes with the variables of torch.distributed. Replica 0 has rank 0, whose node is
the meeting point. Lines of a process are printed with its rank. The first process that fails ends all of them; then everything
starts again, as often as --retries allows. The exit code is that of the process that failed.
"""

import argparse
import collections
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time

import ray
from ray.util.placement_group import placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

LOST = 1  # exit code when a replica is gone without one


def end_with_parent():
    """A killed actor takes its processes along."""
    import ctypes

    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Replica:
    """The processes of one replica, on whichever node Ray has put it."""

    def __init__(self):
        self.lines = queue.Queue()
        self.running = {}

    def meeting_point(self, port):
        """Address and port for rank 0."""
        address = ray.util.get_node_ip_address()
        if port == 0:
            with socket.socket() as free:
                free.bind(("", 0))
                port = free.getsockname()[1]
        return address, port

    def start(self, words, replica, replicas, processes, meeting_point):
        common = {"MASTER_ADDR": meeting_point[0], "MASTER_PORT": meeting_point[1], "WORLD_SIZE": replicas * processes,
                  "LOCAL_WORLD_SIZE": processes, "GROUP_RANK": replica, "NODE_RANK": replica, "GROUP_WORLD_SIZE": replicas,
                  "PYTHONUNBUFFERED": 1}
        for local in range(processes):
            rank = replica * processes + local
            own = {**common, "RANK": rank, "ROLE_RANK": rank, "LOCAL_RANK": local}
            process = subprocess.Popen([sys.executable, *words], env={**os.environ, **{key: str(value) for key, value in own.items()}},
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                       preexec_fn=end_with_parent)
            self.running[rank] = process
            threading.Thread(target=self.read, args=(rank, process), daemon=True).start()

    def read(self, rank, process):
        for line in process.stdout:
            self.lines.put((rank, line.decode(errors="replace").rstrip("\n")))
        self.lines.put((rank, process.wait()))

    def news(self):
        """Lines (rank, text) and ends (rank, exit code) since the last call; waits a second for the first."""
        found = []
        try:
            found.append(self.lines.get(timeout=1))
            while len(found) < 1000:
                found.append(self.lines.get_nowait())
        except queue.Empty:
            pass
        return found


class Failure(Exception):
    def __init__(self, sentence, code):
        super().__init__(sentence)
        self.code = code


def say(text):
    print(text, flush=True)


def wait_for(group, bundle):
    """Until there is room for every replica at once."""
    waited = 0
    while not group.wait(30):
        waited += 30
        say(f"[driver] waiting {waited} s for {group.bundle_count} x {bundle}; the cluster has {ray.cluster_resources()}, "
            f"free {ray.available_resources()}")


def run_once(options, group, bundle):
    wait_for(group, bundle)
    resources = {"num_cpus": bundle["CPU"], "num_gpus": bundle.get("GPU", 0), "max_restarts": 0}
    if "memory" in bundle:
        resources["memory"] = bundle["memory"]
    actor = ray.remote(Replica)
    replicas = [
        actor.options(scheduling_strategy=PlacementGroupSchedulingStrategy(group, placement_group_bundle_index=i), **resources).remote()
        for i in range(options.replicas)
    ]
    try:
        follow(options, replicas)
    finally:
        for replica in replicas:
            ray.kill(replica)


def attempt(future, replica):
    """Its result; a replica that is gone is a failure like any other."""
    try:
        return ray.get(future)
    except ray.exceptions.RayActorError as error:
        reason = str(error).strip().splitlines()[0]
        raise Failure(f"replica {replica} is lost: {reason}", LOST) from None


def follow(options, replicas):
    meeting_point = attempt(replicas[0].meeting_point.remote(options.port), 0)
    starts = [each.start.remote(options.words, i, len(replicas), options.processes, meeting_point) for i, each in enumerate(replicas)]
    for i, started in enumerate(starts):
        attempt(started, i)
    asked = {each.news.remote(): i for i, each in enumerate(replicas)}
    open_processes = collections.Counter({i: options.processes for i in range(len(replicas))})
    while asked:
        (answered,), _ = ray.wait(list(asked), num_returns=1)
        replica = asked.pop(answered)
        for rank, news in attempt(answered, replica):
            if isinstance(news, str):
                say(f"[{rank}] {news}")
                continue
            if news != 0:
                drain(asked)
                raise Failure(f"rank {rank} (replica {replica}) failed with exit code {news}", news if news > 0 else 128 - news)
            open_processes[replica] -= 1
        if open_processes[replica] > 0:
            asked[replicas[replica].news.remote()] = replica


def drain(asked):
    """The last words of the others."""
    ready, _ = ray.wait(list(asked), num_returns=len(asked), timeout=2) if asked else ([], [])
    for future in ready:
        try:
            for rank, news in ray.get(future):
                if isinstance(news, str):
                    say(f"[{rank}] {news}")
        except ray.exceptions.RayError:
            pass


def main():
    parser = argparse.ArgumentParser()
    for name in ("replicas", "processes", "gpus", "memory-mb", "port", "retries"):
        parser.add_argument(f"--{name}", type=int, default=0)
    parser.add_argument("--cpus", type=float, default=1)
    at = sys.argv.index("--")
    options = parser.parse_args(sys.argv[1:at])
    options.words = sys.argv[at + 1:]
    bundle = {"CPU": options.cpus}
    if options.gpus:
        bundle["GPU"] = options.gpus
    if options.memory_mb:
        bundle["memory"] = options.memory_mb << 20
    ray.init(log_to_driver=False, logging_level="WARNING")
    group = placement_group([bundle] * options.replicas, strategy="SPREAD")
    for again in range(options.retries + 1):
        try:
            return run_once(options, group, bundle)
        except Failure as failure:
            say(f"[driver] {failure}")
            if again == options.retries:
                sys.exit(failure.code)
            say(f"[driver] starting all replicas again ({again + 1} of {options.retries})")
            time.sleep(1)


main()
