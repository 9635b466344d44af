#!/usr/bin/env python3
"""The first hour of a data scientist on real Kubernetes: kube-apiserver, kube-scheduler and kube-controller-manager, `codeflare controller` with its webhook, and
a node that joined. Then a user of one namespace, made by the CSR API, whose explanations and logs come through the View API behind the aggregating server.

first_hour_kubernetes_test.py CODEFLARE: needs what `tests/kubernetes/kubernetes build` makes. CODEFLARE_TORCH=1: training with real torch.
"""

import json
import os
import pathlib
import socket
import ssl
import subprocess
import sys
import unittest
import urllib.error
import urllib.request

sys.dont_write_bytecode = True

import first_hour_test  # noqa: E402
from first_hour_test import PATIENCE_SECONDS, ROOT, Home, run_and_fail, until, wrapper  # noqa: E402

VIEW = "/apis/view.codeflare.dev/v1alpha1/namespaces/default/appwrappers"
SERVICE = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "view", "namespace": "codeflare-system"},
           # The server calls the controller on this machine.
           "spec": {"type": "ExternalName", "externalName": "localhost"}}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Hour(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = Home()
        cls.addClassCleanup(cls.home.scratch.cleanup)
        cls.home.environment["KUBECONFIG"] = os.environ["KUBECONFIG"]
        cls.processes = []
        cls.addClassCleanup(cls.end)
        authority = pathlib.Path(os.environ["CODEFLARE_KUBERNETES_DIR"]) / "pki/ca.crt"
        cls.kubectl("create", "namespace", "codeflare-system")
        cls.kubectl("create", "-f", "-", stdin=json.dumps(SERVICE))
        cls.port = free_port()
        listen = f"127.0.0.1:{cls.port}"
        cls.start("controller", "--install-crds", "--no-leader-election", "--health-address", "", "--webhook-listen", listen,
                  "--webhook-url", f"https://{listen}", "--webhook-dir", cls.home.path / "webhook", "--view-service", f"codeflare-system/view:{cls.port}")
        cls.start("node", "--join", "--no-taint", "--name", "worker-1", "--gpus", "1", "--cpus", "2", "--memory", "2Gi",
                  "--data-dir", cls.home.path / "node", "--kubelet-client-ca", authority, "--kubelet-address", "127.0.0.1:0")
        for what in ("node/worker-1", "apiservice/v1alpha1.view.codeflare.dev"):
            until(lambda: cls.kubectl("get", what, "-o", "json", code=None), lambda text: text and any(
                one["type"] in ("Ready", "Available") and one["status"] == "True" for one in json.loads(text).get("status", {}).get("conditions", [])))
        until(lambda: cls.log("controller"), lambda text: "the queue starts" in text)

    @classmethod
    def start(cls, role, *words):
        words = [first_hour_test.PROGRAM, role, *map(str, words)]
        with open(cls.home.path / f"{role}.log", "w") as log:
            cls.processes.append(subprocess.Popen(words, cwd=cls.home.path, env=cls.home.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log))

    @classmethod
    def log(cls, role):
        return (cls.home.path / f"{role}.log").read_text()

    @classmethod
    def end(cls):
        for process in cls.processes[::-1]:
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    @classmethod
    def kubectl(cls, *words, stdin=None, code=0):
        run = subprocess.run(["kubectl", *words], env=cls.home.environment, input=stdin, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        if code is not None and run.returncode != code:
            raise AssertionError(f"kubectl {words}: exit {run.returncode}\n{run.stdout}{run.stderr}")
        return run.stdout

    def raw(self, path, user=None):
        """The answer, or the error's text: of the administrator, or of somebody with the groups of no role."""
        words = ["kubectl", "get", "--raw", path, *(["--as", user] if user else [])]
        run = subprocess.run(words, env=self.home.environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        return run.stdout + run.stderr

    def wait_for(self, name, state):
        until(lambda: json.loads(self.kubectl("get", "appwrapper", name, "-o", "json")), lambda found: found.get("status", {}).get("state") == state)

    def test_1_a_script_runs_and_each_mistake_has_its_line(self):
        without = self.home.type("run", "--dir", "", "--", "true", code=None)
        self.assertNotEqual(without.returncode, 0)
        self.assertIn("give --image or set CODEFLARE_IMAGE", without.stderr)
        self.home.environment["CODEFLARE_IMAGE"] = "python:3.12"
        self.addCleanup(self.home.environment.pop, "CODEFLARE_IMAGE")
        run_and_fail(self, self.home, os.environ.get("CODEFLARE_TORCH") == "1")
        self.assertRegex(self.home.type("explain", "greedy").stdout, r"pod greedy-\S+, container main: OOMKilled \(137\), limit 64Mi")
        pods = json.loads(self.kubectl("get", "pods", "-o", "json"))["items"]
        self.assertEqual({one["spec"]["nodeName"] for one in pods}, {"worker-1"})
        scheduled = json.loads(self.kubectl("get", "events", "--field-selector", "reason=Scheduled", "-o", "json"))["items"]
        schedulers = {one["involvedObject"]["name"]: one.get("reportingComponent") or one["source"]["component"] for one in scheduled}
        self.assertEqual({schedulers[one["metadata"]["name"]] for one in pods}, {"default-scheduler"})

    def test_2_a_mistake_in_a_manifest_is_rejected_by_the_webhook(self):
        text = (ROOT / "examples/troubles/oom.yaml").read_text()
        (self.home.path / "wrong.yaml").write_text(text.replace("cpu: 100m", "cpus: 1").replace("restartPolicy: Never", "restartpolicy: Never"))
        rejected = self.home.type("create", "-f", "wrong.yaml", code=None)
        self.assertNotEqual(rejected.returncode, 0)
        self.assertIn("did you mean cpu?", rejected.stderr)
        self.assertIn("restartPolicy", rejected.stderr)

    def test_3_a_user_of_one_namespace_asks_the_controller(self):
        added = self.home.type("user", "add", "ann", "--namespace", "default", "--role", "viewer", "--file", "ann.kubeconfig").stdout
        self.assertIn("clusterrole codeflare-viewer created\n", added)
        ann = ("-n", "default", "--kubeconfig", str(self.home.path / "ann.kubeconfig"))
        for name, cpu in (("holds", "1500m"), ("waits", "1")):
            (self.home.path / "one.json").write_text(json.dumps(wrapper(name, {}, cpu=cpu)))
            self.home.type("create", "-f", "one.json")
            if name == "holds":
                self.wait_for(name, "Running")
        # Rights take a moment to reach the server's cache.
        text = until(lambda: self.home.type("explain", "waits", *ann, code=None).stdout, lambda text: "Resources in use by:" in text)
        self.assertIn("InsufficientResources: needs 1 CPU, 0.5 of 2 free on 1 eligible node", text)
        self.assertIn("default/holds holds 1.5 CPUs", text)
        self.assertNotIn("Not checked", text)  # ann may not read nodes: the controller answered
        live = json.loads(self.raw(f"{VIEW}/waits/explain"))
        self.assertEqual((live["kind"], live["report"]["reason"]), ("Explanation", "InsufficientResources"))
        self.assertEqual(self.home.json("explain", "waits", *ann)["report"], live["report"])

    def test_4_logs_come_through_the_view_api(self):
        says = wrapper("says", {}, cpu="100m")
        container = says["spec"]["resources"]["GenericItems"][0]["generictemplate"]["spec"]["template"]["spec"]["containers"][0]
        container["command"] = ["sh", "-c", "echo one; echo two"]
        (self.home.path / "says.json").write_text(json.dumps(says))
        self.home.type("create", "-f", "says.json")
        self.wait_for("says", "Completed")
        pod, = json.loads(self.raw(f"{VIEW}/says/log"))["items"]
        self.assertNotIn("command", pod["spec"]["containers"][0])
        self.assertEqual(self.raw(f"{VIEW}/says/log?pod={pod['metadata']['name']}&tailLines=1"), "two\n")
        self.assertEqual(self.raw(f"{VIEW}/says/log?pod={pod['metadata']['name']}"), "one\ntwo\n")
        self.assertIn("not found", self.raw(f"{VIEW}/says/log?pod=other").lower())

    def test_5_only_the_api_server_and_only_with_rights(self):
        self.assertIn("cannot get", self.raw(f"{VIEW}/waits/explain", user="stranger"))
        direct = ssl._create_unverified_context()
        for certificate in (None, "admin"):
            if certificate:
                folder = pathlib.Path(os.environ["CODEFLARE_KUBERNETES_DIR"]) / "pki"
                direct.load_cert_chain(folder / f"{certificate}.crt", folder / f"{certificate}.key")
            request = urllib.request.Request(f"https://127.0.0.1:{self.port}{VIEW}/waits/explain", headers={
                "X-Remote-User": "root", "X-Remote-Group": "system:masters"})
            with self.assertRaises(urllib.error.HTTPError) as answer:
                urllib.request.urlopen(request, context=direct, timeout=60)
            self.assertEqual(answer.exception.code, 401)

    def test_6_discovery_leaves_appwrappers_to_the_queue(self):
        names = [one["name"] for one in json.loads(self.raw("/apis/view.codeflare.dev/v1alpha1"))["resources"]]
        self.assertEqual(names, ["appwrappers/explain", "appwrappers/log", "trainingjobs/explain"])
        self.assertIn("waits", self.kubectl("get", "appwrappers"))
        self.assertIn("Used", self.kubectl("get", "crd", "quotasubtrees.quota.codeflare.dev", "-o", "yaml"))


def main():
    program = pathlib.Path(sys.argv.pop(1)).resolve()
    if "--inside" in sys.argv:
        sys.argv.remove("--inside")
        first_hour_test.PROGRAM = str(program)
        unittest.main(verbosity=2)
    words = [ROOT / "tests/kubernetes/kubernetes", "run", "--", sys.executable, __file__, program, "--inside", *sys.argv[1:]]
    return subprocess.run([str(word) for word in words]).returncode


if __name__ == "__main__":
    sys.exit(main())
