"""Common parts of the tests of charts: the static program, Helm, and clusters on which the image runs."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/kubernetes"))

from harness import build  # noqa: E402

VERSION = (ROOT / "VERSION").read_text().strip()
PATIENCE_SECONDS = 180


def tools(*names):
    """The folder of Go programs, built."""
    build.ensure(list(names))
    return build.bin_dir()


def static_program():
    """The program without shared libraries, which runs in an image FROM scratch. CODEFLARE_STATIC names one that is there."""
    if given := os.environ.get("CODEFLARE_STATIC"):
        return pathlib.Path(given)
    subprocess.run([ROOT / "dev", "build", "static", "codeflare"], check=True, stdout=sys.stderr)
    return ROOT / "build/static/codeflare"


def image_archive(program, folder):
    file = folder / "image.tar"
    subprocess.run([ROOT / "tools/image.py", program, "--archive", file, "--context", folder / "context"], check=True, stdout=subprocess.DEVNULL)
    return file


class Up:
    """`codeflare up` on fresh data with the image loaded."""

    def __init__(self, program, folder, archive=None):
        self.program, self.data = program, folder / "data"
        self.kubeconfig = self.data / "admin.kubeconfig"
        if archive:
            self.codeflare("image", "load", archive, "--data-dir", self.data)
        self.codeflare("up", "--detach", "--data-dir", self.data, "--no-kubeconfig", "--listen", "127.0.0.1:0")

    def codeflare(self, *words):
        return subprocess.run([self.program, *map(str, words)], check=True, capture_output=True, text=True, timeout=PATIENCE_SECONDS).stdout

    def stop(self):
        self.codeflare("down", "--data-dir", self.data)


class Commands:
    """kubectl, helm and codeflare on one cluster."""

    def __init__(self, kubeconfig, bin_dir, program, home):
        self.environment = {**os.environ, "KUBECONFIG": str(kubeconfig), "HOME": str(home), "PATH": f"{bin_dir}:{os.environ['PATH']}"}
        self.program = program

    def run(self, *words, fails=False, stdin=None):
        run = subprocess.run([*map(str, words)], env=self.environment, capture_output=True, text=True, input=stdin, timeout=600)
        if (run.returncode != 0) != fails:
            raise AssertionError(f"{' '.join(map(str, words))}: exit {run.returncode}\n{run.stdout}{run.stderr}")
        return run.stdout + (run.stderr if fails else "")

    def kubectl(self, *words, **options):
        return self.run("kubectl", *words, **options)

    def helm(self, *words, **options):
        return self.run("helm", *words, **options)

    def codeflare(self, *words, **options):
        return self.run(self.program, *words, **options)

    def get(self, *words):
        return json.loads(self.kubectl("get", *words, "-o", "json"))

    def names(self, *words):
        return set(self.kubectl("get", *words, "-o", "name").split())

    def wait_for(self, what, look):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not (found := look()):
            if time.monotonic() > deadline:
                raise AssertionError(f"not within {PATIENCE_SECONDS} s: {what}")
            time.sleep(0.2)
        return found


def fresh_folder():
    return tempfile.TemporaryDirectory(prefix="helm-")


def documents(text):
    """Objects of `helm template` by kind and name, as text."""
    found = {}
    for part in re.split(r"^---\n", text, flags=re.M):
        body = "\n".join(line for line in part.splitlines() if not line.startswith("# Source:"))
        if kind := re.search(r"^kind: (\S+)", body, re.M):
            name = re.search(r"^  name: (\S+)", body, re.M)
            found[(kind[1], name[1])] = body
    return found
