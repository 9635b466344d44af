#!/usr/bin/env python3
"""clone_test.py KUBECTL: what whoever clones this repository types first, in a clone of what is committed: `./dev demo`, `./dev up --detach`, kubectl, `codeflare down`.

KUBECTL is a path or a version as in tests/apiserver/kubectl. Builds release there, from the compiler cache where it can."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "apiserver" / "kubectl"))

import programs  # noqa: E402

ROOT = HERE.parents[1]


class Failure(Exception):
    pass


class Clone:
    def __init__(self, folder):
        self.root = folder / "codeflare"
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        left_out = ("CODEFLARE", "KUBERNETES_SERVICE_HOST")
        self.environment = {k: v for k, v in os.environ.items() if k not in left_out}
        # Nothing of the user's own but the compiler cache.
        self.environment.update(KUBECONFIG=str(folder / "kubeconfig"), XDG_STATE_HOME=str(folder / "state"), TMPDIR=str(self.temporary))
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(self.root)], check=True, stdin=subprocess.DEVNULL)

    def types(self, *words, sees):
        """Runs it where the clone is; it must end well and print this."""
        began = time.monotonic()
        run = subprocess.run([str(word) for word in words], cwd=self.root, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if run.returncode != 0 or not re.search(sees, run.stdout):
            raise Failure(f"$ {' '.join(map(str, words))}\nexit {run.returncode}, expected {sees!r}\n{run.stdout}{run.stderr}")
        print(f"{' '.join(map(str, words))}: {time.monotonic() - began:.0f} s", flush=True)


def main():
    kubectl = programs.find_kubectl(sys.argv[1])
    with tempfile.TemporaryDirectory() as name:
        clone = Clone(pathlib.Path(name))
        codeflare = clone.root / "build/release/codeflare"
        try:
            clone.types("./dev", "demo", sees=r"More: docs/README\.md")
            clone.types("./dev", "up", "--detach", "--listen", "127.0.0.1:0", sees=r"\nready https://127\.0\.0\.1:\d+ ")
            clone.types(kubectl, "get", "nodes", sees=r"\ncodeflare-0 +Ready ")
            clone.types(codeflare, "down", sees="stopped")
            clone.types("git", "status", "--short", "--branch", sees=r"^## .*\n$")
        except Failure as failure:
            print(failure)
            return 1
        finally:
            if codeflare.exists():
                subprocess.run([str(codeflare), "down"], env=clone.environment, stdin=subprocess.DEVNULL, capture_output=True)
        left = [entry.name for entry in clone.temporary.iterdir() if entry.name.startswith("tmp.")]
        if left:
            print(f"the demo left {left}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
