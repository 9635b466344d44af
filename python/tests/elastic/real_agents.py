"""Real agents (`codeflare-agent`) that meet in a real etcd; the test writes memberships in the controller's place."""

import base64
import json
import os
import pathlib
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

from scripted_agent import abort

PATIENCE_SECONDS = 120
UID = "7f3c0c1e-0000-4000-8000-00000000e1a5"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class Etcd:
    def __init__(self, folder):
        self.port, peer = free_port(), free_port()
        url, peer_url = f"http://127.0.0.1:{self.port}", f"http://127.0.0.1:{peer}"
        command = ["etcd", "--data-dir", str(folder / "etcd"), "--listen-client-urls", url, "--advertise-client-urls", url]
        command += ["--listen-peer-urls", peer_url, "--initial-advertise-peer-urls", peer_url, "--initial-cluster", f"default={peer_url}"]
        with open(folder / "etcd.log", "wb") as output:
            self.process = subprocess.Popen(command, stdout=output, stderr=output)
        self.url = url
        wait_for(self._answers, "etcd")

    def _answers(self):
        try:
            return self.call("range", key="/") is not None
        except (urllib.error.URLError, ConnectionError):
            return False

    def call(self, verb, **fields):
        encoded = {key: base64.b64encode(value.encode()).decode() for key, value in fields.items()}
        request = urllib.request.Request(f"{self.url}/v3/kv/{verb}", json.dumps(encoded).encode())
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)

    def put(self, key, value):
        self.call("put", key=key, value=json.dumps(value))

    def below(self, prefix):
        """{rest of the key: value}"""
        found = self.call("range", key=prefix, range_end=prefix[:-1] + chr(ord(prefix[-1]) + 1)).get("kvs", [])
        return {base64.b64decode(one["key"]).decode()[len(prefix) :]: json.loads(base64.b64decode(one["value"])) for one in found}

    def stop(self):
        self.process.kill()
        self.process.wait()


def wait_for(condition, what, seconds=PATIENCE_SECONDS, describe=lambda: ""):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} within {seconds} s\n{describe()}")
        time.sleep(0.02)


class Agents:
    def __init__(self, scratch, program, command, environment):
        self.scratch, self.program, self.command, self.environment = pathlib.Path(scratch), program, command, environment
        self.etcd = Etcd(self.scratch)
        self.agents, self.generation, self.current = {}, 0, []

    def start(self, index):
        folder = self.scratch / f"member-{index}"
        folder.mkdir(exist_ok=True)
        flags = {
            "rdzv-backend": "etcd",
            "rdzv-client-service-host": "127.0.0.1",
            "rdzv-client-service-port": self.etcd.port,
            "rdzv-id": UID,
            "job-name": "proof",
            "index": index,
            "pod-uid": f"pod-{index}",
            "pod-ip": "127.0.0.1",
            "state-dir": folder / "state",
            "grace-seconds": 10,
            "stall-seconds": 3,
        }
        arguments = [f"--{name}={value}" for name, value in flags.items()]
        variables = {**os.environ, **self.environment, "MEMBER": str(index), "OMP_NUM_THREADS": "1", "PYTHONFAULTHANDLER": "1"}
        with open(folder / "log", "ab") as output:
            self.agents[index] = subprocess.Popen(
                [self.program, *arguments, "--", *self.command], env=variables, stdin=subprocess.DEVNULL, stdout=output, stderr=output
            )

    def members(self):
        return {int(index): member for index, member in self.etcd.below(f"/lattice/{UID}/member/").items()}

    def wait(self, condition, what):
        wait_for(lambda: condition(self.members()), what, describe=lambda: f"{json.dumps(self.members(), indent=1)}\n{self.stacks()}")

    def start_missing(self, indices):
        missing = [i for i in indices if i not in self.agents or self.agents[i].poll() is not None]
        for i in missing:
            self.start(i)
        self.wait(lambda members: all(members.get(i, {}).get("state", "") not in ("", "starting", "left", "failed") for i in missing), f"agents {missing}")

    def write(self, indices, reason):
        self.generation += 1
        self.current = sorted(indices)
        members = [{"index": i, "pod": f"pod-{i}"} for i in self.current]
        self.etcd.put(f"/lattice/{UID}/membership", {"generation": self.generation, "reason": reason, "members": members})

    def worker(self, index):
        """The process that this agent has started."""
        agent = self.agents[index].pid
        for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                if int(path.read_text().rpartition(")")[2].split()[1]) == agent:
                    return int(path.parent.name)
            except (FileNotFoundError, ProcessLookupError):
                continue
        raise LookupError(f"agent {index} has no worker")

    def kill_worker(self, index, number=signal.SIGKILL):
        os.kill(self.worker(index), number)

    def wait_failed(self, *indices):
        self.wait(lambda members: any(members[i].get("state") == "failed" for i in indices), f"failure of {indices}")

    def finish(self):
        """As the controller does: when all are done, everybody may end."""
        self.wait(lambda members: all(members.get(i, {}).get("state") == "done" for i in self.current), "done")
        self.write(self.current, "Finish")
        return [self.agents[i].wait(PATIENCE_SECONDS) for i in self.current]

    def stacks(self):
        """The logs with the Python stacks of all workers, which end."""
        for index in self.agents:
            try:
                abort(self.worker(index))
            except LookupError:
                continue
        time.sleep(2)  # their agents wait for them
        return self.logs(20000)

    def logs(self, size=3000):
        return "\n".join(f"--- {path.parent.name}\n{path.read_text(errors='replace')[-size:]}" for path in sorted(self.scratch.glob("member-*/log")))

    def stop(self):
        for index, agent in self.agents.items():
            try:
                worker = self.worker(index)
            except LookupError:
                worker = None
            if agent.poll() is None:
                agent.kill()
            agent.wait()
            if worker is not None:
                try:
                    os.kill(worker, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        self.etcd.stop()
