#!/usr/bin/env python3
"""Wrong input and failing servers as exceptions: each has a code, and a hint where there is a fix; no None, no traceback of ours, no hang.

errors_test.py: the package must be importable (PYTHONPATH). The server is a script.
"""

import contextlib
import http.server
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.dont_write_bytecode = True

# Longer than any of these may take, with the retries of a client.
PATIENCE_SECONDS = 90


def quietly(function, *words, **names):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return function(*words, **names)


class Scripted(http.server.BaseHTTPRequestHandler):
    """Answers everything in one way."""

    protocol_version = "HTTP/1.1"
    status = 200
    body = b""
    cut = False
    objects = None  # by the end of a path; watches of a server that has them break off

    def answer(self):
        length = int(self.headers.get("Content-Length") or 0)
        self.rfile.read(length)
        cls = type(self)
        if cls.cut:
            self.close_connection = True
            return
        if cls.objects is not None and "watch=" in self.path:
            self.break_off()
            return
        if cls.objects is not None:
            self.send_object(cls.objects.get(self.path.split("?")[0].rpartition("/")[2]))
            return
        self.send_response(cls.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(cls.body)))
        self.end_headers()
        self.wfile.write(cls.body)

    def break_off(self):
        """The beginning of an event, then the end of the connection."""
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b'40\r\n{"type":"MODIFIED","obj')
        self.close_connection = True

    def send_object(self, found):
        missing = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404, "reason": "NotFound", "message": "not found"}
        body = json.dumps(missing if found is None else found).encode()
        self.send_response(404 if found is None else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

    def log_message(self, *_):
        pass


class Errors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.handler = type("Handler", (Scripted,), {})
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), cls.handler)
        thread = threading.Thread(target=cls.server.serve_forever, daemon=True)
        thread.start()
        cls.addClassCleanup(thread.join)
        cls.addClassCleanup(cls.server.server_close)
        cls.addClassCleanup(cls.server.shutdown)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        before = os.getcwd()
        os.chdir(folder.name)
        self.addCleanup(os.chdir, before)
        config = pathlib.Path(folder.name) / "config"
        config.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u", "namespace": "team"}}],
            "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{self.server.server_port}"}}],
            "users": [{"name": "u", "user": {"token": "secret-token"}}]}))
        os.environ["KUBECONFIG"] = str(config)
        os.environ.pop("KUBERNETES_SERVICE_HOST", None)

    def answer(self, status, body=b"", cut=False, objects=None):
        self.handler.status, self.handler.body, self.handler.cut, self.handler.objects = status, body, cut, objects

    def refuse(self, status, reason):
        self.answer(status, json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": status, "reason": reason,
                                        "message": f"scripted {reason}"}).encode())

    def calls(self):
        from codeflare_sdk import Cluster, ClusterConfiguration, get_cluster, list_all_clusters, list_all_queued

        cluster = quietly(Cluster, ClusterConfiguration(name="demo", namespace="team", write_to_file=False))
        return {"list_all_clusters": lambda: list_all_clusters("team"), "list_all_queued": lambda: list_all_queued("team"),
                "get_cluster": lambda: get_cluster("demo", "team"), "up": cluster.up, "apply": cluster.apply, "down": cluster.down,
                "wait_ready": lambda: cluster.wait_ready(timeout=5), "details": cluster.details}

    def caught(self, name, call):
        from codeflare_sdk import CodeflareError

        began = time.monotonic()
        with self.assertRaises(CodeflareError, msg=name) as caught:
            quietly(call)
        self.assertLess(time.monotonic() - began, PATIENCE_SECONDS, name)
        self.assertNotIn("secret-token", str(caught.exception))
        self.assertTrue(caught.exception.code, name)
        return caught.exception

    def test_answers_of_a_server_become_exceptions(self):
        for status, reason, code, kind in (
            (401, "Unauthorized", "unauthenticated", PermissionError), (403, "Forbidden", "permission_denied", PermissionError),
            (409, "Conflict", None, Exception), (410, "Gone", None, Exception), (422, "Invalid", None, Exception), (500, "InternalError", None, Exception),
        ):
            self.refuse(status, reason)
            for name, call in self.calls().items():
                with self.subTest(status=status, call=name):
                    error = self.caught(name, call)
                    self.assertIsInstance(error, kind)
                    self.assertIn(f"scripted {reason}", str(error))
                    self.assertEqual(error.reason, reason)
                    if code:
                        self.assertEqual(error.code, code)
                        self.assertTrue(error.hint)

    def test_a_server_that_is_busy_or_away_is_named(self):
        for status, reason in ((429, "TooManyRequests"), (503, "ServiceUnavailable")):
            self.refuse(status, reason)
            calls = self.calls()
            for name in ("list_all_clusters", "up", "wait_ready"):
                with self.subTest(status=status, call=name):
                    error = self.caught(name, calls[name])
                    self.assertIn(f"scripted {reason}", str(error))
                    self.assertEqual(error.reason, reason)

    def test_watches_that_break_off_do_not_end_a_wait(self):
        metadata = {"name": "demo", "namespace": "team", "uid": "u", "resourceVersion": "1"}
        cluster = {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": metadata, "spec": {"headGroupSpec": {}}}
        some = lambda kind, items: {"apiVersion": "v1", "kind": f"{kind}List", "metadata": {"resourceVersion": "1"}, "items": items}
        self.answer(200, objects={"demo": cluster, "rayclusters": some("RayCluster", [cluster]), "pods": some("Pod", [])})
        self.assertIsInstance(self.caught("wait_ready", self.calls()["wait_ready"]), TimeoutError)

    def test_what_is_missing_is_not_found(self):
        self.refuse(404, "NotFound")
        calls = self.calls()
        for name in ("get_cluster", "down", "wait_ready", "details"):
            with self.subTest(call=name):
                error = self.caught(name, calls[name])
                self.assertIsInstance(error, FileNotFoundError)
                self.assertTrue(error.hint)

    def test_what_is_no_answer_is_an_error_too(self):
        for body, cut in ((b"<html>a proxy's page</html>", False), (b"", False), (b'{"kind":', False), (b"", True)):
            self.answer(200, body, cut)
            calls = self.calls()
            for name in ("list_all_clusters", "get_cluster", "up"):
                with self.subTest(body=body, cut=cut, call=name):
                    self.caught(name, calls[name])

    def test_calls_work_in_a_fork(self):
        metadata = {"name": "demo", "namespace": "team", "uid": "u", "resourceVersion": "1"}
        some = {"apiVersion": "ray.io/v1", "kind": "RayClusterList", "metadata": {"resourceVersion": "1"},
                "items": [{"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": metadata, "spec": {"headGroupSpec": {}}}]}
        self.answer(200, objects={"rayclusters": some})
        code = ("import os, sys; from codeflare_sdk import list_all_clusters\n"
                "names = lambda: [each.name for each in list_all_clusters('team', print_to_console=False)]\n"
                "assert names() == ['demo']\n"
                "child = os.fork()\n"
                "if child == 0: os._exit(0 if names() == ['demo'] else 1)\n"
                "assert os.waitpid(child, 0)[1] == 0 and names() == ['demo']\n")
        run = subprocess.run([sys.executable, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_objects_of_the_kubernetes_client_are_known_by_their_shape(self):
        from codeflare_sdk import Cluster, ClusterConfiguration

        def shaped(**names):
            """A class as the Kubernetes client generates them."""
            class Shaped:
                openapi_types = {name: "object" for name in names}
                attribute_map = names

                def __init__(self, **values):
                    for name in names:
                        setattr(self, name, values.get(name))
            return Shaped

        toleration = shaped(effect="effect", key="key", operator="operator", toleration_seconds="tolerationSeconds")
        volume = shaped(empty_dir="emptyDir", host_path="hostPath", name="name")
        empty_dir = shaped(medium="medium", size_limit="sizeLimit")
        mount = shaped(mount_path="mountPath", name="name", read_only="readOnly")
        cluster = quietly(Cluster, ClusterConfiguration(
            name="demo", namespace="team", write_to_file=False, worker_tolerations=[toleration(key="gpu", operator="Exists", toleration_seconds=5)],
            volumes=[volume(name="scratch", empty_dir=empty_dir(size_limit="1Gi"))], volume_mounts=[mount(name="scratch", mount_path="/scratch")]))
        for text in ("tolerationSeconds: 5", "sizeLimit: 1Gi", "mountPath: /scratch"):
            self.assertIn(text, cluster.resource_yaml)
        for text in ("null", "hostPath", "effect", "readOnly"):
            self.assertNotIn(text, cluster.resource_yaml)
        with self.assertRaisesRegex(TypeError, "neither plain data nor an object of the Kubernetes client"):
            quietly(Cluster, ClusterConfiguration(name="demo", namespace="team", write_to_file=False, volumes=[object()]))

    def test_a_server_that_is_not_there_is_unreachable(self):
        self.server_port = self.server.server_port
        config = pathlib.Path(os.environ["KUBECONFIG"])
        config.write_text(config.read_text().replace(str(self.server.server_port), "1"))
        self.assertIsInstance(self.caught("list", self.calls()["list_all_clusters"]), ConnectionError)

    def test_wrong_input_is_named_with_its_fix(self):
        from codeflare_sdk import Cluster, ClusterConfiguration, InvalidError

        for fields, problem, hint in (
            ({"name": "Bad_Name"}, "name: Bad_Name is not a valid name", "use lower-case letters"),
            ({"name": "a" * 60}, "has 60 characters", "use at most 53"),
            ({"name": None}, "name: is missing", "give the cluster a name"),
            ({"num_workers": -1}, "num_workers: -1 is negative", "give 0 or more"),
            ({"num_workers": "two"}, 'num_workers: "two" is not a whole number', "give a number such as 2"),
            ({"worker_memory_requests": "lots"}, 'worker_memory_requests: "lots" is not a quantity', "give an amount such as 8G"),
            ({"worker_cpu_requests": 4}, "worker_cpu_requests: 4 is more than worker_cpu_limits (1)", "raise the limit"),
            ({"labels": {"a b": "c"}}, "labels: a b is not a valid key", "name part"),
            ({"queueing": "slurm"}, "is not a way of queueing", "give appwrapper, kueue or none"),
            ({"queueing": "none", "priority": 3}, "priority: needs an AppWrapper", "remove it"),
            ({"queueing": "none", "local_queue": "q"}, "local_queue: q is a queue of Kueue", "set queueing = kueue"),
            ({"queueing": "kueue"}, "local_queue: is missing", "name the LocalQueue"),
            ({"enable_autoscaling": True}, "needs min_workers and max_workers", "give both"),
            ({"enable_autoscaling": True, "min_workers": 3, "max_workers": 2}, "max_workers: 2 is below min_workers (3)", "give min_workers <= max_workers"),
            ({"max_time": "6parsecs"}, "is not a time", "give a time such as 90m or 6h"),
            ({"worker_extended_resource_requests": {"example.com/fpga": 1}}, "has no name in Ray", "add it to extended_resource_mapping"),
            ({"instascale": True}, "machine_types: is missing", "name a machine type"),
            ({"enable_gcs_ft": True}, "redis_address: is missing", "give the address of Redis"),
            ({"envs": {"A=B": "1"}}, "is not the name of a variable", "give a name without '='"),
            ({"insecure_dashboard": True}, "insecure_dashboard: has no effect without expose", "set expose = true"),
            ({"expose": True, "expose_kind": "tunnel"}, "expose_kind: tunnel is unknown", "give route, httproute or ingress"),
            ({"expose": True, "ray_version": "2.44.0"}, "needs token authentication", "use Ray 2.52.0 or later, or set insecure_dashboard"),
            ({"expose": True, "expose_host": "not a host"}, "is not a host name", "give a name such as demo.example.com"),
        ):
            with self.subTest(fields=fields):
                with self.assertRaises(ValueError) as caught:
                    quietly(Cluster, ClusterConfiguration(**{"name": "demo", "namespace": "team", "write_to_file": False, **fields}))
                self.assertIsInstance(caught.exception, InvalidError)
                self.assertEqual(caught.exception.code, "invalid_argument")
                self.assertIn(problem, caught.exception.message)
                self.assertIn(hint, caught.exception.hint)
                self.assertEqual(str(caught.exception), f"{caught.exception.message}; {caught.exception.hint}")

    def wrong_calls(self):
        """Calls beside the fields of a cluster: code, problem and fix of each. None of them needs an answer of the server."""
        from codeflare_sdk import (
            AuthConfig, AWManager, ClusterConfiguration, Codeflare, DDPJobDefinition, KubeConfigFileAuthentication, RayJob, RayJobClient, SDKConfig,
            copy_demo_nbs,
        )

        for name, text in (("broken.yaml", "a: [\n"), ("pod.yaml", "kind: Pod\n"), ("kubeconfig", "clusters: 5\n"), ("code.py", "")):
            pathlib.Path(name).write_text(text)
        pathlib.Path("modules").mkdir()
        config = {"name": "demo", "namespace": "team", "write_to_file": False}
        client = RayJobClient("http://127.0.0.1:1")

        def own(name="own", entrypoint="true", runtime_env=None, **fields):
            return RayJob(name, entrypoint, cluster_config=ClusterConfiguration(**{**config, **fields}), runtime_env=runtime_env).submit()

        def submit(**arguments):
            return client.submit_job(**{"entrypoint": "true", "submission_id": "a", **arguments})

        def ddp(**arguments):
            return DDPJobDefinition(**{"script": "code.py", "name": "train", "image": "python:3", **arguments}).submit()

        invalid, missing = "invalid_argument", "not_found"
        return (
            (lambda: AWManager("nowhere.yaml"), missing, "nowhere.yaml is not a file", "give the path"),
            (lambda: AWManager("broken.yaml").submit(), invalid, "broken.yaml: line 2, column 1: ", None),
            (lambda: AWManager("pod.yaml").submit(), invalid, "pod.yaml: holds a Pod", "codeflare define raycluster"),
            (lambda: KubeConfigFileAuthentication().load_kube_config(), invalid, "kube_config_path: is missing", "give the path"),
            (lambda: KubeConfigFileAuthentication("/nowhere").load_kube_config(), missing, "/nowhere is not a file", "give the path"),
            (lambda: KubeConfigFileAuthentication("kubeconfig").load_kube_config(), invalid, "kubeconfig: clusters: expected a list", None),
            (lambda: RayJob("a", "true"), invalid, "cluster_name and cluster_config are both missing", "give exactly one"),
            (lambda: RayJob("a", "true", cluster_name="b", cluster_config=ClusterConfiguration(**config)), invalid, "contradict", "give exactly one"),
            (lambda: RayJob("a", "true", cluster_name="b", ttl_seconds_after_finished=5), invalid, "ttl_seconds_after_finished: only for", "leave"),
            (lambda: RayJob("a", "true", cluster_config=ClusterConfiguration(**config), local_queue="q"), invalid, "local_queue", "leave it out"),
            (lambda: own("a" * 48), invalid, "the name has 48 characters", ""),
            (lambda: own("Big"), invalid, "name: Big is not a valid name", "use lower-case letters"),
            (lambda: own(entrypoint=" "), invalid, "job 'own': the command is missing", ""),
            (lambda: own(queueing="kueue", local_queue="q"), invalid, "an AppWrapper queues a job", "leave out queueing kueue"),
            (lambda: own(num_workers=-1), invalid, "num_workers: -1 is negative", "give 0 or more"),
            (lambda: own(runtime_env={"working_dir": "nowhere"}), invalid, "nowhere", ""),
            (lambda: own(runtime_env={"py_modules": ["modules"]}), invalid, "py_modules of this machine", "put them into the working directory"),
            (lambda: submit(entrypoint=""), invalid, "job 'a': the command is missing", ""),
            (lambda: submit(submission_id="a/b"), invalid, "job name 'a/b'", ""),
            (lambda: submit(submission_id="a" * 129), invalid, "is not a valid name", "use 1 to 128 letters"),
            (lambda: submit(runtime_env={"working_dir": "nowhere"}), invalid, "nowhere", ""),
            (lambda: submit(runtime_env={"working_dir": "code.py"}), invalid, "code.py", ""),
            (lambda: submit(runtime_env={"excludes": "*"}), invalid, "runtime_env.excludes", ""),
            (lambda: submit(entrypoint_memory=-1), invalid, "entrypoint_memory: ", ""),
            (lambda: submit(entrypoint_resources={"tpu": -1}), invalid, "entrypoint_resources: tpu", ""),
            (lambda: DDPJobDefinition(), invalid, "[script, m]", None),
            (lambda: ddp(h="big"), invalid, "h: ", "give cpu, gpu and memMB instead"),
            (lambda: ddp(j="many"), invalid, "j: ", 'give for example "2x1"'),
            (lambda: ddp(script="nowhere.py"), invalid, "script: 'nowhere.py' not found", ""),
            (lambda: ddp(scheduler_args={"color": "red"}), invalid, "scheduler_args: color", "use namespace"),
            (lambda: ddp(rdzv_backend="etcd"), invalid, "rdzv_backend: 'etcd' is not available", "leave it out"),
            (lambda: SDKConfig(log_level="LOUD"), invalid, "log_level: 'LOUD' is not a level", "give one of"),
            (lambda: Codeflare(SDKConfig(auth=AuthConfig(method="magic"))), invalid, "method 'magic' is unknown", "give auto"),
            (lambda: Codeflare(SDKConfig(auth=AuthConfig(method="oidc"))), invalid, "method 'oidc' is not available", "exec plugin"),
            (lambda: copy_demo_nbs("modules"), "already_exists", "directory modules already exists", "overwrite=True"),
        )

    def test_wrong_calls_are_named_with_their_fix(self):
        self.answer(500)
        calls = self.wrong_calls()
        for at, (call, code, problem, hint) in enumerate(calls):
            with self.subTest(at=at, problem=problem):
                error = self.caught(problem, call)
                self.assertEqual(error.code, code)
                self.assertIn(problem, error.message)
                if hint is not None:  # else the problem has the line, which is the fix
                    self.assertIn(hint, error.hint)
                    self.assertTrue(error.hint, error.message)
                    self.assertEqual(str(error), f"{error.message}; {error.hint}")


if __name__ == "__main__":
    unittest.main()
