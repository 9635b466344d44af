#!/usr/bin/env python3
"""etcd_test.py: a real etcd starts with the command of the chart lattice-operator and keeps a key. ETCD names a program that is there."""

import base64
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.request

sys.dont_write_bytecode = True

import charts  # noqa: E402
from charts import ROOT  # noqa: E402

PATIENCE_SECONDS = 60

def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def command():
    """The words of the container, as helm_golden checks them."""
    text = (ROOT / "tests/helm/golden/lattice-etcd.yaml").read_text()
    return [word.strip('"') for word in re.search(r"^ +command: \[(etcd, .*)\]$", text, re.M)[1].split(", ")]


class Etcd(unittest.TestCase):
    def test_the_command_of_the_chart_starts_and_keeps_a_key(self):
        words = command()
        self.assertIn("--data-dir=/data", words)
        self.assertIn("--listen-client-urls=http://0.0.0.0:2379", words)
        folder = charts.fresh_folder()
        self.addCleanup(folder.cleanup)
        program = os.environ.get("ETCD") or charts.tools("etcd") / "etcd"
        # Its folder and its address are those of a pod.
        self.address = f"http://127.0.0.1:{free_port()}"
        here = {"/data": f"{folder.name}/data", "http://0.0.0.0:2379": self.address}
        words = ["=".join(here.get(part, part) for part in word.split("=")) for word in words[1:]]
        self.log = pathlib.Path(folder.name, "log")
        with self.log.open("wb") as out:
            self.etcd = subprocess.Popen([program, *words, "--listen-peer-urls=http://127.0.0.1:0"], stdout=out, stderr=out)
        self.addCleanup(self.etcd.wait)
        self.addCleanup(self.etcd.kill)
        key, value = (base64.b64encode(text).decode() for text in (b"round", b"1"))
        self.call("kv/put", {"key": key, "value": value})
        self.assertEqual(self.call("kv/range", {"key": key})["kvs"][0]["value"], value)

    def call(self, what, body):
        """The answer of the API that the agents use."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                with urllib.request.urlopen(f"{self.address}/v3/{what}", json.dumps(body).encode(), timeout=PATIENCE_SECONDS) as answer:
                    return json.load(answer)
            except (urllib.error.URLError, ConnectionError) as error:
                self.assertIsNone(self.etcd.poll(), self.log.read_text())
                self.assertLess(time.monotonic(), deadline, error)
                time.sleep(0.05)


if __name__ == "__main__":
    unittest.main()
