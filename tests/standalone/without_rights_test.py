#!/usr/bin/env python3
"""A controller process at a server that rejects everything: the log says what is wrong, once, and a scrape shows the calls."""

import http.server
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.error
import urllib.request

PATIENCE_SECONDS = 60

KUBECONFIG = """
clusters:
- name: c
  cluster: {{server: "http://{server}"}}
contexts:
- name: x
  context: {{cluster: c, namespace: team}}
current-context: x
"""


class Refusal(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = json.dumps({
            "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403,
            "message": f"no rights to {self.path.split('?')[0]}",
        }).encode()
        self.send_response(403)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Warning", '299 - "this server is old"')
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class WithoutRights(unittest.TestCase):
    def setUp(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refusal)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = "127.0.0.1:%d" % self.server.server_port
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        config = pathlib.Path(scratch.name) / "config"
        config.write_text(KUBECONFIG.format(server=self.address))
        self.process = subprocess.Popen(
            [PROGRAM, f"--kubeconfig={config}"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.log = []
        # Ends the reads below, whatever the process does.
        self.watchdog = threading.Timer(PATIENCE_SECONDS, self.process.kill)
        self.watchdog.start()

    def tearDown(self):
        self.process.kill()
        self.process.wait()
        self.watchdog.cancel()
        self.process.stderr.close()
        self.server.shutdown()
        self.server.server_close()

    def wait_for(self, pattern):
        """The first line of the log like this; those before it are kept."""
        for line in self.log:
            if found := re.search(pattern, line):
                return found
        for line in iter(self.process.stderr.readline, ""):
            self.log.append(line)
            if found := re.search(pattern, line):
                return found
        self.fail(f"no line like {pattern} in\n{''.join(self.log)}")

    def get(self, path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=PATIENCE_SECONDS) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, refused.read().decode()

    def test_it_says_what_is_wrong_and_what_to_do(self):
        self.port = self.wait_for(r"serving health and metrics.*\bport=(\d+)")[1]
        line = self.wait_for("Lease cannot be taken").string
        for part in ("WARN", "team/hello-controller", "allow get, list, watch, create and patch on leases", "namespace team"):
            self.assertIn(part, line)
        self.wait_for("this server is old")

        status, missing = self.get("/readyz")
        self.assertEqual(status, 503, missing)
        for part in ("lease team/hello-controller", "greetings.examples.codeflare.dev", "configmaps"):
            self.assertIn(part, missing)

        status, metrics = self.get("/metrics")
        self.assertEqual(status, 200)
        self.assertRegex(
            metrics, rf'rest_client_requests_total{{code="403",method="GET",host="{self.address}"}} [1-9]')
        self.assertIn('leader_election_master_status{name="hello-controller"} 0\n', metrics)
        self.assertIn('controller_runtime_max_concurrent_reconciles{controller="greetings"} 1\n', metrics)
        for name in ("process_resident_memory_bytes", "process_open_fds", "process_start_time_seconds"):
            self.assertRegex(metrics, rf"\n{name} [1-9]")

        self.process.send_signal(signal.SIGTERM)
        self.log += self.process.stderr.readlines()
        self.assertEqual(self.process.wait(), 0, "".join(self.log))
        self.assertEqual(sum("Lease cannot be taken" in line for line in self.log), 1, "".join(self.log))


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
