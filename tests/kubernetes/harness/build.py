"""Builds the programs of the Go modules beside this folder (and of one elsewhere), once, into a cache outside the tree.

Each set of pins (a folder with go.mod and go.sum) has its own hash and folder in the cache, so a change of one set
rebuilds only that set. One `bin` folder of links joins the sets of a checkout.
"""

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from harness import HarnessError

HERE = Path(__file__).resolve().parent.parent
GO_AT_LEAST = (1, 25)
KUBERNETES_VERSION = "v1.34.4"
# Sets of another Kubernetes than that.
SET_VERSIONS = {"kubectl-1.35": "v1.35.4"}
# Sets that newer Go does not compile: kuttl implements an interface of Go's own tests, which has grown since.
SET_TOOLCHAINS = {"kuttl": "go1.25.5"}
# Sets that are kept with the test they serve.
SET_FOLDERS = {"client-go": HERE.parent / "apiserver" / "clients" / "informer"}


@dataclass(frozen=True)
class Program:
    name: str
    set: str
    package: str
    on_request: bool = False  # for benchmarks: built only when named


PROGRAMS = {
    p.name: p
    for p in (
        Program("etcd", "core", "go.etcd.io/etcd/server/v3"),
        Program("kube-apiserver", "core", "k8s.io/kubernetes/cmd/kube-apiserver"),
        Program("kubectl", "core", "k8s.io/kubernetes/cmd/kubectl"),
        Program("kube-controller-manager", "core", "k8s.io/kubernetes/cmd/kube-controller-manager"),
        Program("kube-scheduler", "core", "k8s.io/kubernetes/cmd/kube-scheduler"),
        Program("kubectl-1.35", "kubectl-1.35", "k8s.io/kubernetes/cmd/kubectl"),
        Program("kwok", "kwok", "sigs.k8s.io/kwok/cmd/kwok"),
        Program("informer", "informer", "./cmd/informer"),
        Program("load", "informer", "./cmd/load"),
        Program("strategic-merge", "oracle", "./cmd/strategic-merge"),
        Program("field-manager", "oracle", "./cmd/field-manager"),
        Program("table-rows", "printers", "./cmd/table-rows"),
        Program("client-go-check", "client-go", "."),
        Program("mcad", "mcad", "github.com/project-codeflare/multi-cluster-app-dispatcher/cmd/kar-controllers", True),
        Program("kuttl", "kuttl", "github.com/kudobuilder/kuttl/cmd/kubectl-kuttl"),
        Program("helm", "helm", "helm.sh/helm/v3/cmd/helm"),
        Program("helm-4", "helm-4", "helm.sh/helm/v4/cmd/helm"),
        Program("versitygw", "versitygw", "github.com/versity/versitygw/cmd/versitygw"),
        Program("kuberay-operator", "kuberay", "github.com/ray-project/kuberay/ray-operator"),
        Program("minimalkueue", "kueue", "sigs.k8s.io/kueue/test/performance/scheduler/minimalkueue", True),
        Program("kueue-runner", "kueue", "sigs.k8s.io/kueue/test/performance/scheduler/runner", True),
        Program("kueue-unthrottled", "kueue", "./cmd/kueue-unthrottled", True),
    )
}
SETS = sorted({p.set for p in PROGRAMS.values()})


def say(text):
    print(f"kubernetes: {text}", file=sys.stderr, flush=True)


def cache_root():
    base = os.environ.get("CODEFLARE_CACHE")
    if not base:
        base = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "codeflare")
    return Path(base).absolute() / "kubernetes"


def set_folder(name):
    return SET_FOLDERS.get(name, HERE / name)


