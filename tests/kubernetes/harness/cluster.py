"""One Kubernetes control plane in one folder: etcd and kube-apiserver, and on request the programs around them."""

import contextlib
import http.client
import json
import os
import secrets
import shutil
import signal
import ssl
import time
import urllib.parse
from pathlib import Path

from harness import HarnessError, components, processes
from harness.build import cache_root, ensure, say
from harness.pki import Authority

READY_SECONDS = 120
# user, group: what a bearer token of that name may do. Random values are in state.json under "tokens".
TOKENS = {
    "admin": ("token-admin", "system:masters"),
    "admin-2": ("token-admin", "system:masters"),
    "outsider": ("token-outsider", ""),
}


def default_dir():
    return cache_root() / "clusters" / "default"


class Cluster:
    """A running or starting control plane; everything needed to find it again is in <dir>/state.json."""

    def __init__(self, state):
        self.state = state
        self.dir = Path(state["dir"])

    # ---- finding and remembering

    @classmethod
    def load(cls, folder):
        path = Path(folder) / "state.json"
        try:
            return cls(json.loads(path.read_text()))
        except FileNotFoundError:
            raise HarnessError(f"no cluster in {folder}: {path.name} is missing") from None
        except (json.JSONDecodeError, KeyError) as error:
            raise HarnessError(f"{path} is not a state file of this program: {error}") from None

    def save(self):
        partial = self.dir / ".state.json"
        partial.touch(mode=0o600)
        partial.write_text(json.dumps(self.state, indent=2) + "\n")
        partial.rename(self.dir / "state.json")

    @property
    def kubeconfig(self):
        return self.state["kubeconfig"]

    def process(self, name):
        for process in self.state["processes"]:
            if process["name"] == name:
                return process
        names = ", ".join(p["name"] for p in self.state["processes"])
        raise HarnessError(f"no process {name!r} in {self.dir}: there are {names}")

    # ---- starting

    @classmethod
    def create(cls, folder, options, tied=False):
        """Starts a control plane in `folder` and returns when it can be used; nothing is left behind on failure."""
        bin_path = ensure(components.programs(options))
        folder = Path(folder).absolute()
        if (folder / "state.json").exists():
            raise HarnessError(f"there is a cluster in {folder} already: {folder / 'admin.kubeconfig'}")
        if folder.exists() and any(folder.iterdir()):
            raise HarnessError(f"{folder} is not empty")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            (folder / "log").mkdir()
        except FileExistsError:
            raise HarnessError(f"another start in {folder} is under way") from None
        began = time.monotonic()
        starter = {"pid": os.getpid(), "start_time": processes.start_time(os.getpid())}
        server = f"https://127.0.0.1:{processes.free_port()}"
        cluster = cls({
            "dir": str(folder),
            "bin": str(bin_path),
            "kubeconfig": str(folder / "admin.kubeconfig"),
            "server": server,
            "etcd": f"http://127.0.0.1:{processes.free_port()}",
            "starter": starter,
            "tied": tied,
            "tokens": {name: secrets.token_hex(16) for name in TOKENS},
            "apiserver_env": options.apiserver_env,
            "processes": [],
        })
        try:
            cluster._start(options)
        except BaseException:
            cluster.destroy()
            raise
        say(f"ready in {time.monotonic() - began:.1f} s: {server}, logs in {folder / 'log'}")
        return cluster

    def _start(self, options):
        self.save()
        # etcd needs no certificate, so it starts while openssl works.
        self._launch("etcd", components.etcd(self, options))
        self._make_credentials()
        self._launch("kube-apiserver", components.apiserver(self, options))
        self._await_ready()
        others = components.others(self, options)
        for name, arguments in others.items():
            self._launch(name, arguments)
        for number in range(options.nodes):
            self.request("POST", "/api/v1/nodes", components.fake_node(number))
        if "kube-controller-manager" in others and components.runs_service_accounts(options):
            # The first pod needs it; without this wait a test that is fast enough sees "serviceaccount not found".
            self._await("the default service account", "/api/v1/namespaces/default/serviceaccounts/default")

    def _make_credentials(self):
        pki = Authority(self.dir / "pki")
        names = ["IP:127.0.0.1", "IP:10.96.0.1", "DNS:localhost", "DNS:kubernetes.default.svc", "DNS:kubernetes.default"]
        pki.server("apiserver", names)
        pki.client("admin", "admin", "system:masters")
        pki.client("controller-manager", "system:kube-controller-manager")
        pki.client("scheduler", "system:kube-scheduler")
        pki.client("apiserver-kubelet-client", "kube-apiserver-kubelet-client", "system:masters")
        # Its authority must not sign users: whoever has such a certificate may speak for anybody.
        Authority(self.dir / "pki" / "front-proxy").client("client", components.FRONT_PROXY)
        pki.signing_key("service-account")
        for client in ("admin", "controller-manager", "scheduler"):
            pki.kubeconfig(self.dir / f"{client}.kubeconfig", self.state["server"], client)
        tokens = self.dir / "tokens.csv"
        tokens.touch(mode=0o600)
        rows = [f'{self.state["tokens"][name]},{user},{name},"{group}"' for name, (user, group) in TOKENS.items()]
        tokens.write_text("\n".join(rows) + "\n")

    def _launch(self, name, arguments, tied=None):
        argv = [str(Path(self.state["bin"]) / name), *arguments]
        # HOME: no program may read or write the user's own settings. No proxy: everything is on loopback.
        environment = {"HOME": str(self.dir), "PATH": os.environ.get("PATH", ""), "TMPDIR": str(self.dir)}
        if name == "kube-apiserver":
            environment.update(each.split("=", 1) for each in self.state.get("apiserver_env", []))
        log = self.dir / "log" / f"{name}.log"
        with processes.signals_held():
            record = processes.start(name, argv, log, environment, self.state["tied"] if tied is None else tied)
            self.state["processes"] = [p for p in self.state["processes"] if p["name"] != name] + [record]
            self.save()

    # ---- talking to it

    def request(self, method, path, body=None):
        """One request as administrator; returns the status code and the decoded body."""
        url = urllib.parse.urlsplit(self.state["server"])
        context = ssl.create_default_context(cafile=str(self.dir / "pki/ca.crt"))
        context.load_cert_chain(self.dir / "pki/admin.crt", self.dir / "pki/admin.key")
        connection = http.client.HTTPSConnection(url.hostname, url.port, timeout=10, context=context)
        try:
            headers = {"Content-Type": "application/json"} if body is not None else {}
            connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            response = connection.getresponse()
            text = response.read().decode()
        finally:
            connection.close()
        if method != "GET" and response.status >= 300:
            raise HarnessError(f"{method} {path}: {response.status} {text.strip()[:300]}")
        return response.status, text

    def _await(self, what, path):
        deadline = time.monotonic() + READY_SECONDS
        while True:
            dead = [p for p in self.state["processes"] if not processes.alive(p)]
            if dead:
                raise HarnessError(f"{dead[0]['name']} ended while waiting for {what}:\n{self._log_tail(dead[0])}")
            try:
                if self.request("GET", path)[0] == 200:
                    return
            except (OSError, http.client.HTTPException):
                pass
            if time.monotonic() > deadline:
                tail = self._log_tail(self.process("kube-apiserver"))
                raise HarnessError(f"no {what} within {READY_SECONDS} s:\n{tail}")
            time.sleep(0.05)

    def _await_ready(self):
        self._await("kube-apiserver", "/readyz")

    @staticmethod
    def _log_tail(process, lines=15):
        try:
            return "\n".join(Path(process["log"]).read_text(errors="replace").splitlines()[-lines:])
        except OSError:
            return "(no log)"

    def compact(self):
        """Drops etcd's history up to its current revision and returns that revision."""
        revision = int(self._etcd("range", {"key": "AA=="})["header"]["revision"])
        self._etcd("compaction", {"revision": str(revision), "physical": True})
        return revision

    def _etcd(self, call, body):
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(self.state["etcd"]).netloc, timeout=60)
        try:
            connection.request("POST", f"/v3/kv/{call}", json.dumps(body), {"Content-Type": "application/json"})
            response = connection.getresponse()
            text = response.read().decode()
        except OSError as error:
            raise HarnessError(f"etcd at {self.state['etcd']} does not answer: {error}") from None
        finally:
            connection.close()
        if response.status != 200:
            raise HarnessError(f"etcd {call}: {response.status} {text.strip()[:300]}")
        return json.loads(text)

    # ---- stopping

    def restart(self, name, number=signal.SIGKILL):
        """Ends one process with a signal and starts it again with the same arguments, ports and data."""
        old = self.process(name)
        processes.stop([old], number)
        # Not tied: this caller ends at once, and the process must not.
        self._launch(name, old["argv"][1:], tied=False)
        self._await_ready()

    def destroy(self):
        with contextlib.suppress(HarnessError):
            # Another caller may have restarted something since.
            self.state = Cluster.load(self.dir).state
        # The data go as well, so nothing is gained by asking politely; etcd last, or the others would fill their logs.
        processes.stop(self.state["processes"][::-1])
        shutil.rmtree(self.dir, ignore_errors=True)


def sweep(parent):
    """Ends and removes what a `run` left behind that was killed before it could do so itself."""
    for path in Path(parent).glob("run-*/state.json"):
        with contextlib.suppress(HarnessError, KeyError):
            cluster = Cluster.load(path.parent)
            if not processes.alive(cluster.state["starter"]):
                cluster.destroy()
