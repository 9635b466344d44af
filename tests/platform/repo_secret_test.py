#!/usr/bin/env python3
"""repo_secret_test.py PROGRAM: code from a private repository, served by git over HTTP in a pod of `codeflare up`.

The PlatformRepoSecret comes after the Run and heals it. Its password is looked for in arguments, environments, work directories, logs, events and objects."""

import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import kubeconfig  # noqa: E402

PROGRAM = str(pathlib.Path(sys.argv.pop(1)).absolute())
PASSWORD = "pa55-of-the-repository"
SERVER = r'''
import base64, http.server, os, subprocess
user, pat = (open("/secret/" + name).read() for name in ("user", "pat"))
allowed = "Basic " + base64.b64encode(f"{user}:{pat}".encode()).decode()
def git(*words, **more):
    subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", *words], check=True, **more)
git("init", "-q", "--bare", "/srv/repo.git")
git("init", "-q", "/srv/work")
os.makedirs("/srv/work/app/dir")
open("/srv/work/app/dir/main.sh", "w").write("echo code from git\n")
git("-C", "/srv/work", "add", ".")
git("-C", "/srv/work", "commit", "-q", "-m", "m")
git("-C", "/srv/work", "push", "-q", "/srv/repo.git", "HEAD:refs/heads/feature/x")
for name in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
    git("-C", "/srv/repo.git", "config", name, "true")
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def serve(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Transfer-Encoding") == "chunked":
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        if self.headers.get("Authorization") != allowed:
            self.send_response(401)
            self.send_header("WWW-Authenticate", "Basic realm=git")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        path, _, query = self.path.partition("?")
        env = {**os.environ, "GIT_PROJECT_ROOT": "/srv", "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path, "QUERY_STRING": query,
               "REQUEST_METHOD": self.command, "CONTENT_TYPE": self.headers.get("Content-Type", ""), "CONTENT_LENGTH": str(len(body)),
               "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""), "GIT_PROTOCOL": self.headers.get("Git-Protocol", "")}
        out = subprocess.run(["git", "http-backend"], input=body, capture_output=True, env=env).stdout
        head, _, rest = out.partition(b"\r\n\r\n")
        lines = [line.split(": ", 1) for line in head.decode().split("\r\n")]
        self.send_response(int(dict(lines).get("Status", "200 OK").split()[0]))
        for name, value in lines:
            if name != "Status":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        self.wfile.write(rest)
    do_GET = do_POST = serve
http.server.ThreadingHTTPServer(("", 8080), Handler).serve_forever()
'''


class Spy(threading.Thread):
    """Looks into every process of the machine, again and again."""

    def __init__(self, needle):
        super().__init__(daemon=True)
        self.needle = needle.encode()
        self.found = set()
        self.looks = 0
        self.over = threading.Event()

    def run(self):
        while not self.over.wait(0.02):
            self.looks += 1
            for pid in filter(str.isdigit, os.listdir("/proc")):
                for name in ("cmdline", "environ"):
                    try:
                        text = pathlib.Path("/proc", pid, name).read_bytes()
                    except OSError:
                        continue
                    if self.needle in text:
                        self.found.add(f"{name}: {text[:300]!r}")


