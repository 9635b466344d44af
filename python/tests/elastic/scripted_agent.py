"""Agents and the store between them, as docs/decisions/0014 has them, in one Python object: tests say who trains and when."""

import json
import os
import pathlib
import resource
import selectors
import signal
import socket
import subprocess
import sys
import time

PATIENCE_SECONDS = 90


class Member:
    def __init__(self, index, folder):
        self.index, self.folder = index, folder
        self.path = str(folder / "agent.sock")
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(self.path)
        self.listener.listen(4)
        self.process = self.connection = self.exit = self.pidfd = None
        self.rest = b""
        self.last = {}  # newest message by type
        self.fresh = True
        self.group = 0

    @property
    def alive(self):
        return self.process is not None and self.exit is None

    def send(self, type_, **fields):
        try:
            self.connection.sendall(json.dumps({"type": type_, **fields}).encode() + b"\n")
        except OSError:
            pass


class Job:
    """`log` holds (seconds, index, message) of everything that workers sent."""

    def __init__(self, scratch, command, environment, notice_fresh=True):
        self.scratch, self.command, self.environment = pathlib.Path(scratch), command, environment
        self.notice_fresh = notice_fresh
        self.members, self.generation, self.log = {}, 0, []
        self.current = []
        self._selector = selectors.DefaultSelector()

    # -- processes

    def start(self, index):
        if index not in self.members:
            folder = self.scratch / f"member-{index}"
            (folder / "state").mkdir(parents=True)
            self.members[index] = Member(index, folder)
            self._selector.register(self.members[index].listener, selectors.EVENT_READ, ("accept", self.members[index]))
        member = self.members[index]
        variables = {
            **os.environ,
            **self.environment,
            "LATTICE_AGENT_SOCKET": member.path,
            "LATTICE_STATE_DIR": str(member.folder / "state"),
            "LATTICE_LOCAL_RANK": "0",
            "MEMBER": str(index),
            "OMP_NUM_THREADS": "1",
            "PYTHONFAULTHANDLER": "1",  # stacks()
        }
        with open(member.folder / "log", "ab") as output:
            member.process = subprocess.Popen(self.command, env=variables, stdout=output, stderr=output, stdin=subprocess.DEVNULL)
        member.exit, member.last, member.fresh, member.group, member.connection = None, {}, True, 0, None
        member.pidfd = os.pidfd_open(member.process.pid)
        self._selector.register(member.pidfd, selectors.EVENT_READ, ("exit", member))

    def kill(self, index, number=signal.SIGKILL):
        os.kill(self.members[index].process.pid, number)

    def stop(self):
        for member in self.members.values():
            if member.process is not None and member.process.poll() is None:
                member.process.kill()
            if member.process is not None:
                member.process.wait()
            for one in (member.listener, member.connection):
                if one is not None:
                    one.close()

    # -- messages

    def pump(self, until, seconds=PATIENCE_SECONDS, what=""):
        if not self.pump_for(until, seconds):
            raise TimeoutError(f"{what or 'not reached'} within {seconds} s\n{self.state()}\n{self.stacks()}")

    def pump_for(self, until, seconds):
        """False: `until` did not become true in that time."""
        deadline = time.monotonic() + seconds
        while not until():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            for key, _ in self._selector.select(left):
                kind, member = key.data
                {"accept": self._accept, "exit": self._exited, "read": self._read}[kind](member)
        return True

    def pump_while(self, condition, seconds=PATIENCE_SECONDS):
        """For conditions that no message announces."""
        deadline = time.monotonic() + seconds
        while condition():
            if time.monotonic() > deadline:
                raise TimeoutError(f"not reached within {seconds} s\n{self.state()}\n{self.stacks()}")
            for key, _ in self._selector.select(0.01):
                kind, member = key.data
                {"accept": self._accept, "exit": self._exited, "read": self._read}[kind](member)

    def _accept(self, member):
        connection, _ = member.listener.accept()
        if member.connection is not None:
            self._forget(member)
        member.connection, member.rest = connection, b""
        self._selector.register(connection, selectors.EVENT_READ, ("read", member))

    def _forget(self, member):
        try:
            self._selector.unregister(member.connection)
        except KeyError:
            pass
        member.connection.close()
        member.connection = None

    def _read(self, member):
        try:
            data = member.connection.recv(65536)
        except OSError:
            data = b""
        if not data:
            self._forget(member)
            return
        *lines, member.rest = (member.rest + data).split(b"\n")
        for line in lines:
            message = json.loads(line)
            member.last[message["type"]] = message
            self.log.append((time.monotonic(), member.index, message))

    def _exited(self, member):
        if member.connection is not None:
            # Its messages before its end count.
            member.connection.setblocking(False)
            while member.connection is not None:
                try:
                    self._read(member)
                except BlockingIOError:
                    break
        self._selector.unregister(member.pidfd)
        os.close(member.pidfd)
        member.exit = member.process.wait()

    # -- membership

    def resize(self, indices, reason="Grow", grace=30, wait_running=True, host=True):
        """Members start, old ones get their notice, the round is written. Returns (when notice was given, when all had committed a step)."""
        self.start_missing(indices)
        self.generation += 1
        began = time.monotonic()
        leaving = [i for i in self.current if i not in indices and self.members[i].alive]
        for i in {*indices, *leaving}:
            member = self.members[i]
            if not member.fresh or self.notice_fresh:
                member.send("notice", generation=self.generation, reason=reason, stay=i in indices, graceSeconds=grace)
        self.pump(lambda: all(self._is_ready(self.members[i]) for i in indices), what="ready")
        if not indices:
            self.pump(lambda: not any(self.members[i].alive for i in leaving), what="left")
            self.current = []
            return began, time.monotonic()
        order = sorted(indices)
        steps = [self.members[i].last.get("ready", {}).get("step", 0) for i in order]
        first = self.members[order[0]]
        if host:
            first.send("host", generation=self.generation)
            self.pump(lambda: first.last.get("hosting", {}).get("generation") == self.generation, what="hosting")
            port = first.last["hosting"]["port"]
        else:
            with socket.create_server(("127.0.0.1", 0)) as server:
                port = server.getsockname()[1]
        for rank, i in enumerate(order):
            self.members[i].fresh, self.members[i].group = False, self.generation
            self.members[i].send(
                "round",
                generation=self.generation,
                rank=rank,
                localRank=0,
                localWorldSize=1,
                worldSize=len(order),
                masterAddress="127.0.0.1",
                masterPort=port,
                source=steps.index(max(steps)),
                peers=["127.0.0.1"] * len(order),
            )
        self.current = order
        if wait_running:
            self.wait_running()
        self.pump(lambda: not any(self.members[i].alive for i in leaving), what="left")
        return began, time.monotonic()

    def start_missing(self, indices):
        for index in indices:
            if index not in self.members or not self.members[index].alive:
                self.start(index)
        self.pump(lambda: all("hello" in self.members[i].last for i in indices), what="hello")

    def _is_ready(self, member):
        if not member.alive:
            raise RuntimeError(f"worker {member.index} ended with {member.exit} while it had to get ready\n{self.logs()}")
        return (member.fresh and not self.notice_fresh) or member.last.get("ready", {}).get("generation") == self.generation

    def wait_running(self):
        self.pump(lambda: all(self._runs(self.members[i]) for i in self.current), what="running")

    def _runs(self, member):
        return member.last.get("running", {}).get("generation") == self.generation or "done" in member.last

    def lose(self, index):
        """The others hear that a peer is gone."""
        self.pump(lambda: not self.members[index].alive, what=f"end of {index}")
        self.current = [i for i in self.current if i != index]
        for i in self.current:
            self.members[i].send("lost", generation=self.generation)

    def wait_end(self):
        self.pump(lambda: not any(self.members[i].alive for i in self.current), what="end")
        return [self.members[i].exit for i in self.current]

    def state(self):
        return "\n".join(f"member {i}: alive {m.alive}, exit {m.exit}, {m.last}" for i, m in self.members.items())

    def stacks(self):
        """The logs with the Python stacks of all threads; the workers end."""
        abort_all(m.process for m in self.members.values() if m.alive)
        return self.logs(20000)

    def logs(self, size=3000):
        return "\n".join(f"--- {i}\n{(m.folder / 'log').read_text(errors='replace')[-size:]}" for i, m in self.members.items() if (m.folder / "log").exists())


def abort(pid):
    """A process with PYTHONFAULTHANDLER=1 writes its stacks to stderr and ends, without a core."""
    try:
        resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
        os.kill(pid, signal.SIGABRT)
    except ProcessLookupError:
        pass


def abort_all(processes, seconds=5):
    """Frozen processes write nothing."""
    processes = list(processes)
    for process in processes:
        abort(process.pid)
    deadline = time.monotonic() + seconds
    while any(process.poll() is None for process in processes) and time.monotonic() < deadline:
        time.sleep(0.05)


def python():
    """Debian's interpreter, which has Debian's torch, or the one that ELASTIC_PYTHON names."""
    return os.environ.get("ELASTIC_PYTHON") or ("/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable)
