#!/usr/bin/env python3
"""s3_test.py PROGRAM: DataSets in S3, from versitygw, a real object store that checks signatures, on `codeflare up`.

With SIZES=large also 10,000 objects and one of 2 GB, with the memory of `codeflare data`."""

import http.server
import itertools
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.dont_write_bytecode = True

PROGRAM = str(pathlib.Path(sys.argv.pop(1)).absolute())
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/kubernetes"), str(ROOT / "python")]

from codeflare_elastic import _saver, _service, _tree  # noqa: E402
from harness import build  # noqa: E402

KEY, SECRET = "the-key", "the-very-secret-key"
LARGE = os.environ.get("SIZES") == "large"


def server_program():
    if given := os.environ.get("VERSITYGW"):
        return given
    build.ensure(["versitygw"])
    return str(build.bin_dir() / "versitygw")


def wait_for_port(port):
    deadline = time.monotonic() + 30
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


class Cut(http.server.BaseHTTPRequestHandler):
    """Between client and store: every third body of an object breaks off half way."""
    port = 0
    numbers = itertools.count(1)
    cuts = 0

    def do_GET(self):
        number = next(Cut.numbers)  # not one that another thread has taken meanwhile
        with socket.create_connection(("127.0.0.1", Cut.port)) as store:
            head = f"{self.command} {self.path} HTTP/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in self.headers.items() if k.lower() != "connection")
            store.sendall((head + "Connection: close\r\n\r\n").encode())
            answer = b""
            while piece := store.recv(65536):
                answer += piece
        if number % 3 == 0 and b"list-type" not in self.path.encode():
            Cut.cuts += 1
            answer = answer[:len(answer) // 2]
        self.wfile.write(answer)
        self.close_connection = True

    def log_message(self, *_):
        pass


class WithBucket(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="s3-")
        cls.at = pathlib.Path(cls.folder.name)
        (cls.at / "buckets/box").mkdir(parents=True)
        # Tags of parts are kept there.
        (cls.at / "meta").mkdir()
        (cls.at / "keys").mkdir()
        (cls.at / "keys/accessKeyID").write_text(KEY)
        (cls.at / "keys/secretAccessKey").write_text(SECRET)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            cls.port = free.getsockname()[1]
        with open(cls.at / "log", "wb") as log:
            cls.server = subprocess.Popen([server_program(), "--access", KEY, "--secret", SECRET, "--port", f"127.0.0.1:{cls.port}",
                                           "posix", "--sidecar", str(cls.at / "meta"), str(cls.at / "buckets")], stdout=log, stderr=log)
        wait_for_port(cls.port)

    @classmethod
    def tearDownClass(cls):
        cls.server.terminate()
        cls.server.wait()
        cls.folder.cleanup()


class OnThisMachine(WithBucket):
    """`codeflare data` without a cluster."""

    def data(self, verb, directory, *words, port=None, bucket="box", keys="keys", code=0, command=()):
        process = subprocess.Popen([PROGRAM, "data", verb, f"--endpoint=http://127.0.0.1:{port or self.port}", f"--bucket={bucket}",
                                    f"--keys={self.at / keys}", *words, str(self.at / directory), *(["--", *command] if command else [])],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        with process.stdout:
            said = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.peak_megabytes = usage.ru_maxrss // 1024
        self.assertEqual(process.returncode, code, said)
        self.assertNotIn(SECRET, said)
        return said

    def put(self, name, content):
        path = self.at / "buckets/box" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    def test_objects_arrive_as_they_are_whatever_their_names(self):
        names = ["plain", "a b", "a+b", "deep/er/file", "é", "50%", "q?x=1&y", "it's", "(x)", "a;b", "#h", "empty"]
        for name in names:
            self.put("names/" + name, b"" if name == "empty" else name.encode())
        self.data("get", "names", "--prefix=names")
        for name in names:
            self.assertEqual((self.at / "names" / name).read_bytes(), b"" if name == "empty" else name.encode(), name)
        self.assertEqual(sorted(str(p.relative_to(self.at / "names")) for p in (self.at / "names").rglob("*") if p.is_file()), sorted(names))

    def test_changes_go_back(self):
        self.put("back/same", b"same")
        self.put("back/changes", b"old")
        state = f"--state={self.at / 'state'}"
        self.data("get", "back", "--prefix=back", state)
        before = (self.at / "buckets/box/back/same").stat().st_mtime_ns
        said = self.data("put", "back", "--prefix=back", state,
                         command=["sh", "-c", f"cd {self.at}/back && echo new > changes && mkdir sub && echo 'a b' > 'sub/a+b c' && echo done"])
        self.assertIn("done\ncopied 2 objects", said)
        self.assertEqual((self.at / "buckets/box/back/changes").read_text(), "new\n")
        self.assertEqual((self.at / "buckets/box/back/sub/a+b c").read_text(), "a b\n")
        self.assertEqual((self.at / "buckets/box/back/same").stat().st_mtime_ns, before)
        # A program that fails keeps its changes to itself.
        self.data("put", "back", "--prefix=back", state, command=["sh", "-c", f"echo bad > {self.at}/back/changes; exit 7"], code=7)
        self.assertEqual((self.at / "buckets/box/back/changes").read_text(), "new\n")

    def test_large_files_go_back_in_parts(self):
        # Parts of 64 MiB: three, of which the last is short.
        (self.at / "parts").mkdir()
        with open(self.at / "parts/large", "wb") as file:
            for _ in range(150):
                file.write(os.urandom(1 << 20))
            file.write(b"end")
        self.assertIn("copied 1 object, ", self.data("put", "parts", "--prefix=parts"))
        self.assertEqual(subprocess.run(["cmp", self.at / "parts/large", self.at / "buckets/box/parts/large"], check=False).returncode, 0)
        parts = re.findall(r"PUT \| /box/parts/large .*partNumber=(\d+)", (self.at / "log").read_text())
        self.assertEqual(sorted(parts), ["1", "2", "3"])

    def test_a_store_with_an_authority_of_its_own(self):
        made = {"ca": ["-x509", "-subj", "/CN=own authority"],
                "store": ["-x509", "-subj", "/CN=store", "-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE",
                          "-CA", self.at / "ca.crt", "-CAkey", self.at / "ca.key"]}
        for name, words in made.items():
            subprocess.run(["openssl", "req", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", self.at / f"{name}.key", "-out", self.at / f"{name}.crt", *words],
                           check=True, capture_output=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with open(self.at / "tls-log", "wb") as log:
            server = subprocess.Popen([server_program(), "--access", KEY, "--secret", SECRET, "--port", f"127.0.0.1:{port}", "--cert", str(self.at / "store.crt"),
                                       "--key", str(self.at / "store.key"), "posix", "--nometa", str(self.at / "buckets")], stdout=log, stderr=log)
        try:
            wait_for_port(port)
            self.put("tls/file", b"by TLS")
            endpoint = f"--endpoint=https://127.0.0.1:{port}"
            self.assertRegex(self.data("get", "tls", endpoint, "--prefix=tls", code=1), r"DataFailed: .*certificate")
            shutil.copytree(self.at / "keys", self.at / "tls-keys")
            shutil.copy(self.at / "ca.crt", self.at / "tls-keys/ca.crt")
            self.data("get", "tls", endpoint, "--prefix=tls", keys="tls-keys")
            self.assertEqual((self.at / "tls/file").read_bytes(), b"by TLS")
        finally:
            server.terminate()
            server.wait()

    def test_what_is_wrong_is_said(self):
        (self.at / "wrong").mkdir()
        (self.at / "wrong/accessKeyID").write_text(KEY)
        (self.at / "wrong/secretAccessKey").write_text("another")
        self.assertRegex(self.data("get", "w", keys="wrong", code=1), r"(?m)^AccessDenied: bucket box at 127.0.0.1:\d+: SignatureDoesNotMatch")
        self.assertRegex(self.data("get", "w", bucket="nothing", code=1), r"(?m)^NotFound: bucket nothing .*: NoSuchBucket")

    def test_a_connection_that_breaks_goes_on(self):
        content = {f"cut/{i}": os.urandom(300_000 + i) for i in range(20)}
        for name, each in content.items():
            self.put(name, each)
        Cut.port = self.port
        proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Cut)
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        try:
            # The store checks the Host that was signed, so the proxy passes it on.
            self.data("get", "cut", "--prefix=cut", port=proxy.server_port)
        finally:
            proxy.shutdown()
            proxy.server_close()
        self.assertGreater(Cut.cuts, 3)
        for name, each in content.items():
            self.assertEqual((self.at / name).read_bytes(), each)

    @unittest.skipUnless(LARGE, "SIZES=large")
    def test_many_and_large_objects_take_little_memory(self):
        for i in range(10_000):
            self.put(f"many/{i % 100}/{i}", b"x" * (i % 2000))
        with open(self.at / "buckets/box/large", "wb") as file:
            for i in range(2048):
                file.write(bytes([i % 256]) * (1 << 20))
        for prefix in ("many", ""):
            began = time.monotonic()
            self.data("get", "in" + prefix, f"--prefix={prefix}")
            print(f"{prefix or 'all'}: {time.monotonic() - began:.1f} s, {self.peak_megabytes} MB at most", file=sys.stderr)
            self.assertLess(self.peak_megabytes, 64)
        self.assertEqual((self.at / "in/large").stat().st_size, 2048 << 20)
        self.assertEqual(subprocess.run(["cmp", self.at / "in/large", self.at / "buckets/box/large"], check=False).returncode, 0)
        (self.at / "out").mkdir()
        (self.at / "in/large").rename(self.at / "out/large")
        began = time.monotonic()
        self.data("put", "out", "--prefix=out")
        print(f"back in parts: {time.monotonic() - began:.1f} s, {self.peak_megabytes} MB at most", file=sys.stderr)
        self.assertEqual(subprocess.run(["cmp", self.at / "out/large", self.at / "buckets/box/out/large"], check=False).returncode, 0)
        self.assertLess(self.peak_megabytes, 64)


class Checkpoints(WithBucket):
    """`codeflare checkpointd` with a bucket: what the library has saved outlives the disk of the service."""

    def setUp(self):
        self.data_directory = self.at / self.id()
        self.log = self.at / "checkpointd"
        self.process = None
        self.addCleanup(self.stop)
        self.token = self.at / "token"

    def stop(self):
        if self.process is not None:
            self.process.terminate()
            self.process.wait()
            self.process = None

    def serve(self, keys="keys"):
        self.stop()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        words = [PROGRAM, "checkpointd", "--data", str(self.data_directory), "--listen", f"127.0.0.1:{port}", f"--s3-keys={self.at / keys}",
                 f"--s3-endpoint=http://127.0.0.1:{self.port}", "--s3-bucket=box", "--s3-prefix=saved"]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(words, stdout=log, stderr=log)
        wait_for_port(port)
        key = ["--key-file", str(self.data_directory / "key"), "--namespace", "default", "--uid", "1111-2222"]
        self.token.write_text(subprocess.run([PROGRAM, "checkpoint", "token", *key], capture_output=True, text=True, check=True).stdout)
        return _service.Service("127.0.0.1", port, "default", "1111-2222", str(self.token), about={"bucket": True, "keep": 2})

    @staticmethod
    def state(step, size=9 << 20):
        return {"step": step, "epoch": 1, "offset": 12}, ["x", 0], [_tree.Blob("uint8", (size,), os.urandom(size))]

    def test_saved_states_come_back_to_a_service_that_lost_its_disk(self):
        service = self.serve()
        for step in (10, 20, 30):
            meta, tree, blobs = self.state(step)
            service.copy(service.save(1, 2, meta, tree, blobs))
        folder = self.at / "buckets/box/saved/default/1111-2222"

        def kept():
            return sorted(path.parent.name.rsplit("-", 5)[0] for path in folder.glob("*/manifest.json"))

        deadline = time.monotonic() + 30
        while len(kept()) > 2 and time.monotonic() < deadline:  # removed after the answer
            time.sleep(0.05)
        self.assertEqual(kept(), ["1-20", "1-30"])
        self.stop()
        shutil.rmtree(self.data_directory)
        service = self.serve()
        step, load = _saver.newest_of([_saver.Remote(service)], expected=30, patience_seconds=60, pause_seconds=0.1)
        found, _, parts = load()
        self.assertEqual((step, found, bytes(parts[0].data)), (30, meta, bytes(blobs[0].data)))
        self.assertNotIn(SECRET, self.log.read_text())

    def wrong_keys(self):
        (self.at / "wrong").mkdir(exist_ok=True)
        (self.at / "wrong/accessKeyID").write_text(KEY)
        (self.at / "wrong/secretAccessKey").write_text("another")

    def test_a_service_with_its_disk_saves_although_the_bucket_rejects_it(self):
        self.wrong_keys()
        service = self.serve()
        service.copy(service.save(1, 2, *self.state(10)))
        service = self.serve("wrong")
        id_ = service.save(1, 2, *self.state(20))
        self.assertEqual(service.latest()["step"], 20)
        with self.assertRaises(_service.ServiceError) as caught:
            service.copy(id_)
        self.assertEqual((caught.exception.status, caught.exception.reason), (503, "BucketFailed"))

    def test_a_bucket_that_rejects_the_keys_fails_the_first_save(self):
        self.wrong_keys()
        service = self.serve("wrong")
        with self.assertRaises(_service.ServiceError) as caught:
            service.save(1, 2, *self.state(10))
        self.assertEqual((caught.exception.status, caught.exception.reason), (503, "BucketFailed"))
        self.assertIn("SignatureDoesNotMatch", str(caught.exception))
        self.assertNotIn("another", self.log.read_text())


class InRuns(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(prefix="s3-")
        cls.env = {**os.environ, "KUBECONFIG": cls.directory + "/config"}
        shutil.copy(server_program(), cls.directory + "/versitygw")
        cls.call("up", "--detach", "--listen", "127.0.0.1:0", "--data-dir", cls.directory + "/data", "--cpus", "8", "--memory", "16Gi", "--allow-host-path", cls.directory)
        cls.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "s3", "labels": {"app": "s3"}}, "spec": {
            "containers": [{"name": "s3", "image": "debian",
                            "command": ["sh", "-c", "mkdir -p /buckets/box/in && echo apple > /buckets/box/in/fruit && exec /versity/versitygw --access "
                                        f"{KEY} --secret {SECRET} --port :7070 posix --nometa /buckets"],
                            "volumeMounts": [{"name": "program", "mountPath": "/versity"}, {"name": "buckets", "mountPath": "/buckets"}],
                            "readinessProbe": {"tcpSocket": {"port": 7070}, "periodSeconds": 1}}],
            "volumes": [{"name": "program", "hostPath": {"path": cls.directory}}, {"name": "buckets", "emptyDir": {}}]}})
        cls.create({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s3"}, "spec": {"selector": {"app": "s3"}, "ports": [{"port": 7070}]}})
        for name, secret in (("keys", SECRET), ("wrong", "another")):
            cls.create({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": {"accessKeyID": KEY, "secretAccessKey": secret}})

    @classmethod
    def tearDownClass(cls):
        cls.call("down", "--data-dir", cls.directory + "/data")
        shutil.rmtree(cls.directory, ignore_errors=True)

    @classmethod
    def call(cls, *words, text=None, code=0):
        done = subprocess.run([PROGRAM, *words], input=text, capture_output=True, text=True, env=cls.env, check=False, timeout=180)
        if done.returncode != code:
            raise AssertionError(f"{words}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    @classmethod
    def create(cls, body):
        cls.call("create", "-f", "-", text=json.dumps(body))

    def make(self, kind, name, namespace="default", **spec):
        self.create({"apiVersion": "codeflare.dev/v1alpha1", "kind": kind, "metadata": {"name": name, "namespace": namespace}, "spec": spec})

    def run_with(self, name, command, data_set, code=0, namespace="default", **more):
        self.make("DataSet", name, namespace, **data_set)
        self.make("Application", name, api="shell", image="debian", command=command, inputs=[{"name": name, "namespace": namespace, **more}])
        self.make("Run", name, application={"name": name}, size="xxs")
        self.call("wait", "run", name, code=code)
        status = json.loads(self.call("status", "run", name, "-o", "json"))["status"]
        self.assertNotIn(SECRET, json.dumps(status))
        return status

    def s3(self, secret="keys", **more):
        return {"endpoint": "http://s3.default:7070", "bucket": "box", "prefix": "in", "secret": {"name": secret}, **more}

    def test_data_are_there_before_the_program(self):
        self.run_with("reads", "cat /mnt/datasets/reads/fruit #", {"s3": self.s3()})
        self.assertEqual(self.call("logs", "run", "reads"), "apple\n")

    def test_changes_are_copied_back_when_the_program_succeeds(self):
        self.run_with("writes", 'echo "pear $1" > /mnt/datasets/writes/new; cat /mnt/datasets/writes/fruit #', {"s3": self.s3(prefix="in"), "readOnly": False})
        self.run_with("again", "cat /mnt/datasets/again/new #", {"s3": self.s3()})
        self.assertEqual(self.call("logs", "run", "again").split(), ["pear"])
        status = self.run_with("fails", "echo x > /mnt/datasets/fails/broken; exit 3 #", {"s3": self.s3(), "readOnly": False}, code=1)
        self.assertIn("exited with code 3", status["message"])
        self.run_with("checks", "ls /mnt/datasets/checks #", {"s3": self.s3()})
        self.assertNotIn("broken", self.call("logs", "run", "checks"))

    def test_keys_as_variables_and_from_another_namespace(self):
        self.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "owner"}})
        self.create({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "theirs", "namespace": "owner"},
                     "stringData": {"accessKeyID": KEY, "secretAccessKey": SECRET}})
        self.run_with("env", 'test "$ENV_SECRETACCESSKEY" = "$(cat /proc/self/environ | tr "\\0" "\\n" | sed -n s/^ENV_SECRETACCESSKEY=//p)" && echo $ENV_BUCKET $ENV_ACCESSKEYID #',
                      {"s3": self.s3("theirs"), "allowedNamespaces": ["default"]}, namespace="owner", useas="env")
        self.assertEqual(self.call("logs", "run", "env"), f"box {KEY}\n")

    def test_what_is_wrong_is_in_the_run(self):
        status = self.run_with("key", "true", {"s3": self.s3("wrong")}, code=1)
        self.assertEqual(status["reason"], "AccessDenied")
        self.assertRegex(status["message"], r"container data-0 exited with code 1: AccessDenied: bucket box at s3.default:7070: SignatureDoesNotMatch")
        status = self.run_with("bucket", "true", {"s3": self.s3(bucket="nothing")}, code=1)
        self.assertEqual(status["reason"], "NotFound")
        self.assertIn("NoSuchBucket", status["message"])
        status = self.run_with("net", "true", {"s3": {**self.s3(), "endpoint": "http://s3.default:7071"}}, code=1)
        self.assertEqual(status["reason"], "Network", status)


if __name__ == "__main__":
    unittest.main()
