#!/usr/bin/env python3
"""codeflare_sdk with real Ray on `codeflare up`: jobs, DDP, and the notebooks of codeflare-sdk 0.40.1, on as few clusters as they can.

real_ray_test.py PROGRAM: the package must be importable (PYTHONPATH). Its first run fetches Ray, nbclient and the notebooks.
"""

import asyncio
import base64
import contextlib
import io
import json
import os
import pathlib
import re
import socket
import ssl
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request
import zipfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CLIENTS = ROOT / "tests" / "apiserver" / "clients"
SDK = "codeflare-sdk==0.40.1"

HELLO = """
import ray
ray.init(logging_level="ERROR")

@ray.remote(num_cpus=1)
def square(x):
    return x * x

print("squares", ray.get([square.remote(i) for i in range(4)]))
"""

# Each rank has data about half of the weights only: both know all four when gradients were averaged.
TRAIN = """
import os, sys, torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(rank)
inputs = torch.randn(64, 4)
inputs[:, 2 - 2 * rank : 4 - 2 * rank] = 0
targets = inputs @ torch.tensor([[1.0], [2.0], [3.0], [4.0]])
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1, bias=False))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(300):
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(model(inputs), targets).backward()
    optimizer.step()
print("rank", rank, "of", dist.get_world_size(), *("%.2f" % weight for weight in model.module.weight.flatten().tolist()), sys.argv[1])
"""

# Fails on rank 1 until a file of the first attempt is there.
FLAKY = """
import os, pathlib, sys, time
mark = pathlib.Path(sys.argv[1])
if os.environ["RANK"] == "1" and not mark.exists():
    mark.touch()
    sys.exit(7)
print("attempt", "again" if mark.exists() else "first", os.environ["RANK"], os.environ["WORLD_SIZE"], os.environ["LOCAL_RANK"])
time.sleep(2)
"""


def quietly(function, *words, **names):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        result = function(*words, **names)
    return result, out.getvalue()


def clean_environment():
    """Without what is preloaded for this process alone."""
    return {key: value for key, value in os.environ.items() if key not in ("LD_PRELOAD", "PYTHONPATH", "ASAN_OPTIONS")}


