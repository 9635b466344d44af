#!/usr/bin/env python3
"""Two real agents meet in a real etcd: grow, kill -9 of a worker, shrink, SIGTERM, arguments byte for byte, Finish."""

import base64
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

AGENT = os.path.abspath(sys.argv.pop(1))
WORKER = """
import json, os, sys, time
line = json.dumps({"pid": os.getpid(), "rank": os.environ["RANK"], "world": os.environ["WORLD_SIZE"],
                   "master": os.environ["MASTER_ADDR"] + ":" + os.environ["MASTER_PORT"],
                   "generation": os.environ["LATTICE_GENERATION"], "arguments": sys.argv[2:]})
with open(sys.argv[1], "a") as log:
    log.write(line + chr(10))
while not os.path.exists(sys.argv[1] + ".done"):
    time.sleep(0.05)
"""
NASTY = ["", " ", "a b", "'", '"', "\\", "$HOME", "`id`", "$(id)", "*", "-x", "--", "\n", "\t", "é", "a=b", ";", "&", "|", "#"] * 5


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class AgentTest(unittest.TestCase):
    scheme, tls = "http", None

    def certificates(self):
        """Flags of etcd."""
        return []

    def variables(self):
        """Of agents."""
        return {}

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        client, peer = free_port(), free_port()
        self.etcd = f"{self.scheme}://127.0.0.1:{client}"
        self.port = client
        peers = f"http://127.0.0.1:{peer}"
        self.start([os.environ.get("ETCD", "etcd"), "--data-dir", self.path("etcd"), "--listen-client-urls", self.etcd,
                    "--advertise-client-urls", self.etcd, "--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers,
                    "--initial-cluster", f"default={peers}", "--log-level", "error", *self.certificates()])
        self.until("etcd answers", lambda: self.get("round") or True)

    def path(self, name):
        return os.path.join(self.directory.name, name)

    def start(self, command, **options):
        process = subprocess.Popen(command, **options)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def until(self, what, look, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if found := look():
                    return found
            except OSError:
                pass
            time.sleep(0.02)
        self.fail(f"not in {seconds} s: {what}; members {self.get('member/0')} {self.get('member/1')} round {self.get('round')}")

    def call(self, path, body):
        request = urllib.request.Request(self.etcd + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=5, context=self.tls) as answer:
            return json.load(answer)

    def key(self, name):
        return base64.b64encode(f"/lattice/uid/{name}".encode()).decode()

    def get(self, name):
        found = self.call("/v3/kv/range", {"key": self.key(name)}).get("kvs")
        return json.loads(base64.b64decode(found[0]["value"])) if found else None

    def publish(self, generation, reason, *indices):
        document = {"generation": generation, "reason": reason, "members": [{"index": i, "pod": f"pod-{i}"} for i in indices]}
        self.call("/v3/kv/put", {"key": self.key("membership"), "value": base64.b64encode(json.dumps(document).encode()).decode()})

    def agent(self, index):
        environment = dict(os.environ, LATTICE_RDZV_BACKEND="etcd", LATTICE_RDZV_CLIENT_SERVICE_HOST="127.0.0.1",
                           LATTICE_RDZV_CLIENT_SERVICE_PORT=str(self.port), LATTICE_RDZV_ID="uid", LATTICE_INDEX=str(index),
                           LATTICE_POD_UID=f"pod-{index}", LATTICE_STATE_DIR=self.path(f"state-{index}"), LATTICE_GRACE_SECONDS="5",
                           **self.variables())
        return self.start([AGENT, "--", sys.executable, "-c", WORKER, self.path(f"log-{index}"), *NASTY], env=environment)

    def state(self, index, state, generation):
        def look():
            member = self.get(f"member/{index}")
            return member if member and member["state"] == state and member["generation"] == generation else None
        return self.until(f"member {index} is {state} in generation {generation}", look)

    def workers(self, index, count):
        def look():
            if not os.path.exists(self.path(f"log-{index}")):
                return None
            with open(self.path(f"log-{index}"), encoding="utf-8") as log:
                lines = log.read().splitlines()
            return [json.loads(line) for line in lines] if len(lines) >= count else None
        return self.until(f"worker {index} was started {count} times", look)

    def test_a_job_grows_loses_a_worker_shrinks_and_ends(self):
        first = self.agent(0)
        self.state(0, "registered", 0)
        self.publish(1, "Start", 0)
        self.state(0, "running", 1)
        alone = self.workers(0, 1)[0]
        self.assertEqual((alone["rank"], alone["world"]), ("0", "1"))
        self.assertEqual(alone["arguments"], NASTY)

        second = self.agent(1)
        self.state(1, "registered", 1)
        began = time.monotonic()
        self.publish(2, "Grow", 0, 1)
        self.state(0, "running", 2)
        self.state(1, "running", 2)
        print(f"grow 1 to 2, plain processes: {time.monotonic() - began:.2f} s")
        both = [self.workers(0, 2)[1], self.workers(1, 1)[0]]
        self.assertEqual([one["rank"] for one in both], ["0", "1"])
        self.assertEqual({one["world"] for one in both}, {"2"})
        self.assertEqual(len({one["master"] for one in both}), 1)

        os.kill(both[1]["pid"], signal.SIGKILL)
        failed = self.state(1, "failed", 2)
        self.assertEqual((failed["class"], failed["exitCode"]), ("infrastructure", 137))
        self.publish(3, "Replace", 0, 1)
        self.state(0, "running", 3)
        self.state(1, "running", 3)
        self.assertNotEqual(self.workers(0, 3)[2]["master"], both[0]["master"])

        self.publish(4, "Shrink", 0)
        self.state(1, "left", 4)
        self.state(0, "running", 4)
        second.send_signal(signal.SIGTERM)
        self.assertEqual(second.wait(20), 3)

        open(self.path("log-0.done"), "w").close()
        self.state(0, "done", 4)
        self.publish(5, "Finish")
        self.assertEqual(first.wait(20), 0)


class OverTls(AgentTest):
    """The same with an etcd that demands certificates of its clients."""

    scheme = "https"

    def openssl(self, *words):
        subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=self.directory.name)

    def certificates(self):
        new = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
        self.openssl("req", "-x509", *new, "-keyout", "ca.key", "-out", "ca", "-subj", "/CN=ca", "-days", "2")
        with open(self.path("use"), "w", encoding="utf-8") as use:
            use.write("subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n")
        for name in ("server", "client"):
            self.openssl("req", "-new", *new, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
            self.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
                         "-extfile", "use", "-out", name)
        self.tls = ssl.create_default_context(cafile=self.path("ca"))
        self.tls.load_cert_chain(self.path("client"), self.path("client.key"))
        return ["--client-cert-auth", "--trusted-ca-file", self.path("ca"), "--cert-file", self.path("server"), "--key-file", self.path("server.key")]

    def variables(self):
        return {"LATTICE_RDZV_CONF": f"protocol=https,cacert={self.path('ca')},cert={self.path('client')},key={self.path('client.key')}"}


if __name__ == "__main__":
    unittest.main()
