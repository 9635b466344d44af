"""Where each kubectl comes from: our own builds of 1.34 and 1.35, and Debian's package for 1.20."""

import os
import subprocess
import tempfile
from pathlib import Path

from cases import HERE, MatrixError

KUBERNETES = HERE.parents[1] / "kubernetes" / "kubernetes"
BUILT = {"1.34": "kubectl", "1.35": "kubectl-1.35"}
DEBIAN_VERSION, DEBIAN_PACKAGE = "1.20", "kubernetes-client"


def cache():
    base = os.environ.get("CODEFLARE_CACHE") or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "codeflare")
    return Path(base).absolute() / "kubernetes"


def run(*command, cwd=None):
    result = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    if result.returncode != 0:
        raise MatrixError(f"{' '.join(map(str, command))}: {result.stderr.strip()}")
    return result.stdout.strip()


def debian_kubectl():
    """Unpacked, not installed: the machine may have a kubectl of its own."""
    target = cache() / "sets" / f"debian-{DEBIAN_PACKAGE}" / "kubectl"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as folder:
            run("apt-get", "download", DEBIAN_PACKAGE, cwd=folder)
            run("dpkg-deb", "-x", next(Path(folder).glob("*.deb")), folder)
            (Path(folder) / "usr" / "bin" / "kubectl").rename(target)
    return str(target)


def find_kubectl(name):
    if name == DEBIAN_VERSION:
        return debian_kubectl()
    if name in BUILT:
        run(KUBERNETES, "build", BUILT[name])
        return str(Path(run(KUBERNETES, "env")) / BUILT[name])
    if os.access(name, os.X_OK) and os.path.isfile(name):
        return os.path.abspath(name)
    raise MatrixError(f"no kubectl {name!r}: expected a path or one of {', '.join([*BUILT, DEBIAN_VERSION])}")