def pinned(requirements, python):
    """The interpreter of an environment with these packages, shared with other tests."""
    code = f"import sys, pathlib; sys.path.insert(0, {str(CLIENTS)!r}); import environment; print(environment.python(pathlib.Path({str(requirements)!r})))"
    run = subprocess.run([python, "-Bc", code], env=clean_environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if run.returncode != 0:
        raise AssertionError(run.stdout + run.stderr)
    return pathlib.Path(run.stdout.strip())


class RealRay(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        venv = RAY.parents[1]
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.scratch = pathlib.Path(scratch.name)
        data = str(cls.scratch / "data")
        cls.up = subprocess.Popen(
            [PROGRAM, "up", "--listen", "127.0.0.1:0", "--data-dir", data, "--no-kubeconfig", "--cpus", "6", "--memory", "20Gi"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=clean_environment(),
        )
        cls.addClassCleanup(cls.stop)
        lines = []
        for line in cls.up.stdout:
            lines.append(line)
            if line.startswith("  codeflare queue "):
                break
        if any("on its network" in line for line in lines):
            raise unittest.SkipTest("networks are forbidden here: " + "".join(lines))
        if len(lines) < 2:
            raise AssertionError("".join(lines))
        cls.kubeconfig = os.environ["KUBECONFIG"] = lines[1].removeprefix("kubeconfig ").strip()
        os.environ.pop("KUBERNETES_SERVICE_HOST", None)
        subprocess.run([PROGRAM, "image", "add", "rayproject/ray:*", "--python-venv", str(venv), "--data-dir", data], check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=clean_environment(), timeout=60)

    @classmethod
    def stop(cls):
        cls.up.terminate()
        cls.up.wait(120)
        cls.up.stdout.close()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        self.folder = pathlib.Path(folder.name)

    def run_job(self, job):
        """Its log, when it has ended."""
        quietly(job.wait, timeout=300)
        return job.logs()

    def test_jobs_and_ddp(self):
        from codeflare_sdk import Cluster, ClusterConfiguration, JobStatus

        cluster, _ = quietly(Cluster, ClusterConfiguration(
            name="demo", namespace="default", num_workers=2, head_cpu_requests=1, head_cpu_limits=1, head_memory_requests=3,
            head_memory_limits=3, worker_memory_requests=2, worker_memory_limits=2, write_to_file=False))
        quietly(cluster.up)
        self.addCleanup(quietly, cluster.down)
        _, told = quietly(cluster.wait_ready, timeout=600)
        self.assertIn("Requested cluster is up and running!", told)
        self.assertTrue(cluster.is_dashboard_ready())
        client = cluster.job_client

        pathlib.Path("hello.py").write_text(HELLO)
        name = client.submit_job(entrypoint="python hello.py", runtime_env={"working_dir": "."})

        async def tail():
            return "".join([piece async for piece in client.tail_job_logs(name)])

        self.assertIn("squares [0, 1, 4, 9]", asyncio.run(tail()))
        details = client.get_job_info(name)
        self.assertEqual((details.status, details.driver_exit_code, details.entrypoint), (JobStatus.SUCCEEDED, 0, "python hello.py"))
        self.assertTrue(details.driver_node_id)
        self.assertEqual(client.delete_job(name)[0], True)

        with self.subTest("training"):
            self.training(cluster)
        with self.subTest("retries"):
            self.retries(cluster)
        with self.subTest("cancel"):
            self.cancel(cluster)
        with self.subTest("a client of Ray outside the cluster"):
            self.interactive(cluster)
        with self.subTest("examples of the page"):
            self.page()
        with self.subTest("notebook 4 of 0.40.1, on this cluster"):
            self.ray_job(cluster)

    def training(self, cluster):
        from codeflare_sdk import DDPJob, DDPJobDefinition

        if not pathlib.Path("/usr/lib/python3/dist-packages/torch").is_dir():
            self.skipTest("Debian's python3-torch is not installed")
        pathlib.Path("train.py").write_text(TRAIN)
        job = DDPJobDefinition(name="train", script="train.py", script_args=["done it"], cpu=1, j="2x1",
                               env={"PYTHONPATH": "/usr/lib/python3/dist-packages"}).submit(cluster)
        log = self.run_job(job)
        for rank in (0, 1):
            self.assertIn(f"[{rank}] rank {rank} of 2 1.00 2.00 3.00 4.00 done it", log)
        self.assertEqual(DDPJob.open(job.name, cluster).status().state.name, "SUCCEEDED")

    def retries(self, cluster):
        from codeflare_sdk import DDPJobDefinition

        pathlib.Path("flaky.py").write_text(FLAKY)
        shared = {"cpu": 1, "j": "1x2", "script": "flaky.py"}
        job = DDPJobDefinition(name="once", script_args=["/tmp/once"], **shared).submit(cluster)
        log = self.run_job(job)
        self.assertIn("[driver] rank 1 (replica 0) failed with exit code 7", log)
        self.assertEqual((job.status().state.name, job.status().exit_code), ("FAILED", 7))
        job = DDPJobDefinition(name="twice", script_args=["/tmp/twice"], max_retries=1, **shared).submit(cluster)
        log = self.run_job(job)
        self.assertIn("starting all replicas again (1 of 1)", log)
        self.assertIn("[1] attempt again 1 2 1", log)
        self.assertEqual(job.status().state.name, "SUCCEEDED", log)

    def cancel(self, cluster):
        from codeflare_sdk import DDPJobDefinition

        pathlib.Path("long.py").write_text("import time\nprint('begun')\ntime.sleep(1000)\n")
        job = DDPJobDefinition(name="long", script="long.py", cpu=1, j="2x1").submit(cluster)
        begun = 0
        for piece in cluster.job_client.follow_job_logs(job.name):
            begun += piece.count("begun")
            if begun == 2:
                break
        job.cancel()
        self.assertEqual(job.status().state.name, "CANCELLED")
        # The processors of its replicas are free again: a job that needs them runs.
        pathlib.Path("short.py").write_text("print('room')\n")
        again = DDPJobDefinition(name="short", script="short.py", cpu=1, j="2x1").submit(cluster)
        self.assertEqual(self.run_job(again).count("room"), 2)

    def interactive(self, cluster):
        url = cluster.local_client_url()
        self.assertRegex(url, r"^ray://127\.0\.0\.1:\d+$")
        self.assertEqual(cluster.local_client_url(), url)
        pathlib.Path("client.py").write_text(HELLO.replace("ray.init(", f"ray.init({url!r}, "))
        for _ in range(3):
            run = subprocess.run([RAY, "client.py"], env=clean_environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
            # The tunnel works when Ray answers. On a busy machine Ray's own server of a client may not start in its 30 s: a user connects again.
            if "Initialization failure from server" not in run.stderr:
                break
        self.assertIn("squares [0, 1, 4, 9]", run.stdout, run.stderr[-3000:])
        cluster.close()
        address = (url.removeprefix("ray://").split(":")[0], int(url.rsplit(":", 1)[1]))
        with self.assertRaises(OSError):
            socket.create_connection(address, 5).close()

    def page(self):
        page = (ROOT / "docs" / "sdk.md").read_text()
        blocks = re.findall(r"^```python ray\n(.*?)^```$", page, re.M | re.S)
        self.assertEqual(len(blocks), 2)
        for block in blocks:
            _, shown = quietly(exec, compile(block, "docs/sdk.md", "exec"), {})
            self.assertIn("SUCCEEDED", shown)
        self.assertIn("[1] I am 1", shown)

    def ray_job(self, cluster):
        from codeflare_sdk import CodeflareRayJobStatus, RayJob

        job = RayJob(job_name="sdk-test-job", cluster_name=cluster.config.name, namespace="default",
                     entrypoint="python -c 'import time; time.sleep(2)'")
        quietly(job.submit)
        self.assertEqual(quietly(job.status)[0][0], CodeflareRayJobStatus.RUNNING)
        quietly(job.wait, timeout=120)
        self.assertEqual(quietly(job.status)[0], (CodeflareRayJobStatus.COMPLETE, True))

    def api_request(self, path):
        """The status of a GET at the API server as its administrator, without anything of Ray's."""
        config = pathlib.Path(self.kubeconfig).read_text()
        data = {key: base64.b64decode(value) for key, value in re.findall(r"([a-z-]+)-data: (\S+)", config)}
        for name, text in data.items():
            (self.folder / name).write_bytes(text)
        context = ssl.create_default_context(cafile=self.folder / "certificate-authority")
        context.load_cert_chain(self.folder / "client-certificate", self.folder / "client-key")
        server = re.search(r"server: \"?([^\"\s]+)", config)[1]
        try:
            with urllib.request.urlopen(server + path, context=context, timeout=30) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    def test_token_authentication(self):
        from codeflare_sdk import Cluster, ClusterConfiguration

        cluster, _ = quietly(Cluster, ClusterConfiguration(
            name="guarded", namespace="default", num_workers=1, head_cpu_requests=1, head_cpu_limits=1, head_memory_requests=3,
            head_memory_limits=3, worker_memory_requests=2, worker_memory_limits=2, token_authentication=True, write_to_file=False))
        quietly(cluster.up)
        self.addCleanup(quietly, cluster.down)
        quietly(cluster.wait_ready, timeout=600)
        jobs = "/api/v1/namespaces/default/services/guarded-head-svc:dashboard/proxy/api/jobs/"
        self.assertEqual(self.api_request(jobs), 401)
        client = cluster.job_client
        pathlib.Path("hello.py").write_text(HELLO)
        name = client.submit_job(entrypoint="python hello.py", runtime_env={"working_dir": "."})
        self.assertIn("squares [0, 1, 4, 9]", "".join(client.follow_job_logs(name)))
        with urllib.request.urlopen(cluster.cluster_dashboard_uri() + "/api/jobs/", timeout=30) as answer:
            self.assertIn(name, answer.read().decode())

    def cells(self, notebook):
        """The code cells of a notebook of the 0.40.1 wheel, which is fetched once."""
        folder = pathlib.Path(PINNED.parents[1]) / "demos"
        if not list(folder.glob("*.whl")):
            subprocess.run([PINNED, "-m", "pip", "--disable-pip-version-check", "download", "-q", "--no-deps", "-d", folder, SDK], check=True,
                           env=clean_environment(), stdin=subprocess.DEVNULL)
        (wheel,) = folder.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            document = json.loads(archive.read(f"codeflare_sdk/demo-notebooks/guided-demos/{notebook}.ipynb"))
        return ["".join(cell["source"]) for cell in document["cells"] if cell["cell_type"] == "code"]

    def adapt(self, source):
        """Other login, namespace, sizes and entry point; nothing else."""
        source = source.replace("from kube_authkit import AuthConfig", "from codeflare_sdk import AuthConfig")
        source = re.sub(r"\nauth_config = AuthConfig\(\n.*?\n\)", f"\nauth_config = AuthConfig(method='kubeconfig', kubeconfig_path={self.kubeconfig!r})",
                        source, flags=re.S)
        source = source.replace("num_workers=2,", "num_workers=2, namespace='default',").replace("{'nvidia.com/gpu':1}", "{'nvidia.com/gpu':0}")
        source = re.sub(r"head_memory_(requests|limits)=\d+", r"head_memory_\1=3", source)
        source = re.sub(r"worker_memory_(requests|limits)=\d+", r"worker_memory_\1=2", source)
        return source.replace("python mnist_fashion.py", "python hello.py").replace(',"pip": "requirements.txt"', "")

    def run_notebook(self, notebook, change=lambda source: source):
        """All outputs as one text, HTML included."""
        sources = [change(self.adapt(source)) for source in self.cells(notebook)]
        document = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [
            {"cell_type": "code", "id": f"c{i}", "metadata": {}, "source": source, "outputs": [], "execution_count": None}
            for i, source in enumerate(sources)]}
        pathlib.Path("in.ipynb").write_text(json.dumps(document))
        run = subprocess.run([PINNED, "-B", "-c", RUNNER], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=900)
        self.assertEqual(run.returncode, 0, run.stdout[-3000:] + run.stderr[-6000:])
        outputs = [output for cell in json.loads(pathlib.Path("out.ipynb").read_text())["cells"] for output in cell["outputs"]]
        return "\n".join("".join(output.get("text", "")) + "\n".join("".join(value) for value in output.get("data", {}).values())
                         for output in outputs)

    def test_notebook_0_basic_ray(self):
        shown = self.run_notebook("0_basic_ray")
        self.assertIn("<table>", shown)
        self.assertIn("Requested cluster is up and running!", shown)
        self.assertIn(">Ready</td>", shown)
        self.assertIn("'raytest' has successfully been deleted", shown)
        self.assertNotIn("<script", shown)

    def test_notebook_1_cluster_job_client(self):
        pathlib.Path("hello.py").write_text(HELLO + "print('<script>alert(1)</script>')\n")
        shown = self.run_notebook("1_cluster_job_client")
        self.assertRegex(shown, r"raysubmit_\w{16}")
        self.assertIn("squares [0, 1, 4, 9]", shown)
        self.assertIn("Successfully deleted Job raysubmit_", shown)
        self.assertIn(">python hello.py</td>", shown)
        self.assertIn("'jobtest' has successfully been deleted", shown)


RUNNER = """
import nbformat
from nbclient import NotebookClient
notebook = nbformat.read("in.ipynb", as_version=4)
NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
nbformat.write(notebook, "out.ipynb")
"""


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    RAY = pinned(ROOT / "tests" / "up" / "ray" / "requirements.txt", "python3")
    PINNED = pinned(HERE / "notebooks" / "requirements.txt", sys.executable)
    unittest.main()
