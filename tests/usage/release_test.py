#!/usr/bin/env python3
"""release_test.py CODEFLARE CODEFLARE_RELEASE: `codeflare controller` of both editions on an API server of its own, with a licence service that has Lemon
Squeezy's API and a remote-write receiver on loopback: what starts, what is sent, and that the licence key is nowhere else."""

import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "queue"))

from api import Api, Refused  # noqa: E402

KEY = "38b1460a-5104-4067-a91d-77b872934d51"
PASSWORD = "s3cret-token"
JOBS = "/apis/breezeml.ai/v1/namespaces/default/trainingjobs"
PODS = "/api/v1/namespaces/default/pods"
LEDGERS = "/apis/usage.codeflare.dev/v1alpha1/namespaces/{}/usageledgers"
PATIENCE_SECONDS = 60
NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"},
        "status": {"allocatable": {"cpu": "8", "pods": "100"}, "conditions": [{"type": "Ready", "status": "True", "reason": "r", "message": "m"}]}}


def training_job(name, size=1):
    container = {"name": "trainingjob", "image": "any", "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}}
    return {"apiVersion": "breezeml.ai/v1", "kind": "TrainingJob", "metadata": {"name": name},
            "spec": {"minSize": 1, "maxSize": size, "queue": "research", "replicaSpecs": {"template": {"spec": {"containers": [container]}}}}}


def wait_for(what, look):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (found := look()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {PATIENCE_SECONDS} s: {what}")
        time.sleep(0.1)
    return found


class Service:
    """An HTTP server on loopback that keeps what it is sent."""

    def __init__(self, answer):
        self.seen, service = [], self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                service.seen.append((self.path, dict(self.headers), body))
                status, text = answer(self.path, body)
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Editions(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="codeflare-usage-")))
        self.key_status = "active"
        self.shop = Service(self.licence_answer)
        self.addCleanup(self.shop.close)
        self.receiver = Service(lambda path, body: (204, b""))
        self.addCleanup(self.receiver.close)
        server = self.start("apiserver.log", COMMUNITY, "apiserver", "--data-dir", self.folder / "data", "--listen", "127.0.0.1:0")
        kubeconfig = self.folder / "data/admin.kubeconfig"
        wait_for("an API server", lambda: kubeconfig.exists() and "https://" in self.log("apiserver.log"))
        self.assertIsNone(server.poll())
        self.api = Api(kubeconfig, self.folder)
        self.kubeconfig = kubeconfig
        subprocess.run([COMMUNITY, "crds", "apply", "--kubeconfig", kubeconfig], check=True, capture_output=True)
        self.api.call("POST", "/api/v1/nodes", NODE)

    def licence_answer(self, path, body):
        form = urllib.parse.parse_qs(body.decode())
        valid = path == "/v1/licenses/validate" and form == {"license_key": [KEY]} and self.key_status == "active"
        return (200 if valid else 400), json.dumps({
            "valid": valid, "error": None, "license_key": {"status": self.key_status, "key": KEY, "expires_at": None},
            "meta": {"store_id": 7, "product_id": 9, "product_name": "Lattice Operator"}}).encode()

    def start(self, log, *words, **variables):
        with open(self.folder / log, "w") as file:
            process = subprocess.Popen([str(word) for word in words], env={**os.environ, **variables}, stdin=subprocess.DEVNULL, stdout=file, stderr=file)
        self.addCleanup(lambda: (process.kill(), process.wait()))
        return process

    def log(self, name):
        return (self.folder / name).read_text()

    def controller(self, program, log, **variables):
        (self.folder / "password").write_text(PASSWORD + "\n")
        process = self.start(log, program, "controller", "--kubeconfig", self.kubeconfig, "--bind", "--no-user-check", "--no-rayclusters",
                             "--health-address", "127.0.0.1:0", "--license-endpoint", self.shop.url, "--license-store", "7", "--license-product", "9",
                             "--usage-endpoint", self.receiver.url + "/api/prom/push", "--usage-user", "12345",
                             "--usage-password-file", self.folder / "password", "--usage-interval", "1", "--customer-id", "acme",
                             **{"LATTICE_LICENSE": KEY, **variables})
        wait_for("the queue", lambda: "the queue starts" in self.log(log) or process.poll() is not None)
        self.assertIsNone(process.poll(), self.log(log))
        return process

    def stage(self, name):
        return self.api.call("GET", f"{JOBS}/{name}").get("status", {})

    def finish_pod(self, seconds):
        """A kubelet's report of a worker that ran so long."""
        pod = wait_for("a bound pod", lambda: next((one for one in self.api.call("GET", PODS)["items"] if one["spec"].get("nodeName")), None))
        now = int(time.time())
        stamp = lambda at: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))  # noqa: E731
        state = {"terminated": {"exitCode": 0, "startedAt": stamp(now - seconds), "finishedAt": stamp(now)}}
        pod["status"] = {"phase": "Succeeded", "containerStatuses": [
            {"name": "trainingjob", "image": "any", "imageID": "", "ready": False, "restartCount": 0, "state": state}]}
        try:
            self.api.call("PUT", f"{PODS}/{pod['metadata']['name']}/status", pod)
        except Refused as refused:
            if refused.status != 409:
                raise
            self.finish_pod(seconds)
        return pod["metadata"]["name"]

    def readyz(self, log):
        port = re.search(r"serving health and metrics port=(\d+)", self.log(log))[1]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz") as answer:
            return answer.status, answer.read().decode()

    def test_the_release_edition_counts_and_pushes_and_without_a_licence_starts_nothing_new(self):
        release = self.controller(RELEASE, "release.log")
        self.api.call("POST", JOBS, training_job("first"))
        wait_for("a running job", lambda: self.stage("first").get("stage") == "Running")
        self.finish_pod(100)
        ledger = wait_for("a ledger", lambda: [one for one in self.api.call("GET", LEDGERS.format("default"))["items"] if one.get("status", {}).get("totals")])
        totals = {one["resource"]: one["unitSeconds"] for one in ledger[0]["status"]["totals"]}
        self.assertEqual(totals, {"workers": 100, "millicpu": 100_000})
        wait_for("status.usage", lambda: self.stage("first").get("usage") == {"totals": ledger[0]["status"]["totals"]})
        path, headers, body = wait_for("a push", lambda: next((one for one in self.receiver.seen if b"codeflare_usage_unit_seconds_total" in one[2]), None))
        self.assertEqual(path, "/api/prom/push")
        self.assertTrue(headers["Authorization"].startswith("Basic "), headers)
        for word in (b"acme", b"research", b"workers", b"default"):
            self.assertIn(word, body)
        self.assertEqual(self.readyz("release.log"), (200, "ok"))

        # The second job runs when the licence ends, the third comes too late.
        self.api.call("POST", JOBS, training_job("second"))
        wait_for("a running job", lambda: self.stage("second").get("stage") == "Running")
        pods = {one["metadata"]["uid"] for one in self.api.call("GET", PODS)["items"]}
        self.key_status = "disabled"
        # The next check would be in an hour; a restart checks at once.
        release.terminate()
        release.wait(60)
        self.controller(RELEASE, "again.log")
        wait_for("the rejection", lambda: "LicenceRejected" in self.log("again.log"))
        self.api.call("POST", JOBS, training_job("third"))
        told = wait_for("the reason", lambda: "LicenceRejected" in self.stage("third").get("message", "") and self.stage("third"))
        self.assertEqual(told["stage"], "Waiting")
        status, text = self.readyz("again.log")
        self.assertEqual(status, 200)
        self.assertIn("LicenceRejected", text)
        self.assertEqual(self.stage("second")["stage"], "Running")
        self.assertLessEqual({one["metadata"]["uid"] for one in self.api.call("GET", PODS)["items"]}, pods)
        record = [one for one in self.api.call("GET", LEDGERS.format("codeflare-system"))["items"] if one["metadata"]["name"] == "licence"]
        self.assertEqual(record[0]["status"]["conditions"][0]["status"], "False")

        everything = self.log("release.log") + self.log("again.log") + json.dumps(record) + "".join(repr(one) for one in self.receiver.seen)
        self.assertNotIn(KEY, everything)
        self.assertNotIn(PASSWORD, self.log("release.log") + self.log("again.log"))

    def test_the_community_edition_needs_no_licence_and_sends_nothing(self):
        self.controller(COMMUNITY, "community.log")
        self.api.call("POST", JOBS, training_job("first"))
        wait_for("a running job", lambda: self.stage("first").get("stage") == "Running")
        self.finish_pod(10)
        wait_for("a ledger", lambda: [one for one in self.api.call("GET", LEDGERS.format("default"))["items"] if one.get("status", {}).get("totals")])
        time.sleep(2.5)  # two pushes
        self.assertEqual((self.shop.seen, self.receiver.seen), ([], []))
        self.assertIn("this edition pushes nothing", self.log("community.log"))

    def test_versions_name_the_edition(self):
        for program, edition in ((COMMUNITY, "community"), (RELEASE, "release")):
            out = subprocess.check_output([program, "--version"], text=True)
            self.assertRegex(out, rf"^codeflare \S+ \({edition} edition\)$")


if __name__ == "__main__":
    COMMUNITY, RELEASE = pathlib.Path(sys.argv.pop(1)), pathlib.Path(sys.argv.pop(1))
    unittest.main()
