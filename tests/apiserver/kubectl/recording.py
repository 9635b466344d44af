"""Runs the commands of the matrix, one after the other, against the server of a kubeconfig and records what they did."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from cases import HERE, MatrixError, version_of

COMMAND_SECONDS = 120


def kubectl_version(kubectl):
    """(1, 34) of the program itself; old ones print JSON only when asked, new ones print less than they did."""
    result = subprocess.run([kubectl, "version", "--client", "-o", "yaml"], capture_output=True, text=True)
    for line in result.stdout.splitlines():
        if line.strip().startswith("gitVersion:"):
            return version_of(line.partition(":")[2].strip())
    raise MatrixError(f"{kubectl} does not say its version: {result.stderr.strip()}")


def ask(environment, *command):
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    if result.returncode != 0:
        raise MatrixError(f"{' '.join(command)}: {result.stderr.strip()}")
    return result.stdout.strip()


def prepare(folder, kubectl, kubeconfig):
    """A work folder that nothing outside can disturb; returns the environment of the commands."""
    work, home, tools = folder / "work", folder / "home", folder / "bin"
    shutil.copytree(HERE / "files", work)
    home.mkdir()
    tools.mkdir()
    (tools / "kubectl").symlink_to(Path(kubectl).resolve())
    copy = home / "kubeconfig"
    shutil.copyfile(kubeconfig, copy)
    copy.chmod(0o600)
    environment = {
        "PATH": f"{tools}:{os.environ['PATH']}",
        "HOME": str(home),
        "TMPDIR": str(home),
        "KUBECONFIG": str(copy),
        "TZ": "UTC",
        "LC_ALL": "C.UTF-8",
    }
    environment["SERVER"] = ask(environment, "kubectl", "config", "view", "--minify", "-o", "jsonpath={.clusters[0].cluster.server}")
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout"]
    ask(environment, "openssl", "req", "-x509", *key, f"{work}/tls.key", "-out", f"{work}/tls.crt", "-subj", "/CN=example.com")
    ask(environment, "openssl", "req", "-new", *key, f"{work}/user.key", "-out", f"{work}/user.csr", "-subj", "/CN=jane")
    return work, environment


def run_one(case, work, environment):
    # A reader that ends early (head, grep -q) must not hide the exit code of kubectl, nor must sed after it.
    command = ["bash", "-o", "pipefail", "-c", case.command]
    try:
        done = subprocess.run(command, cwd=work, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=COMMAND_SECONDS)
        code, out, err = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired as error:
        code, out, err = -1, error.stdout or b"", (error.stderr or b"") + b"\nno end after %d s\n" % COMMAND_SECONDS
    return {"name": case.name, "command": case.command, "exit": code, "stdout": out.decode(errors="replace"), "stderr": err.decode(errors="replace")}


def record(cases, kubectl, kubeconfig, progress=None):
    """Returns {"kubectl": version, "server": address, "work": folder, "cases": [...]}, texts as they came."""
    version = kubectl_version(kubectl)
    with tempfile.TemporaryDirectory(prefix="kubectl-matrix-", ignore_cleanup_errors=True) as folder:
        work, environment = prepare(Path(folder), kubectl, kubeconfig)
        results = []
        for case in cases:
            if case.known_to(version):
                results.append(run_one(case, work, environment))
                if progress:
                    progress(results[-1])
        return {"kubectl": list(version), "server": environment["SERVER"], "folder": folder, "cases": results}
