"""Virtual environments with pinned packages, of the Python client first of all: made once, in the cache where the Go programs are."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "kubernetes"))

from harness.build import cache_root  # noqa: E402

REQUIREMENTS = HERE / "python" / "requirements.txt"


def run(*command):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


def all_pins(requirements):
    """The file with those that it includes (-r FILE)."""
    text = requirements.read_bytes()
    included = [line.split()[1].decode() for line in text.splitlines() if line.startswith(b"-r ")]
    return text + b"".join(all_pins(requirements.parent / name) for name in included)


def python(requirements=REQUIREMENTS):
    """The interpreter of the environment; builds it when the pins, which are all that is installed, or this Python have changed."""
    pins = hashlib.sha256(all_pins(requirements) + sys.version.encode()).hexdigest()[:16]
    root = cache_root() / "python"
    target = root / pins
    root.mkdir(parents=True, exist_ok=True)
    with open(root / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the second of two tests finds the work done
        if not (target / "complete").exists():
            shutil.rmtree(target, ignore_errors=True)
            run(sys.executable, "-m", "venv", target)
            run(target / "bin" / "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps", "-r", requirements)
            (target / "complete").touch()
    return target / "bin" / "python"


def enter(script, arguments):
    """Goes on as `script` in the environment."""
    interpreter = str(python())
    os.execv(interpreter, [interpreter, "-B", str(script), *arguments])