class RepoSecret(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(prefix="repo-")
        cls.env = {**os.environ, "KUBECONFIG": cls.directory + "/config"}
        cls.call("up", "--detach", "--listen", "127.0.0.1:0", "--data-dir", cls.directory + "/data", "--cpus", "4", "--memory", "8Gi")
        cls.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "platform"}})
        for namespace in ("default", "platform"):
            cls.create({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "git", "namespace": namespace},
                        "data": {"user": base64.b64encode(b"u").decode(), "pat": base64.b64encode(PASSWORD.encode()).decode()}})
        cls.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "git", "labels": {"app": "git"}}, "spec": {
            "containers": [{"name": "git", "image": "debian", "command": ["python3", "-c", SERVER], "env": [{"name": "HOME", "value": "/tmp"}],
                            "volumeMounts": [{"name": "srv", "mountPath": "/srv"}, {"name": "secret", "mountPath": "/secret"}],
                            "readinessProbe": {"tcpSocket": {"port": 8080}, "periodSeconds": 1}}],
            "volumes": [{"name": "srv", "emptyDir": {}}, {"name": "secret", "secret": {"secretName": "git"}}]}})
        cls.create({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "git"}, "spec": {"selector": {"app": "git"}, "ports": [{"port": 8080}]}})

    @classmethod
    def tearDownClass(cls):
        cls.call("down", "--data-dir", cls.directory + "/data")
        shutil.rmtree(cls.directory, ignore_errors=True)

    @classmethod
    def call(cls, *words, text=None, code=0):
        done = subprocess.run([PROGRAM, *words], input=text, capture_output=True, text=True, env=cls.env, check=False, timeout=300)
        if done.returncode != code:
            raise AssertionError(f"{words}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    @classmethod
    def create(cls, body):
        cls.call("create", "-f", "-", text=json.dumps(body))

    def make(self, kind, name, **spec):
        self.create({"apiVersion": "codeflare.dev/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec})

    def kubectl(self, path):
        """The text behind a path of the API, as an administrator."""
        server, context = kubeconfig.read_admin(self.directory + "/data/admin.kubeconfig", pathlib.Path(self.directory))
        with urllib.request.urlopen(server.geturl() + path, context=context, timeout=60) as answer:
            return answer.read().decode()

    def test_a_secret_that_comes_later_heals_the_run_and_its_password_is_nowhere(self):
        spy = Spy(PASSWORD)
        spy.start()
        self.make("Application", "private", api="shell", image="debian", command="sh main.sh; grep -r pa55 /workdir /proc/self/environ; ls -a /workdir; ls /codeflare; true #",
                  repo="http://git.default:8080/repo.git/tree/feature/x/app/dir")
        self.make("Run", "private", application={"name": "private"}, size="xxs")
        deadline = time.monotonic() + 60
        while "AccessDenied" not in self.checkout_log():
            self.assertLess(time.monotonic(), deadline, self.checkout_log())
            time.sleep(0.5)
        self.make("PlatformRepoSecret", "ours", repo="http://git.default:8080", secret={"name": "git", "namespace": "platform"})
        self.call("wait", "run", "private", "--timeout", "120")
        spy.over.set()
        spy.join()
        log = self.call("logs", "run", "private")
        self.assertTrue(log.startswith("code from git\n"), log)
        self.assertNotIn(PASSWORD, log)
        self.assertNotIn(".git", log)
        self.assertNotIn("repo-secret", log)
        self.assertNotIn(PASSWORD, self.checkout_log())
        self.assertGreater(spy.looks, 20)
        self.assertEqual(spy.found, set())
        encoded = base64.b64encode(PASSWORD.encode()).decode()
        for kind in ("runs", "appwrappers", "pods", "jobs", "events", "configmaps"):
            text = self.call("list", kind, "-o", "json") if kind == "runs" else self.objects(kind)
            self.assertNotIn(PASSWORD, text, kind)
            self.assertNotIn(encoded, text, kind)
        self.assertIn("private", self.objects("appwrappers"))

    def objects(self, kind):
        paths = {"appwrappers": "/apis/workload.codeflare.dev/v1beta1/namespaces/default/appwrappers", "jobs": "/apis/batch/v1/namespaces/default/jobs"}
        return self.kubectl(paths.get(kind, f"/api/v1/namespaces/default/{kind}"))

    def checkout_log(self):
        pods = json.loads(self.objects("pods"))["items"]
        names = [pod["metadata"]["name"] for pod in pods if pod["metadata"]["name"].startswith("private-")]
        try:
            return self.kubectl(f"/api/v1/namespaces/default/pods/{names[0]}/log?container=checkout") if names else ""
        except OSError:
            return ""

    def test_wrong_repositories_say_so(self):
        self.make("PlatformRepoSecret", "wide", repo="http://git.default:*", secret={"name": "git", "namespace": "platform"})
        for name, repo, reason in (("nobranch", "http://git.default:8080/repo.git/tree/main", "NotFound"),
                                   ("nopath", "http://git.default:8080/repo.git/tree/feature/x/nothing", "NoSuchPath")):
            self.make("Application", name, api="shell", image="debian", command="true", repo=repo)
            self.make("Run", name, application={"name": name}, size="xxs")
            self.call("wait", "run", name, code=1)
            status = json.loads(self.call("status", "run", name, "-o", "json"))["status"]
            self.assertEqual(status["reason"], reason, status["message"])


if __name__ == "__main__":
    unittest.main()
