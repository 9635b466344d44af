"""Starts processes that outlive their starter and stops exactly those, never a stranger that got the same pid."""

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import time

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)


def start_time(pid):
    """When the process started, in clock ticks since boot; None when it is gone or only waits to be reaped.

    A pid and its start time together name a process for good."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            # The command name may hold spaces and parentheses: count fields from the last one.
            fields = file.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The first thread of a killed process is a zombie while others still hold its files and ports.
    gone = fields[0] in "ZX" and int(fields[17]) <= 1
    return None if gone else int(fields[19])


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_bytes(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def alive(process):
    return start_time(process["pid"]) == process["start_time"]


def die_with_parent(number):
    """For use between fork and exec: the kernel sends `number` when the starter dies, even by SIGKILL."""
    starter = os.getpid()

    def call():
        LIBC.prctl(PR_SET_PDEATHSIG, number, 0, 0, 0)
        if os.getppid() != starter:
            os._exit(1)

    return call


@contextlib.contextmanager
def signals_held():
    """No termination between the start of a process and the moment it is on record: nobody would stop it."""
    held = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, held)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def start(name, argv, log, environment, tied):
    """Starts argv in a session of its own; `tied` makes it die with this process. Returns the record for state.json."""
    tie = die_with_parent(signal.SIGKILL) if tied else lambda: None

    def prepare():
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        tie()

    with open(log, "ab") as output:
        child = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
            preexec_fn=prepare,
        )
    began = start_time(child.pid)
    # The interpreter must not complain that the child still runs when this object goes away: it is meant to.
    child.returncode = 0
    return {"name": name, "pid": child.pid, "start_time": began, "argv": argv, "log": str(log)}


def send(process, number):
    """Signals the recorded process and nobody else: the pidfd is opened first, then its identity is checked."""
    with contextlib.suppress(ProcessLookupError):
        handle = os.pidfd_open(process["pid"])
        try:
            if alive(process):
                signal.pidfd_send_signal(handle, number)
        finally:
            os.close(handle)


def stop(processes, number=signal.SIGKILL, patience=10.0):
    """Signals all, waits until all are gone and uses SIGKILL on those that outlast `patience` seconds."""
    for process in processes:
        send(process, number)
    deadline = time.monotonic() + patience
    while any(alive(p) for p in processes):
        if time.monotonic() > deadline:
            for process in processes:
                send(process, signal.SIGKILL)
            deadline = time.monotonic() + patience
        time.sleep(0.01)
    for process in processes:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(process["pid"], os.WNOHANG)


def free_port():
    """A loopback port that nobody gets by chance for a minute.

    A connection that the listening side closed first leaves the port in TIME_WAIT: the kernel no longer hands it out, but a
    server that asks for it by number, with SO_REUSEADDR as Go does, gets it. So several instances can start side by side.
    """
    with socket.socket() as listener, socket.socket() as dialler:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        dialler.connect(listener.getsockname())
        accepted, _ = listener.accept()
        accepted.close()
        return listener.getsockname()[1]
