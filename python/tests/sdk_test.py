#!/usr/bin/env python3
"""codeflare_sdk against a real `codeflare up` with a node whose pods only pretend.

sdk_test.py PROGRAM: the package must be importable (PYTHONPATH).
"""

import contextlib
import io
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings

sys.dont_write_bytecode = True


def quietly(function, *words, **names):
    """Its result, and its output."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        result = function(*words, **names)
    return result, out.getvalue()


def clean_environment(**more):
    """Without what is preloaded for this process alone."""
    return {**{key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}, **more}


class Sdk(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.scratch = pathlib.Path(scratch.name)
        cls.up = subprocess.Popen(
            [PROGRAM, "up", "--listen", "127.0.0.1:0", "--data-dir", str(cls.scratch / "data"), "--no-kubeconfig", "--nodes", "0",
             "--fake-nodes", "1", "--cpus", "4", "--memory", "32Gi"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=clean_environment(),
        )
        cls.addClassCleanup(cls.stop)
        lines = []
        for line in cls.up.stdout:
            lines.append(line)
            if line.startswith("  codeflare queue "):
                break
        if len(lines) < 2:
            raise AssertionError("".join(lines))
        cls.kubeconfig = lines[1].removeprefix("kubeconfig ").strip()
        os.environ["KUBECONFIG"] = cls.kubeconfig
        os.environ.pop("KUBERNETES_SERVICE_HOST", None)

    @classmethod
    def stop(cls):
        cls.up.terminate()
        cls.up.wait(60)
        cls.up.stdout.close()

    def setUp(self):
        from codeflare_sdk import _auth

        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        before = os.getcwd()
        os.chdir(folder.name)
        self.addCleanup(os.chdir, before)
        self.addCleanup(_auth._set, None)

    def cluster(self, name, **fields):
        from codeflare_sdk import Cluster, ClusterConfiguration

        fields = {"head_cpu_limits": 1, "write_to_file": False, **fields}
        cluster, _ = quietly(Cluster, ClusterConfiguration(name=name, namespace="default", **fields))
        self.addCleanup(self.drop, cluster)
        return cluster

    def drop(self, cluster):
        with contextlib.suppress(FileNotFoundError):
            quietly(cluster.down)

    def test_a_cluster_from_definition_to_its_end(self):
        from codeflare_sdk import CodeFlareClusterStatus, get_cluster, list_all_clusters

        cluster = self.cluster("demo", num_workers=2, write_to_file=True)
        self.assertTrue(pathlib.Path("demo.yaml").read_text().startswith("# codeflare define "))
        self.assertEqual(quietly(cluster.status)[0], (CodeFlareClusterStatus.UNKNOWN, False))
        quietly(cluster.up)
        _, told = quietly(cluster.wait_ready, timeout=60)
        self.assertIn("Requested cluster is up and running!", told)
        self.assertIn("Ray cluster 'demo': ", told)
        (status, ready), shown = quietly(cluster.status)
        self.assertEqual((status, ready), (CodeFlareClusterStatus.READY, True))
        self.assertRegex(shown, r"demo +default +Ready +2/2 +3 +11G +0 +-")
        self.assertIn("URI: ray://demo-head-svc.default.svc:10001", shown)
        details, _ = quietly(cluster.details)
        self.assertEqual((details.num_workers, details.worker_mem_limits, details.workers), (2, "6G", 2))
        self.assertEqual([each.name for each in quietly(list_all_clusters, "default")[0]], ["demo"])
        again, _ = quietly(get_cluster, "demo", "default")
        self.assertEqual(again.config.num_workers, 2)
        quietly(again.down)
        self.assertEqual(quietly(list_all_clusters, "default")[0], [])

    def test_a_cluster_that_does_not_fit_says_why(self):
        from codeflare_sdk import TimeUpError, list_all_queued

        cluster = self.cluster("large", num_workers=50)
        quietly(cluster.up)
        with self.assertRaises(TimeoutError) as caught:
            quietly(cluster.wait_ready, timeout=2)
        self.assertIsInstance(caught.exception, TimeUpError)
        (queued,), shown = quietly(list_all_queued, "default")
        self.assertEqual((queued.name, queued.reason), ("large", "InsufficientResources"))
        self.assertIn(queued.message, shown)

    def test_explain_says_why_a_cluster_waits(self):
        from codeflare_sdk import Explanation

        cluster = self.cluster("patient", num_workers=50)
        quietly(cluster.up)
        with self.assertRaises(TimeoutError):
            quietly(cluster.wait_ready, timeout=2)
        told, shown = quietly(cluster.explain)
        self.assertIsInstance(told, Explanation)
        self.assertEqual((told.name, told.namespace, told.waits, told.reason), ("patient", "default", True, "InsufficientResources"))
        self.assertEqual((told.position, told.problem), (1, ""))
        self.assertTrue(told.report["neverFits"])
        self.assertIn(told.message, shown)
        self.assertIn("Position in the queue: 1", shown)
        self.assertEqual(quietly(cluster.explain, print_to_console=False)[1], "")
        with self.assertRaises(FileNotFoundError):
            self.cluster("nobody").explain()
        small = self.cluster("runs")
        quietly(small.up)
        quietly(small.wait_ready, timeout=60)
        told, shown = quietly(small.explain)
        self.assertEqual((told.state, told.waits, told.position, told.report), ("Ready", False, None, {}))
        self.assertIn("runs Ready", shown)

    def test_names_that_are_taken_and_names_that_are_not_there(self):
        from codeflare_sdk import AlreadyExistsError, NotFoundError, get_cluster

        cluster = self.cluster("twice")
        quietly(cluster.up)
        with self.assertRaises(FileExistsError) as taken:
            quietly(cluster.up)
        self.assertIsInstance(taken.exception, AlreadyExistsError)
        with self.assertRaises(FileNotFoundError) as missing:
            get_cluster("nobody", "default")
        self.assertIsInstance(missing.exception, NotFoundError)
        self.assertEqual(missing.exception.code, "not_found")
        self.assertIn("'nobody' not found in namespace 'default'", str(missing.exception))

    def test_apply_creates_keeps_scales_and_recreates(self):
        cluster = self.cluster("applied")
        self.assertIn("has successfully been applied", quietly(cluster.apply)[1])
        self.assertIn("is unchanged", quietly(cluster.apply)[1])
        quietly(cluster.wait_ready, timeout=60)
        cluster.config.num_workers = 2
        self.assertIn("has been scaled", quietly(cluster.apply)[1])
        self.assertIn("is unchanged", quietly(cluster.apply)[1])
        cluster.config.envs = {"A": "1"}
        with self.assertRaisesRegex(Exception, "differs in envs"):
            quietly(cluster.apply)
        self.assertIn("queued anew", quietly(cluster.apply, force=True)[1])

    def test_apply_reaches_the_fields_of_the_app_wrapper(self):
        from codeflare_sdk import get_cluster

        cluster = self.cluster("queued", priority=2, max_time="1h")
        quietly(cluster.apply)
        self.assertIn("is unchanged", quietly(cluster.apply)[1])
        cluster.config.priority = 7
        self.assertIn("has been changed in place", quietly(cluster.apply)[1])
        again, _ = quietly(get_cluster, "queued", "default")
        self.assertEqual((again.config.priority, again.config.max_time), (7, 3600))
        self.assertIn("is unchanged", quietly(again.apply)[1])
        cluster.config.quota_labels = {"team": "gold"}
        cluster.config.max_time = 60
        with self.assertRaisesRegex(Exception, "differs in quota_labels, max_time;"):
            quietly(cluster.apply)

    def test_apply_submits_an_edited_file_as_it_stands(self):
        from codeflare_sdk import Cluster, ClusterConfiguration

        config = ClusterConfiguration(name="byhand", namespace="default", head_cpu_limits=1)
        quietly(Cluster, config)
        file = pathlib.Path("byhand.yaml")
        file.write_text(re.sub(r"(replicas|minReplicas|maxReplicas): 1\n(?! *generic)", r"\1: 2\n", file.read_text()))
        cluster, told = quietly(Cluster, config)
        self.assertIn("Kept: byhand.yaml was edited; up() and apply() submit it as it stands", told)
        self.addCleanup(self.drop, cluster)
        self.assertIn("has successfully been applied", quietly(cluster.apply)[1])
        quietly(cluster.wait_ready, timeout=60)
        self.assertEqual(quietly(cluster.details)[0].num_workers, 2)
        self.assertIn("is unchanged", quietly(cluster.apply)[1])
        file.write_text(re.sub(r"spec:\n  resources:", "spec:\n  priority: 5\n  resources:", file.read_text(), count=1))
        self.assertIn("has been changed in place", quietly(cluster.apply)[1])
        file.write_text("kind: [")
        with self.assertRaises(ValueError):
            quietly(cluster.apply)

    def test_every_fault_of_a_configuration_is_named(self):
        from codeflare_sdk import Cluster, ClusterConfiguration, InvalidError

        with self.assertRaises(ValueError) as caught:
            Cluster(ClusterConfiguration(name="Bad_Name", num_workers=-1, worker_memory_requests="lots", write_to_file=False))
        self.assertIsInstance(caught.exception, InvalidError)
        for word in ("3 problems", "name: Bad_Name", "num_workers: -1", 'worker_memory_requests: "lots"'):
            self.assertIn(word, str(caught.exception))

    def test_names_of_earlier_versions(self):
        from codeflare_sdk.cluster.cluster import ClusterConfiguration

        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            config = ClusterConfiguration(name="old", min_cpus=2, max_cpus=2, num_gpus=1, head_cpus=3, instascale=False)
        self.assertEqual((config.worker_cpu_requests, config.head_cpu_limits), ("2", "3"))
        self.assertEqual(config.worker_extended_resource_requests, {"nvidia.com/gpu": "1"})
        self.assertEqual(len(heard), 4)
        self.assertIn("min_cpus is an older name: use worker_cpu_requests", str(heard[0].message))
        with self.assertRaisesRegex(ValueError, "contradicts"):
            ClusterConfiguration(name="old", min_cpus=2, worker_cpu_requests=1)
        with self.assertRaisesRegex(ValueError, "did you mean num_workers"):
            ClusterConfiguration(name="old", num_worker=2)

    def test_the_dataclass_is_the_table(self):
        import dataclasses

        from codeflare_sdk import ClusterConfiguration, _call

        rows = _call.call("config.fields", connection={})
        names = [row["name"] for row in rows]
        own = [field.name for field in dataclasses.fields(ClusterConfiguration) if field.name != "additional_worker_groups"]
        self.assertEqual(own, names)
        for row in rows:
            value = getattr(ClusterConfiguration(), row["name"])
            text = {True: "true", False: "false", None: ""}.get(value, value) if isinstance(value, (bool, type(None))) else value
            text = "" if text in ([], {}) else str(text)
            self.assertIn(row["default"], (text, text + "G"), row["name"])

    def test_edited_files_are_kept_and_submitted_as_they_stand(self):
        from codeflare_sdk import Cluster, ClusterConfiguration

        config = ClusterConfiguration(name="edited", namespace="default", head_cpu_limits=1)
        quietly(Cluster, config)
        file = pathlib.Path("edited.yaml")
        file.write_text(file.read_text().replace("replicas: 1\n            minReplicas: 1\n            maxReplicas: 1",
                                                 "replicas: 2\n            minReplicas: 2\n            maxReplicas: 2"))
        cluster, told = quietly(Cluster, config)
        self.assertIn("Kept: edited.yaml was edited", told)
        self.addCleanup(self.drop, cluster)
        quietly(cluster.up)
        quietly(cluster.wait_ready, timeout=60)
        self.assertEqual(quietly(cluster.details)[0].num_workers, 2)

    def test_training_without_a_ray_cluster(self):
        from codeflare_sdk import DDPJob, DDPJobDefinition

        pathlib.Path("train.py").write_text("print(1)\n")
        job, _ = quietly(DDPJobDefinition(
            name="gang", script="train.py", cpu=1, gpu=0, memMB=512, j="2x1", image="python:3", scheduler_args={"namespace": "default"}).submit)
        self.assertRegex(job.name, r"^gang-[a-z0-9]{5}$")
        self.addCleanup(quietly, job.delete)
        again = DDPJob.open(job.name, namespace="default")
        self.assertIn(again.status().state.name, ("SUBMITTED", "PENDING", "RUNNING"))
        again.cancel()
        self.assertEqual(again.status().state.name, "CANCELLED")

    def test_a_job_with_a_cluster_of_its_own(self):
        from codeflare_sdk import ClusterConfiguration, CodeflareRayJobStatus, RayJob

        config = ClusterConfiguration(num_workers=50)  # of 0.40: without a name; and more than fits
        job = RayJob("own", "python -c 'print(1)'", cluster_config=config, namespace="default", active_deadline_seconds=60)
        self.assertIn("waits in the queue", quietly(job.submit)[1])
        self.addCleanup(quietly, job.delete)
        (status, ready), shown = quietly(RayJob("own", "", cluster_config=config, namespace="default").status)
        self.assertEqual((status, ready), (CodeflareRayJobStatus.SUSPENDED, False), shown)
        with self.assertRaises(FileExistsError):
            quietly(RayJob("own", "true", cluster_config=config, namespace="default").submit)
        with self.assertRaisesRegex(ValueError, "local_queue"):
            RayJob("own", "true", cluster_config=config, local_queue="q")

    def test_app_wrapper_files(self):
        from codeflare_sdk.cluster.awload import AWManager

        self.cluster("loaded", write_to_file=True)
        manager = AWManager("loaded.yaml")
        self.assertIn("submitted!", quietly(manager.submit)[1])
        self.assertIn("removed!", quietly(AWManager("loaded.yaml").remove)[1])
        with self.assertRaises(FileNotFoundError):
            AWManager("nowhere.yaml")

    def test_tokens(self):
        from codeflare_sdk import NotAllowedError, TokenAuthentication, get_current_namespace, list_all_clusters

        server = re.search(r'https://[^\s"]+', pathlib.Path(self.kubeconfig).read_text()).group()
        wrong = TokenAuthentication("not-a-token", server, skip_tls=True)
        with self.assertRaises(PermissionError) as caught:
            wrong.login()
        self.assertIsInstance(caught.exception, NotAllowedError)
        self.assertNotIn("not-a-token", str(caught.exception) + repr(wrong))
        self.assertEqual(get_current_namespace(), "default")  # a failed login changes nothing
        wrong.logout()
        with self.assertRaises(PermissionError):
            list_all_clusters("default", print_to_console=False)

    def test_a_kubeconfig_file_of_ones_own(self):
        from codeflare_sdk import KubeConfigFileAuthentication, list_all_clusters

        with self.assertRaises(FileNotFoundError):
            KubeConfigFileAuthentication("/nowhere/config").load_kube_config()
        with self.assertRaises(ValueError):
            KubeConfigFileAuthentication().load_kube_config()
        self.assertIn(self.kubeconfig, KubeConfigFileAuthentication(self.kubeconfig).load_kube_config())
        self.assertEqual(list_all_clusters("default", print_to_console=False), [])

    def test_plain_objects(self):
        from codeflare_sdk import _call

        made = _call.call("object.create", resource="configmaps", namespace="default", body={"metadata": {"name": "mine"}, "data": {"a": "1"}})
        self.assertEqual(made["data"], {"a": "1"})
        self.assertEqual(_call.call("object.patch", resource="configmaps", namespace="default", name="mine", body={"data": {"b": "2"}})["data"],
                         {"a": "1", "b": "2"})
        self.assertIn("mine", [each["metadata"]["name"] for each in _call.call("object.list", resource="configmaps", namespace="default")])
        _call.call("object.delete", resource="configmaps", namespace="default", name="mine")
        with self.assertRaises(FileNotFoundError):
            _call.call("object.get", resource="configmaps", namespace="default", name="mine")

    def test_ctrl_c_ends_a_wait(self):
        cluster = self.cluster("endless", num_workers=50)
        quietly(cluster.up)
        started = time.monotonic()
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            quietly(cluster.wait_ready)
        self.assertLess(time.monotonic() - started, 30)

    def test_threads_may_call_at_once(self):
        from codeflare_sdk import list_all_clusters

        failed = []

        def look():
            try:
                for _ in range(3):
                    list_all_clusters("default", print_to_console=False)
            except Exception as error:  # noqa: BLE001
                failed.append(error)

        threads = [threading.Thread(target=look) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])

    def test_a_dead_server_is_an_error_and_no_hang(self):
        from codeflare_sdk import CodeflareError, TokenAuthentication

        with self.assertRaises(CodeflareError):
            TokenAuthentication("t", "https://127.0.0.1:1").login()

    def test_importing_is_light(self):
        heavy = "ray kubernetes IPython ipywidgets rich pandas asyncio".split()
        code = f"import sys, codeflare_sdk; print([name for name in {heavy} if name in sys.modules])"
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        self.assertEqual(run.stdout.strip(), "[]")

    def test_the_examples_of_the_page(self):
        page = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "sdk.md").read_text()
        blocks = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
        self.assertEqual(len(blocks), 3)
        for block in blocks:
            _, shown = quietly(exec, compile(block, "docs/sdk.md", "exec"), {})
            self.assertNotIn("Traceback", shown)

    def test_html_is_escaped(self):
        from codeflare_sdk import _show

        state = {"workersReady": 0, "workersWanted": 0, "status": "Queued", "reason": "<script>"}
        info = {"name": "<script>alert(1)</script>", "namespace": "n", "state": state, "cpus": "1", "memory": "1", "gpus": "0"}
        self.assertNotIn("<script>", _show.html_table(_show._COLUMNS, [_show.row(info)]))


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
