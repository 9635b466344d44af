"""Where the published definitions are: the Go modules that tests/kubernetes pins."""

import json
import os
import pathlib
import subprocess

_PINS = "tests/kubernetes/core"
_MODULES = (
    "k8s.io/kubernetes",
    "k8s.io/api",
    "k8s.io/apimachinery",
    "k8s.io/apiextensions-apiserver",
    "k8s.io/kube-aggregator",
)


class SourceError(Exception):
    pass


def module_dirs(root):
    """Module path → folder; what is missing is downloaded as the pins say."""
    environment = {**os.environ, "GOWORK": "off"}

    def go(*arguments):
        try:
            run = subprocess.run(
                ["go", *arguments, *_MODULES], cwd=root / _PINS, env=environment, capture_output=True, text=True
            )
        except FileNotFoundError:
            raise SourceError("there is no go command, and the definitions come as Go modules") from None
        if run.returncode:
            raise SourceError(f"go {' '.join(arguments)}: {run.stderr.strip()}")
        return run.stdout

    def listed():
        lines = go("list", "-m", "-f", "{{.Path}} {{.Dir}}").splitlines()
        return {path: pathlib.Path(folder) for path, _, folder in (line.partition(" ") for line in lines) if folder}

    dirs = listed()
    if len(dirs) < len(_MODULES):
        go("mod", "download")
        dirs = listed()
    if missing := [path for path in _MODULES if path not in dirs]:
        raise SourceError(f"Go modules without a folder: {', '.join(missing)}")
    return dirs


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)