def linker_flags(name):
    """Without these a Kubernetes program calls itself v0.0.0-master, and clients that look at the version reject it."""
    version = SET_VERSIONS.get(name, KUBERNETES_VERSION)
    major, minor = version[1:].split(".")[:2]
    stamp = {"gitVersion": version, "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    packages = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    return " ".join(["-s -w"] + [f"-X {p}.{name}={value}" for p in packages for name, value in stamp.items()])


def go_environment():
    # A go.work file above the checkout must not change what is built.
    return {**os.environ, "CGO_ENABLED": "0", "GOWORK": "off"}


def go_version():
    """The version that builds the sets: a go command may fetch the one that a go.mod asks for."""
    needed = "Go {}.{} or newer must be on PATH to build Kubernetes".format(*GO_AT_LEAST)
    if not shutil.which("go"):
        raise HarnessError(f"{needed}; there is no go command")

    def ask(*command, cwd):
        result = subprocess.run(command, cwd=cwd, env=go_environment(), capture_output=True, text=True)
        return result.stdout.strip() if result.returncode == 0 else ""

    found = ask("go", "env", "GOVERSION", cwd=HERE / "core")
    match = re.match(r"go(\d+)\.(\d+)", found)
    if not match or tuple(map(int, match.groups())) < GO_AT_LEAST:
        outside = found or ask("go", "env", "GOVERSION", cwd="/") or "one that does not say its version"
        raise HarnessError(f"{needed}; found {outside} ({shutil.which('go')})")
    return found


def set_hash(name, version):
    digest = hashlib.sha256()
    digest.update(f"{SET_TOOLCHAINS.get(name, version)}\n{linker_flags(name)}\n".encode())
    for path in sorted(set_folder(name).rglob("*")):
        if path.is_file() and (path.suffix == ".go" or path.name in ("go.mod", "go.sum")):
            digest.update(f"{name}/{path.relative_to(set_folder(name))}\n".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def set_dirs(version):
    return {name: cache_root() / "sets" / f"{name}-{set_hash(name, version)}" for name in SETS}


def bin_dir(version=None):
    """Where the programs of this checkout are or will be; building nothing."""
    dirs = set_dirs(version or go_version())
    joined = hashlib.sha256(" ".join(d.name for d in dirs.values()).encode()).hexdigest()[:16]
    return cache_root() / joined / "bin"


@contextlib.contextmanager
def locked(path):
    """Two callers must not build the same set at once: the second waits and finds the work done."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another build of {path.stem}")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def resolve(names):
    """Program names, set names or nothing (everything that is not on request only), in build order."""
    unknown = [n for n in names if n not in PROGRAMS and n not in SETS]
    if unknown:
        raise HarnessError(f"unknown program {unknown[0]!r}: expected one of {', '.join([*PROGRAMS, *SETS])}")
    return [p for p in PROGRAMS.values() if p.name in names or p.set in names or not (names or p.on_request)]


def compile_environment(pins):
    """A compiler process lives for seconds: collecting its garbage costs more than the memory that it frees."""
    toolchain = {"GOTOOLCHAIN": SET_TOOLCHAINS[pins]} if pins in SET_TOOLCHAINS else {}
    return {"GOGC": "400", **go_environment(), **toolchain}


def output_name(program):
    """The file name that `go build -o FOLDER/` gives a program: the last element of its path that is not a major version."""
    path = set_folder(program.set) / program.package
    return path.parent.name if re.fullmatch(r"v\d+", path.name) else path.name


def compile_programs(programs, folder):
    """One `go build` for programs of one set: while one is linked, others compile. It writes to a temporary folder, so that an
    interrupted build leaves nothing that looks finished."""
    names, pins = ", ".join(p.name for p in programs), programs[0].set
    say(f"building {names} (set {pins})")
    began = time.monotonic()
    # The linker's -w drops debug information, so the compiler need not make it.
    command = ["go", "build", "-p", str(os.cpu_count() or 2), "-trimpath", "-buildvcs=false", "-gcflags=all=-dwarf=false"]
    with tempfile.TemporaryDirectory(prefix=".partial-", dir=folder) as partial:
        command += ["-ldflags", linker_flags(pins), "-o", f"{partial}/", *(p.package for p in programs)]
        result = subprocess.run(command, cwd=set_folder(pins), env=compile_environment(pins), stdout=sys.stderr)
        if result.returncode != 0:
            raise HarnessError(f"go build of {names} failed with exit code {result.returncode}")
        size = sum(file.stat().st_size for file in Path(partial).iterdir()) / 1e6
        for program in programs:
            (Path(partial) / output_name(program)).rename(folder / program.name)
    say(f"built {names} in {time.monotonic() - began:.0f} s ({size:.0f} MB)")


def ensure(names=(), verbose=False):
    """Builds what is missing of `names` and returns the bin folder, which links to all that is built."""
    wanted = resolve(names)
    version = go_version()
    dirs, bin_path = set_dirs(version), bin_dir(version)
    for pins in dict.fromkeys(p.set for p in wanted):
        folder = dirs[pins]
        missing = [p for p in wanted if p.set == pins and not (folder / p.name).exists()]
        if verbose:
            for program in (p for p in wanted if p.set == pins and p not in missing):
                say(f"{program.name} is built ({folder.name})")
        if not missing:
            continue
        with locked(cache_root() / f"{pins}.lock"):
            folder.mkdir(parents=True, exist_ok=True)
            missing = [p for p in missing if not (folder / p.name).exists()]
            if missing:
                compile_programs(missing, folder)
    bin_path.mkdir(parents=True, exist_ok=True)
    for program in PROGRAMS.values():
        target, link = dirs[program.set] / program.name, bin_path / program.name
        if target.exists() and not link.is_symlink():
            with contextlib.suppress(FileExistsError):
                link.symlink_to(os.path.relpath(target, bin_path))
    return bin_path
