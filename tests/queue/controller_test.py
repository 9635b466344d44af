#!/usr/bin/env python3
"""`codeflare controller` beside `codeflare apiserver`: who runs RayClusters is found out; MCAD's options."""

import base64
import json
import os
import pathlib
import re
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

PATIENCE_SECONDS = 60

RAY_CLUSTER = {
    "apiVersion": "ray.io/v1",
    "kind": "RayCluster",
    "metadata": {"name": "r", "namespace": "default"},
    "spec": {
        "headGroupSpec": {
            "rayStartParams": {},
            "template": {"spec": {"containers": [{"name": "ray", "image": "r"}]}},
        }
    },
}
OPERATOR = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "kuberay-operator", "namespace": "default"},
    "spec": {
        "selector": {"matchLabels": {"a": "b"}},
        "template": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {"containers": [{"name": "operator", "image": "o"}]},
        },
    },
}
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n"},
    "status": {
        "allocatable": {"cpu": "8", "pods": "10"},
        "conditions": [{"type": "Ready", "status": "True", "reason": "r", "message": "m"}],
    },
}
# Work that names no node of it charges `default`, which has nothing.
NO_QUOTA = {
    "apiVersion": "quota.codeflare.dev/v1alpha1",
    "kind": "QuotaSubtree",
    "metadata": {"name": "q", "namespace": "default", "labels": {"tree": "team"}},
    "spec": {"children": [{"name": "default", "quotas": {"requests": {"cpu": 0}, "hardLimit": True}}]},
}
WORK = {
    "apiVersion": "workload.codeflare.dev/v1beta1",
    "kind": "AppWrapper",
    "metadata": {"name": "a", "namespace": "default"},
    "spec": {"resources": {"GenericItems": [{
        "generictemplate": {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "a"},
            "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]},
        },
    }]}},
}


class Server:
    def __init__(self, folder):
        self.folder = folder
        words = [PROGRAM, "apiserver", "--data-dir", folder / "data", "--listen", "127.0.0.1:0", "--durability", "memory"]
        self.process = subprocess.Popen(
            [str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=open(folder / "server.log", "w"), text=True,
        )
        self.process.stdout.readline()
        self.environment = {**os.environ, "KUBECONFIG": str(folder / "data" / "admin.kubeconfig")}

    def create(self, thing):
        subprocess.run([PROGRAM, "create", "-f", "-"], input=json.dumps(thing), env=self.environment,
                       check=True, capture_output=True, text=True, timeout=PATIENCE_SECONDS)

    def get(self, path):
        text = pathlib.Path(self.environment["KUBECONFIG"]).read_text()
        files = {}
        for field in ("certificate-authority-data", "client-certificate-data", "client-key-data"):
            files[field] = self.folder / field
            files[field].write_bytes(base64.b64decode(re.search(field + r'"?:\s*"?([A-Za-z0-9+/=]+)', text).group(1)))
        context = ssl.create_default_context(cafile=files["certificate-authority-data"])
        context.load_cert_chain(files["client-certificate-data"], files["client-key-data"])
        server = re.search(r"https://[^\s\"]+", text).group(0)
        with urllib.request.urlopen(server + path, context=context, timeout=20) as answer:
            return json.load(answer)

    def stop(self):
        self.process.terminate()
        self.process.communicate(timeout=PATIENCE_SECONDS)


class Controller:
    """Ends by itself when nothing is said for long."""

    def __init__(self, server, *flags):
        words = [PROGRAM, "controller", "--no-leader-election", "--health-address", "", *flags]
        self.process = subprocess.Popen(
            words, env=server.environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        self.lines = []

    def until(self, part):
        timer = threading.Timer(PATIENCE_SECONDS, self.process.kill)
        timer.start()
        try:
            for line in self.process.stderr:
                self.lines.append(line)
                if part in line:
                    return True
            return False
        finally:
            timer.cancel()

    def stop(self):
        self.process.terminate()
        self.process.communicate(timeout=PATIENCE_SECONDS)
        return "".join(self.lines)


class RayClusters(unittest.TestCase):
    def test_are_run_here_unless_the_operator_is(self):
        with tempfile.TemporaryDirectory() as name:
            server = Server(pathlib.Path(name))
            self.addCleanup(server.stop)
            ours = Controller(server, "--install-crds", "--no-user-check")
            try:
                self.assertTrue(ours.until("the queue starts"), ours.lines)
                server.create(RAY_CLUSTER)
                end = time.monotonic() + PATIENCE_SECONDS
                pods = []
                while not pods and time.monotonic() < end:
                    time.sleep(0.1)
                    pods = server.get("/api/v1/namespaces/default/pods")["items"]
            finally:
                said = ours.stop()
            self.assertEqual([pod["metadata"]["labels"]["ray.io/node-type"] for pod in pods], ["head"], said)
            self.assertIn("this controller runs RayClusters", said)
            self.assertIn("changes of AppWrapper specs are rejected by the server", said)
            self.assertEqual(server.get("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies")["items"], [])

            server.create(OPERATOR)
            theirs = Controller(server)
            try:
                self.assertTrue(theirs.until("the queue starts"), theirs.lines)
            finally:
                said = theirs.stop()
            self.assertIn("RayClusters are handled by the KubeRay operator", said)
            self.assertIn("deployment default/kuberay-operator", said)
            self.assertIn("submitters are unknown; no AppWrapper will start", said)
            server.stop()


class Mcad(unittest.TestCase):
    """Its command line starts the queue that it asks for, and `explain` can know."""

    WORK = "/apis/workload.codeflare.dev/v1beta1/namespaces/default/appwrappers/a"
    NOTE = "/api/v1/namespaces/codeflare-system/configmaps/codeflare-queue"

    def wait_for(self, server, path, good):
        end = time.monotonic() + PATIENCE_SECONDS
        thing = {}
        while time.monotonic() < end and not good(thing):
            time.sleep(0.1)
            try:
                thing = server.get(path)
            except urllib.error.HTTPError as error:
                self.assertEqual(error.code, 404)
        self.assertTrue(good(thing), thing)
        return thing

    def test_options_are_taken(self):
        with tempfile.TemporaryDirectory() as name:
            server = Server(pathlib.Path(name))
            self.addCleanup(server.stop)
            strict = Controller(server, "--install-crds", "--no-user-check")
            try:
                self.assertTrue(strict.until("the queue starts"), strict.lines)
                server.create(NO_QUOTA)
                server.create(WORK)
                self.wait_for(server, self.WORK, lambda work: "InsufficientQuota" in json.dumps(work))
                server.create(NODE)
            finally:
                strict.stop()

            options = ("--quotaEnabled=false", "--headoflineholdingtime=60", "--backofftime=20")
            loose = Controller(server, "--no-user-check", *options)
            try:
                self.assertTrue(loose.until("the queue starts"), loose.lines)
                self.wait_for(server, self.WORK, lambda work: work.get("status", {}).get("canrun"))
                note = self.wait_for(server, self.NOTE, lambda note: "settings" in note.get("data", {}))
            finally:
                said = loose.stop()
            self.assertIn("--backofftime", said)
            settings = json.loads(note["data"]["settings"])
            self.assertEqual((settings["holdingSeconds"], settings["quotaTrees"]), (60, False))
            server.stop()


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
