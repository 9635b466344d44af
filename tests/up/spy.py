"""Runs in a pod and tries to get at what is not its own; prints as JSON what it got. spy.py TASK, where TASK is JSON in base64, or else its own
command line would have the secrets that it looks for."""

import base64
import contextlib
import ctypes
import json
import os
import signal
import socket
import ssl
import sys
import urllib.error
import urllib.request

CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
MS_REMOUNT, MS_BIND, MNT_DETACH = 32, 4096, 2
LIBC = ctypes.CDLL(None, use_errno=True)
ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount/"
MACHINE = ("/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname")

TASK = json.loads(base64.b64decode(sys.argv[1]))
SECRETS = [text.encode() for text in TASK["secrets"]]


def read(path):
    """The beginning of a file or the names in a directory; nothing where that fails. Never waits."""
    with contextlib.suppress(OSError):
        if os.path.isdir(path):
            return "\n".join(os.listdir(path)).encode()
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            return os.read(file, 1 << 20)
        finally:
            os.close(file)
    return b""


def secrets_in(path):
    data = read(path)
    return [f"{path} has a secret" for secret in SECRETS if secret in data]


def can_open(path, flags):
    with contextlib.suppress(OSError):
        os.close(os.open(path, flags | os.O_NONBLOCK))
        return True
    return False


def others():
    """Processes that are not this one."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]


def files():
    """Of others and of the machine, at their place or through somebody's root."""
    roots = ["", *(f"/proc/{pid}/{link}" for pid in [*others(), "self"] for link in ("root", "cwd"))]
    leaks = [f"sees {root}{path}" for root in roots for path in TASK["paths"] if os.path.lexists(root + path)]
    name = "/usr/" + TASK["name"]
    if can_open(name, os.O_CREAT | os.O_WRONLY):
        os.unlink(name)
        leaks.append("writes to /usr")
    return leaks + [f"writes to {path}" for path in MACHINE if can_open(path, os.O_WRONLY)]


def processes():
    leaks = []
    for pid in others():
        for name in ("environ", "cmdline"):
            leaks += secrets_in(f"/proc/{pid}/{name}")
        for name in read(f"/proc/{pid}/fd").decode().split():
            leaks += secrets_in(f"/proc/{pid}/fd/{name}")
        if can_open(f"/proc/{pid}/mem", os.O_RDONLY):
            leaks.append(f"looks into {pid}")
    return leaks


def shared():
    """Where it is not apart from the machine: then it must not even try to signal and unmount."""
    leaks = [f"is in the machine's namespace {name}" for name, theirs in TASK["namespaces"].items() if os.readlink("/proc/self/ns/" + name) == theirs]
    with open("/proc/self/mountinfo") as file:
        return leaks + [f"shares its mounts: {line.strip()}" for line in file if " shared:" in line]


def signals():
    """Kills; the test looks from outside who was hit."""
    for pid in [*TASK["pids"], 1, -1]:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    return []


def mount_points():
    with open("/proc/self/mountinfo") as file:
        return [line.split()[4] for line in file]


def unmount_all(who):
    return [f"unmounts {point} {who}" for point in mount_points() if point != "/" and LIBC.umount2(point.encode(), MNT_DETACH) == 0]


def mounts():
    leaks = unmount_all("as it is")
    if LIBC.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0:
        leaks.append("mounts")
    # As the root of a user namespace of its own, where it can have one.
    reader, writer = os.pipe()
    if os.fork() == 0:
        if LIBC.unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0:
            found = unmount_all("as root of its own")
            if LIBC.mount(None, b"/usr", None, MS_REMOUNT | MS_BIND, None) == 0:
                found.append("makes /usr writable")
            os.write(writer, "\n".join(found).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        leaks += file.read().split("\n")
    os.wait()
    return [leak for leak in leaks if leak]


def machine_network():
    with contextlib.suppress(OSError):
        socket.create_connection(("127.0.0.1", TASK["port"]), timeout=5).close()
        return ["reaches the machine's loopback"]
    return []


def ask(path, token=None, body=None):
    """Status and body of an answer of the API server."""
    headers = {"Content-Type": "application/json", **({} if token is None else {"Authorization": "Bearer " + token})}
    request = urllib.request.Request("https://kubernetes.default.svc" + path, headers=headers, data=None if body is None else json.dumps(body).encode())
    context = ssl.create_default_context(cafile=ACCOUNT + "ca.crt")
    try:
        with urllib.request.urlopen(request, context=context, timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, {}


def api():
    with open(ACCOUNT + "token") as file:
        token = file.read()
    head, payload, signature = token.split(".")
    forged = ".".join((head, payload, signature[:10] + ("A" if signature[10] != "A" else "B") + signature[11:]))
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    _, who = ask("/apis/authentication.k8s.io/v1/selfsubjectreviews", token, review)
    pods = "/api/v1/namespaces/default/pods"
    return {
        "who": who["status"]["userInfo"]["username"],
        "nobody": ask(pods)[0],
        "forged": ask(pods, forged)[0],
        "secrets": ask("/api/v1/secrets", token)[0],
        "nodes": ask("/api/v1/nodes", token)[0],
    }


def control():
    """Finds a known file: the search works."""
    with open("/tmp/control", "wb") as file:
        file.write(SECRETS[0])
    return {"file": len(secrets_in("/tmp/control")), "environ": len(read("/proc/self/environ")) > 0, "mounts": len(mount_points()) > 0,
            "path": os.path.lexists("/proc/self/root/usr"), "opens": can_open("/tmp/control", os.O_WRONLY), "others": len(others()) > 0}


if __name__ == "__main__":
    inherited = [f"was given {name}" for name, value in os.environ.items() if any(secret in value.encode() for secret in SECRETS)]
    leaks = inherited + shared() + files() + processes() + machine_network()
    if not leaks:
        leaks = mounts() + signals()
    print(json.dumps({"control": control(), "api": api(), "leaks": leaks}))
