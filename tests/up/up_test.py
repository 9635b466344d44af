#!/usr/bin/env python3
"""`codeflare up` as people start it: says when it is ready, serves a cluster, ends in good order."""

import base64
import json
import pathlib
import re
import signal
import ssl
import subprocess
import sys
import tempfile
import unittest
import urllib.request


class Cluster:
    """A running `codeflare up`; its first lines are read already."""

    def __init__(self, scratch, *flags):
        self.process = subprocess.Popen(
            [PROGRAM, "up", "--listen", "127.0.0.1:0", "--data-dir", str(scratch / "data"), *flags],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        self.lines = []
        for line in self.process.stdout:
            self.lines.append(line)
            if line.strip() == "codeflare queue":  # the last of its advice
                break
        self.kubeconfig = "".join(self.lines[1:2]).removeprefix("kubeconfig ").strip()
        self.scratch = scratch

    def get(self, path):
        text = pathlib.Path(self.kubeconfig).read_text()
        files = {}
        for field in ("certificate-authority-data", "client-certificate-data", "client-key-data"):
            files[field] = self.scratch / field
            files[field].write_bytes(base64.b64decode(re.search(field + r'"?:\s*"?([A-Za-z0-9+/=]+)', text).group(1)))
        context = ssl.create_default_context(cafile=files["certificate-authority-data"])
        context.load_cert_chain(files["client-certificate-data"], files["client-key-data"])
        server = re.search(r"https://[^\s\"]+", text).group(0)
        with urllib.request.urlopen(server + path, context=context, timeout=20) as answer:
            return json.load(answer)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        _, err = self.process.communicate(timeout=60)
        return self.process.returncode, err


class Up(unittest.TestCase):
    def test_serves_a_cluster_and_ends_in_good_order(self):
        with tempfile.TemporaryDirectory() as name:
            cluster = Cluster(pathlib.Path(name), "--fake-nodes", "3", "--cpus", "16", "--gpus", "2")
            try:
                self.assertRegex(cluster.lines[0], r"^ready https://127\.0\.0\.1:\d+ in \d+ ms$")
                nodes = cluster.get("/api/v1/nodes")["items"]
                groups = [group["name"] for group in cluster.get("/apis")["groups"]]
            finally:
                code, err = cluster.stop()
        self.assertEqual([node["metadata"]["name"] for node in nodes], [f"codeflare-fake-{i}" for i in range(3)])
        self.assertEqual(nodes[0]["status"]["allocatable"]["nvidia.com/gpu"], "2")
        self.assertIn("workload.codeflare.dev", groups)
        self.assertIn("ray.io", groups)
        self.assertIn(f"  export KUBECONFIG={cluster.kubeconfig}\n", cluster.lines)
        self.assertEqual(code, 0, err)

    def test_says_that_only_fake_nodes_are_there_yet(self):
        run = subprocess.run([PROGRAM, "up"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 2)
        self.assertIn("--fake-nodes", run.stderr)

    def test_refuses_amounts_that_are_none(self):
        run = subprocess.run([PROGRAM, "up", "--fake-nodes", "1", "--cpus", "many"], stdin=subprocess.DEVNULL,
                             capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 2)
        self.assertIn("--cpus many", run.stderr)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
