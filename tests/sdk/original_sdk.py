"""codeflare-sdk 0.12.1 as it came, for tests that compare with it. The first call fetches it."""

import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "apiserver" / "clients"))

import environment  # noqa: E402


def manifests(home, kubeconfig, configurations):
    """The objects that it writes for each of the configurations; an empty directory is its home."""
    (home / ".kube").mkdir(parents=True)
    (home / ".kube" / "config").write_text(pathlib.Path(kubeconfig).read_text())
    words = [environment.python(HERE / "original" / "requirements.txt"), "-B", HERE / "original" / "manifests.py"]
    run = subprocess.run([str(word) for word in words], env={**os.environ, "HOME": str(home)}, cwd=home, input=json.dumps(configurations),
                         capture_output=True, text=True, timeout=300)
    if run.returncode != 0:
        raise AssertionError(run.stdout + run.stderr)
    return json.loads(run.stdout.splitlines()[-1])
