#!/usr/bin/env python3
"""Jobs of codeflare_sdk on a dashboard that runs them as processes, by its address and through an API server. Needs no Ray."""

import asyncio
import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile
import threading
import unittest

sys.dont_write_bytecode = True
sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "sdk"))

import ray_dashboard  # noqa: E402


def quietly(function, *words, **names):
    """Its result, and its output."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        result = function(*words, **names)
    return result, out.getvalue()


class Jobs(unittest.TestCase):
    def setUp(self):
        from codeflare_sdk import Cluster, ClusterConfiguration, _auth

        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        self.dashboard = ray_dashboard.Dashboard()
        self.addCleanup(self.dashboard.close)
        self.addCleanup(_auth._set, None)
        _auth._set({"server": self.dashboard.address, "token": "abc"})
        self.cluster = Cluster(ClusterConfiguration(name="demo", namespace="default", write_to_file=False))

    def client(self):
        from codeflare_sdk import RayJobClient

        return RayJobClient(self.dashboard.address)

    def test_from_submission_to_deletion(self):
        from codeflare_sdk import JobStatus, NotFoundError

        (self.folder / "work").mkdir()
        (self.folder / "work" / "main.sh").write_text('echo "hello $WHO"\n')
        for client in (self.client(), self.cluster.job_client):
            with self.subTest(client=client):
                environment = {"working_dir": "work", "env_vars": {"WHO": "you"}}
                name = client.submit_job(entrypoint="sh main.sh", runtime_env=environment, metadata={"a": "b"})
                self.assertRegex(name, r"^raysubmit_[A-Za-z1-9]{16}$")
                details, _ = quietly(client.wait, name, timeout=60)
                self.assertEqual((details.status, details.entrypoint, details.metadata["a"]), (JobStatus.SUCCEEDED, "sh main.sh", "b"))
                self.assertIs(client.get_job_status(name), JobStatus.SUCCEEDED)
                self.assertEqual(client.get_job_logs(name), "hello you\n")
                self.assertEqual([job.submission_id for job in client.list_jobs()], [name])
                self.assertGreater(client.get_job_info(name).start_time, 1_700_000_000_000)
                self.assertEqual(client.delete_job(name), (True, f"Successfully deleted Job {name}"))
                with self.assertRaises(NotFoundError):
                    client.get_job_info(name)

    def test_a_name_of_ones_own_is_accepted_once(self):
        client = self.client()
        self.assertEqual(client.submit_job(entrypoint="true", submission_id="mine", entrypoint_num_cpus=0.5,
                                           entrypoint_memory=1 << 20, entrypoint_resources={"x": 1}), "mine")
        with self.assertRaises(FileExistsError):
            client.submit_job(entrypoint="true", submission_id="mine")
        request = self.dashboard.jobs["mine"].request
        self.assertEqual((request["entrypoint_num_cpus"], request["entrypoint_memory"], request["entrypoint_resources"]), (0.5, 1 << 20, {"x": 1}))

    def test_stopping(self):
        client = self.cluster.job_client
        name = client.submit_job(entrypoint="exec sleep 1000")
        self.assertEqual(client.stop_job(name), (True, f"Successfully stopped Job {name}"))
        quietly(client.wait, name, timeout=60)
        self.assertEqual(client.stop_job(name)[0], False)
        self.assertEqual(str(client.get_job_status(name)), "STOPPED")
        self.assertTrue(client.get_job_status(name).is_terminal())

    def test_logs_are_followed_to_the_end(self):
        client = self.cluster.job_client
        name = client.submit_job(entrypoint="echo one; sleep 0.2; printf 'zwei ä 🚀\\n'")

        async def tail():
            return "".join([piece async for piece in client.tail_job_logs(name)])

        self.assertEqual(asyncio.run(tail()), "one\nzwei ä 🚀\n")
        self.assertEqual("".join(client.follow_job_logs(name)), "one\nzwei ä 🚀\n")

    def test_states_come_with_a_log(self):
        client = self.cluster.job_client
        states = []

        def stop(job):
            states.append(str(job.status))
            client.stop_job(name)

        async def tail():
            return [piece async for piece in client.tail_job_logs(name, on_state=stop)]

        name = client.submit_job(entrypoint="exec sleep 1000")
        self.assertEqual(list(client.follow_job_logs(name, on_state=stop)), [])
        name = client.submit_job(entrypoint="exec sleep 1000")
        self.assertEqual(asyncio.run(tail()), [])
        self.assertGreaterEqual(len(states), 2)
        self.assertLessEqual(set(states), {"PENDING", "RUNNING"})

    def test_who_leaves_a_log_leaves_no_thread(self):
        client = self.client()
        name = client.submit_job(entrypoint="echo begun; exec sleep 1000")

        async def first():
            tail = client.tail_job_logs(name)
            piece = await tail.__anext__()
            await tail.aclose()
            return piece

        self.assertEqual(asyncio.run(first()), "begun\n")
        self.assertEqual([thread.name for thread in threading.enumerate() if thread.name.startswith("codeflare")], [])
        with self.assertRaises(FileNotFoundError):
            list(client.follow_job_logs("nobody"))

    def test_jobs_of_a_cluster(self):
        from codeflare_sdk import JobStatus

        name = self.cluster.job_client.submit_job(entrypoint="echo hi")
        quietly(self.cluster.job_client.wait, name)
        self.assertEqual(self.cluster.job_logs(name), "hi\n")
        self.assertIs(self.cluster.job_status(name), JobStatus.SUCCEEDED)
        self.assertEqual([job.cluster_name for job in self.cluster.list_jobs()], ["demo"])
        self.assertTrue(self.cluster.is_dashboard_ready())
        self.assertEqual(self.cluster.job_client.get_address(), self.dashboard.address + ray_dashboard.PROXY)
        self.assertEqual(self.client().get_address(), self.dashboard.address)

    def test_the_dashboard_on_loopback(self):
        import urllib.error
        import urllib.request

        url = self.cluster.cluster_dashboard_uri()
        self.assertRegex(url, r"^http://127\.0\.0\.1:\d+$")
        self.assertEqual(self.cluster.cluster_dashboard_uri(), url)
        name = self.client().submit_job(entrypoint="echo through")
        quietly(self.client().wait, name)
        with urllib.request.urlopen(f"{url}/api/jobs/{name}") as answer:
            self.assertEqual(json.load(answer)["submission_id"], name)
        from codeflare_sdk import RayJobClient

        self.assertEqual("".join(RayJobClient(url).follow_job_logs(name)), "through\n")  # an upgraded connection
        with self.assertRaises(urllib.error.HTTPError) as rejected:
            urllib.request.urlopen(urllib.request.Request(url, headers={"Host": "elsewhere.example"}))
        self.assertEqual(rejected.exception.code, 403)
        rejected.exception.close()
        self.cluster.close()
        with self.assertRaises(OSError):
            urllib.request.urlopen(url)

    def test_ray_jobs_of_0_40(self):
        from codeflare_sdk import CodeflareRayJobStatus, RayJob
        from codeflare_sdk.ray.rayjobs import RayJobDeploymentStatus

        job = RayJob(job_name="train", cluster_name="demo", namespace="default", entrypoint="echo $WORD; exit $CODE",
                     runtime_env={"env_vars": {"WORD": "again", "CODE": "3"}})
        self.assertEqual(quietly(job.submit)[0], "train")
        quietly(job.wait, timeout=60)
        (status, ready), shown = quietly(RayJob("train", "", cluster_name="demo").status)
        self.assertEqual((status, ready), (CodeflareRayJobStatus.FAILED, False))
        self.assertRegex(shown, r"train +default +demo +FAILED")
        self.assertIs(job.info().status, RayJobDeploymentStatus.FAILED)
        job.runtime_env["env_vars"]["CODE"] = "0"
        quietly(job.resubmit)
        quietly(job.wait, timeout=60)
        self.assertEqual(quietly(job.status)[0], (CodeflareRayJobStatus.COMPLETE, True))
        self.assertEqual(job.logs(), "again\n")
        self.assertFalse(job.stop())
        self.assertTrue(job.delete())
        for wrong in ({}, {"cluster_name": "a", "cluster_config": object()}, {"cluster_name": "a", "local_queue": "q"}, {"cluster_name": "a", "active_deadline_seconds": 5}):
            with self.subTest(wrong), self.assertRaises(ValueError):
                RayJob("x", "true", **wrong)

    def test_ddp_definitions_become_jobs_on_the_cluster(self):
        from codeflare_sdk.job.jobs import DDPJob, DDPJobDefinition, all_jobs

        (self.folder / "train.py").write_text("print(1)\n")
        definition = DDPJobDefinition(name="mnist", script="train.py", script_args=["--lr", "0.1"], j="2x1", cpu=1, env={"A": "b"}, max_retries=1)
        job = definition.submit(self.cluster)
        self.assertRegex(job.name, r"^mnist-[a-z0-9]{5}$")
        self.assertIn(job, all_jobs)
        request = self.dashboard.jobs[job.name].request
        self.assertTrue(request["entrypoint"].endswith("--replicas 2 --processes 1 --cpus 1 --gpus 0 --retries 1 -- train.py --lr 0.1"),
                        request["entrypoint"])
        self.assertEqual(request["runtime_env"]["env_vars"]["A"], "b")
        self.assertNotEqual(definition.submit(self.cluster).name, job.name)
        # No `python` for it here: real Ray runs it in tests/sdk.
        quietly(job.wait, timeout=60)
        again = DDPJob.open(job.name, self.cluster)
        self.assertEqual((again.status().state.name, again.status().exit_code), ("FAILED", 127))
        self.assertIn("state: FAILED", str(again.status()))
        self.assertIn("not found", again.logs())
        again.cancel()
        again.delete()
        with self.assertRaises(FileNotFoundError):
            DDPJob.open(job.name, self.cluster)

    def test_ddp_definitions_that_are_wrong(self):
        from codeflare_sdk import DDPJobDefinition

        with self.assertRaisesRegex(ValueError, r"Exactly one of the following arguments must be defined: \[script, m\]."):
            DDPJobDefinition()
        with self.assertRaisesRegex(ValueError, "give cpu, gpu and memMB instead"):
            DDPJobDefinition(script="a.py", h="big")
        with self.assertRaisesRegex(ValueError, "REPLICASxPROCESSES"):
            DDPJobDefinition(script="a.py", j="many")
        with self.assertRaisesRegex(ValueError, "volume_mounts"):
            DDPJobDefinition(script="a.py", mounts=["type=bind"]).submit(self.cluster)

    def test_one_object_for_everything(self):
        from codeflare_sdk import AuthConfig, ClusterConfiguration, Codeflare, SDKConfig

        cf = Codeflare(SDKConfig(auth=AuthConfig(), namespace="default"))
        self.assertEqual(cf.namespace(), "default")
        self.assertEqual(cf.namespace("other"), "other")
        mine = Codeflare.__new__(Codeflare)  # bound to the fake server, which knows no identities
        mine.config, mine._client = SDKConfig(namespace="default"), self.fake_api_client()
        from codeflare_sdk.codeflare import ClusterHandler, JobHandler

        self.assertEqual([each.name for each in ClusterHandler(mine).list()], ["demo"])
        self.assertEqual(ClusterHandler(mine).list_queued(), [])
        cluster = ClusterHandler(mine).create(ClusterConfiguration(name="demo", write_to_file=False))
        self.assertEqual(cluster.list_jobs(), [])
        job, _ = quietly(JobHandler(mine).submit, "j", "true", cluster_name="demo")
        self.assertEqual([each.submission_id for each in cluster.list_jobs()], [job.name])
        for wrong in (lambda: ClusterHandler(mine).create(ClusterConfiguration()), lambda: SDKConfig(log_level="LOUD"),
                      lambda: Codeflare(SDKConfig(auth=AuthConfig(method="oidc"))),
                      lambda: Codeflare(SDKConfig(auth=AuthConfig(method="openshift")))):
            with self.assertRaises(ValueError):
                wrong()

    def fake_api_client(self):
        """By its shape an ApiClient of the Kubernetes client."""

        class Shape:
            pass

        client = Shape()
        client.configuration = Shape()
        client.configuration.host = self.dashboard.address
        client.configuration.api_key = {"authorization": "Bearer abc"}
        return client

    def test_api_clients_of_others(self):
        from codeflare_sdk import AuthConfig, _auth, list_all_clusters, set_api_client

        _auth._set(None, logged_out=True)
        with self.assertRaises(PermissionError):
            list_all_clusters("default", print_to_console=False)
        self.assertEqual(len(list_all_clusters("default", print_to_console=False, api_client=self.fake_api_client())), 1)
        set_api_client(self.fake_api_client())
        self.assertEqual(len(list_all_clusters("default", print_to_console=False)), 1)
        with self.assertRaises(TypeError):
            set_api_client(object())
        self.assertNotIn("secret", repr(AuthConfig(token="secret")) + repr(_auth.get_api_client()))

    def test_other_clients_of_the_address(self):
        from codeflare_sdk import CodeflareError, RayJobClient

        seen = []
        original = ray_dashboard.Handler.handle_any

        def spy(handler):
            seen.append(dict(handler.headers))
            original(handler)

        ray_dashboard.Handler.do_GET = spy
        self.addCleanup(setattr, ray_dashboard.Handler, "do_GET", original)
        RayJobClient(self.dashboard.address, headers={"Authorization": "Bearer t"}, cookies={"a": "b"}, verify=False).list_jobs()
        self.assertEqual((seen[0]["Authorization"], seen[0]["Cookie"]), ("Bearer t", "a=b"))
        with self.assertRaises(CodeflareError):
            RayJobClient("http://127.0.0.1:1")._call("job.list", patience=0.1)
        with self.assertRaises(ValueError):
            RayJobClient("ray://host:10001").list_jobs()

    def test_tables_for_notebooks_hold_no_markup_of_jobs(self):
        client = self.client()
        name = client.submit_job(entrypoint="echo '<script>alert(1)</script>'")
        quietly(client.wait, name)
        for shown in (client.list_jobs()._repr_html_(), client.get_job_info(name)._repr_html_()):
            self.assertIn("&lt;script&gt;", shown)
            self.assertNotIn("<script", shown)
        self.assertIn("SUCCEEDED", client.list_jobs().table())


class Names(unittest.TestCase):
    def test_every_import_path_of_0_12_and_0_40(self):
        import importlib

        for path, names in {
            "": "Cluster ClusterConfiguration WorkerGroup RayClusterStatus CodeFlareClusterStatus RayCluster WorkerGroupStatus get_cluster "
                "list_all_queued list_all_clusters RayJobClient RayJob view_clusters Codeflare SDKConfig JobOptions AuthConfig get_k8s_client "
                "set_api_client Authentication KubeConfiguration TokenAuthentication KubeConfigFileAuthentication list_local_queues generate_cert "
                "copy_demo_nbs __version__ ManagedClusterConfig AWManager DDPJob DDPJobDefinition Job JobDefinition AppWrapper AppWrapperStatus",
            "cluster.cluster": "Cluster ClusterConfiguration get_cluster list_all_clusters list_all_queued get_current_namespace",
            "cluster.config": "ClusterConfiguration",
            "cluster.auth": "Authentication KubeConfiguration TokenAuthentication KubeConfigFileAuthentication config_check",
            "cluster.awload": "AWManager",
            "cluster.model": "RayCluster RayClusterStatus AppWrapper AppWrapperStatus CodeFlareClusterStatus",
            "job.jobs": "JobDefinition Job DDPJobDefinition DDPJob all_jobs",
            "job.ray_jobs": "RayJobClient",
            "utils.generate_cert": "generate_ca_cert generate_tls_cert export_env",
            "codeflare": "Codeflare SDKConfig JobOptions",
            "common": "AuthConfig get_k8s_client Authentication TokenAuthentication",
            "common.kubernetes_cluster": "config_check get_api_client set_api_client",
            "common.kubernetes_cluster.auth": "config_check get_api_client set_api_client TokenAuthentication",
            "common.kueue": "list_local_queues get_default_kueue_name local_queue_exists",
            "common.utils": "get_current_namespace generate_cert",
            "common.utils.demos": "copy_demo_nbs",
            "common.utils.generate_cert": "generate_tls_cert export_env refresh_tls_cert",
            "common.widgets": "view_clusters",
            "ray": "RayJobClient RayJob RayJobDeploymentStatus CodeflareRayJobStatus RayJobInfo Cluster",
            "ray.client": "RayJobClient",
            "ray.client.ray_jobs": "RayJobClient",
            "ray.cluster": "Cluster ClusterConfiguration WorkerGroup get_cluster",
            "ray.cluster.cluster": "Cluster get_cluster list_all_queued list_all_clusters",
            "ray.cluster.config": "ClusterConfiguration WorkerGroup",
            "ray.cluster.status": "RayClusterStatus CodeFlareClusterStatus RayCluster WorkerGroupStatus",
            "ray.rayjobs": "RayJob CodeflareRayJobStatus RayJobDeploymentStatus RayJobInfo",
            "ray.rayjobs.rayjob": "RayJob",
            "ray.rayjobs.status": "CodeflareRayJobStatus RayJobDeploymentStatus RayJobInfo",
        }.items():
            module = importlib.import_module(f"codeflare_sdk.{path}".rstrip("."))
            self.assertEqual([name for name in names.split() if not hasattr(module, name)], [], path)
            for name in getattr(module, "__all__", []):
                self.assertTrue(hasattr(module, name), f"{path}.{name}")

    def test_names_of_managed_clusters(self):
        from codeflare_sdk import ManagedClusterConfig

        config = ManagedClusterConfig(head_accelerators={"nvidia.com/gpu": 1}, num_workers=3, worker_cpu_limits=2)
        self.assertEqual((config.head_extended_resource_requests, config.head_cpu_limits, config.num_workers), ({"nvidia.com/gpu": 1}, 2, 3))
        self.assertEqual((config.worker_memory_limits, config.worker_cpu_limits), (2, 2))

    def test_certificates_are_not_needed(self):
        from codeflare_sdk import generate_cert

        self.assertIn("No client certificates are needed", quietly(generate_cert.export_env, "demo", "default")[1])

    def test_notebooks_are_copied_once(self):
        from codeflare_sdk import copy_demo_nbs

        with tempfile.TemporaryDirectory() as folder:
            target = pathlib.Path(folder) / "demo"
            quietly(copy_demo_nbs, str(target))
            notebooks = sorted(target.glob("*.ipynb"))
            self.assertGreaterEqual(len(notebooks), 2)
            for notebook in notebooks:
                for cell in json.loads(notebook.read_text())["cells"]:
                    if cell["cell_type"] == "code":
                        compile("".join(cell["source"]), notebook.name, "exec")
            with self.assertRaises(FileExistsError):
                copy_demo_nbs(str(target))
            quietly(copy_demo_nbs, str(target), overwrite=True)


if __name__ == "__main__":
    unittest.main()
