"""For tests of pods on `codeflare up`: a cluster on fresh data that ends with the test, and what is looked at again and again."""

import contextlib
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.error

import up_test
from up_test import NOBODY, PODS, Cluster, pod, processes_below

JOBS = "/apis/batch/v1/namespaces/default/jobs"
SERVICES = "/api/v1/namespaces/default/services"
SERVICE_ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"


def with_container(body, **members):
    body["spec"]["containers"][0].update(members)
    return body


def telling(body, *command):
    """The command's output is the pod's last message: where the API server does not reach the node there are no logs."""
    return with_container(body, command=["sh", "-c", 'exec "$@" > /dev/termination-log', "sh", *command])


def with_volume(body, source, path="/data"):
    body["spec"]["volumes"] = [{"name": "v", **source}]
    return with_container(body, volumeMounts=[{"name": "v", "mountPath": path}])


def labelled(app, body):
    body["metadata"]["labels"] = {"app": app}
    return body


def service(name, headless=False):
    spec = {"selector": {"app": name}, "ports": [{"name": "http", "port": 8080, "targetPort": 80}]}
    return {"metadata": {"name": name}, "spec": {**spec, **({"clusterIP": "None"} if headless else {})}}


def job(name, template, **spec):
    """Of pods like this one, whose failures are not tried again."""
    template["spec"]["restartPolicy"] = "Never"
    return {"metadata": {"name": name}, "spec": {"backoffLimit": 0, **spec, "template": {
        "metadata": {"labels": template["metadata"].get("labels", {})}, "spec": template["spec"]}}}


def phase_is(*phases):
    return lambda found: found["status"].get("phase") in phases


def is_true(found, condition):
    return any(one["type"] == condition and one["status"] == "True" for one in found.get("status", {}).get("conditions", []))


def is_ready(found):
    return is_true(found, "Ready")


def job_is_complete(found):
    if is_true(found, "Failed"):
        raise AssertionError(f"the job failed: {found['status']}")
    return is_true(found, "Complete")


def container(found):
    return found["status"]["containerStatuses"][0]


def terminated(found):
    return container(found)["state"].get("terminated", {})


def waiting(found):
    """Why its container does not run; empty when it does, or nothing is known of it yet."""
    return next((one["state"].get("waiting", {}) for one in found["status"].get("containerStatuses", [])), {})


def holders(scratch):
    """The keepers of this directory's network: names of processes and their ids."""
    found = {}
    for pid in processes_below(scratch, "node-holder"):
        with contextlib.suppress(OSError):
            found[pathlib.Path(f"/proc/{pid}/comm").read_text().strip()] = pid
    return found


def why_no_network(program, scratch):
    """The kernel's error about networks of pods; empty when it allows them."""
    with tempfile.TemporaryDirectory(dir=scratch) as empty:
        run = subprocess.run([program, "node-holder", "--probe", empty], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    return run.stderr if run.returncode == 3 else ""


class PodCase(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.scratch = pathlib.Path(directory.name).resolve()
        self.cluster = None
        self.addCleanup(self.end)

    def end(self):
        if self.cluster is None:
            return
        try:
            code, err = self.cluster.stop()
            self.assertEqual(code, 0, err)
            Cluster.wait_until(lambda: not holders(self.scratch))
            self.assertEqual(processes_below(self.scratch), [])
        finally:
            # A failed test takes along what its cluster did not.
            for pid in [*processes_below(self.scratch), *holders(self.scratch).values()]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def start(self, *flags, **how):
        self.cluster = Cluster(self.scratch, *flags, **how)
        if any("on its network" in line for line in self.cluster.lines):
            self.skipTest("networks are forbidden here: " + "".join(self.cluster.lines))
        self.cluster.wait_for(SERVICE_ACCOUNTS, lambda found: found["items"])

    def start_as_nobody(self, *flags, **how):
        os.chown(self.scratch, NOBODY, NOBODY)
        self.start(*flags, user=NOBODY, group=NOBODY, extra_groups=[], **how)

    def kill_program(self):
        self.cluster.process.kill()
        self.cluster.process.communicate()

    def add_image(self, name, *what):
        words = [up_test.PROGRAM, "image", "add", name, *what, "--data-dir", str(self.scratch / "data")]
        run = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 0, run.stderr)

    def running(self, name):
        return self.cluster.wait_for(PODS + "/" + name, phase_is("Running"))

    def ended(self, name):
        return self.cluster.wait_for(PODS + "/" + name, phase_is("Succeeded", "Failed"))

    def delete(self, path, **options):
        self.cluster.open(path, {"kind": "DeleteOptions", "apiVersion": "v1", **options}, method="DELETE")

    def logs(self, query=""):
        """Of each pod, by name; empty where there is none yet."""
        logs = {one["metadata"]["name"]: "" for one in self.cluster.get(PODS + query)["items"]}
        for name in logs:
            with contextlib.suppress(urllib.error.HTTPError):
                logs[name] = self.cluster.open(f"{PODS}/{name}/log")
        return logs

    def output(self, name, script, **spec):
        """A pod's output, once it has ended."""
        self.cluster.post(PODS, pod(name, script, restartPolicy="Never", **spec))
        self.ended(name)
        return self.cluster.open(PODS + "/" + name + "/log")

    def retried(self, name, script, wanted):
        """Until the output has it: endpoints and servers take a moment."""
        until = time.monotonic() + 60
        for i in range(1000):
            said = self.output(f"{name}-{i}", script)
            if wanted in said or time.monotonic() > until:
                break
        self.assertIn(wanted, said)

    def assert_vanishes(self, look, patience=60):
        """Waits until nothing is found; shows what stays."""
        until = time.monotonic() + patience
        while (found := look()) and time.monotonic() < until:
            time.sleep(0.1)
        self.assertFalse(found)
