"""Traces of a cluster and its pods on this machine, as its administrator would look for it."""

import contextlib
import os
import pathlib
import re
import subprocess

UID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
NAMESPACE = re.compile(r"(?:cgroup|ipc|mnt|net|pid|time|user|uts):\[\d+\]")


def read_all(name):
    """(process id, contents) of a file of every process that may be looked at."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):  # it has ended
            yield int(pid), pathlib.Path("/proc", pid, name).read_bytes()


def processes_about(folder):
    """Command lines that name it, by process id."""
    lines = {pid: data.decode(errors="replace").split("\0") for pid, data in read_all("cmdline")}
    return {pid: words for pid, words in lines.items() if any(word.startswith(str(folder)) for word in words)}


def marked(mark):
    """Ids of processes that have this among their environment, as NAME=VALUE."""
    return sorted(pid for pid, data in read_all("environ") if mark.encode() in data.split(b"\0"))


def groups(pattern="*"):
    """Control groups in any hierarchy."""
    return subprocess.run(["find", "/sys/fs/cgroup", "-type", "d", "-name", pattern], capture_output=True, text=True).stdout.split()


def is_empty(group):
    """Nothing lives in it or below it."""
    return not any(lines_of(procs) for procs in pathlib.Path(group).glob("**/cgroup.procs"))


def lines_of(path):
    """No lines where we may not look, or not any more."""
    with contextlib.suppress(OSError):
        return pathlib.Path(path).read_text().splitlines()
    return []


def mounts(pid="self"):
    return lines_of(f"/proc/{pid}/mountinfo")


def links(pid):
    """Network interfaces that a process sees."""
    return [line.partition(":")[0].strip() for line in lines_of(f"/proc/{pid}/net/dev")[2:]]


def descriptors(pid):
    found = []
    with contextlib.suppress(OSError):
        for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                found.append(os.readlink(entry))
    return found


def namespaces_held(pid):
    """By descriptors: those that nothing lives in."""
    return [target for target in descriptors(pid) if NAMESPACE.fullmatch(target)]


def of_pods(uids, texts):
    """The texts that name one of these pods."""
    return [text for text in texts if uids.intersection(UID.findall(text))]


def files_of_pods(data, uids):
    """Below a data directory: by name, and addresses that are still given away."""
    found = []
    for folder, folders, files in os.walk(data):  # goes on where something has just been removed
        found += [f"{folder}/{name}" for name in folders + files]
        if "network.json" in files:
            found += [f"{folder}/network.json: {part}" for line in lines_of(f"{folder}/network.json") for part in re.split(r"[{}]", line)]
    return of_pods(uids, found)
