#!/usr/bin/env python3
"""`codeflare up --detach`, status, logs and down as people type them, one after the other, with a home and a kubeconfig of their own."""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True

from traces import marked, processes_about  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
OTHER = """apiVersion: v1
kind: Config
current-context: work
clusters: [{name: work, cluster: {server: "https://work.example"}}]
users: [{name: work, user: {token: abc}}]
contexts: [{name: work, context: {cluster: work, user: work}}]
"""

POD = """apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  terminationGracePeriodSeconds: 2
  containers:
  - name: c
    image: any
    env: [{{name: CODEFLARE_TEST_MARK, value: "{mark}"}}]
    command: ["/bin/sh", "-c", "{script}"]
"""


def has_ended(pid):
    """Also when nobody has taken note yet."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].startswith("Z")
    except FileNotFoundError:
        return True


class Experience(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.home = pathlib.Path(scratch.name)
        self.config = self.home / ".kube" / "config"
        self.config.parent.mkdir()
        self.config.write_text(OTHER)
        left_out = ("KUBECONFIG", "XDG_STATE_HOME", "KUBERNETES_SERVICE_HOST")
        self.environment = {**{k: v for k, v in os.environ.items() if k not in left_out}, "HOME": scratch.name}
        self.data = self.home / ".local/state/codeflare/up"
        self.addCleanup(self.codeflare, "down", code=None)

    def codeflare(self, *words, code=0):
        run = subprocess.run([PROGRAM, *words], cwd=self.home, env=self.environment, stdin=subprocess.DEVNULL,
                             capture_output=True, text=True, timeout=100)
        if code is not None:
            self.assertEqual(run.returncode, code, f"codeflare {words}: {run.stdout}{run.stderr}")
        return run.stdout if code == 0 else run.stderr

    def up(self, *flags):
        return self.codeflare("up", "--detach", "--listen", "127.0.0.1:0", "--cpus", "2", "--memory", "2Gi", *flags)

    def current(self):
        return re.search(r"current-context\"?: *\"?([^\s\",]*)", self.config.read_text()).group(1)

    def runs(self):
        words = [PROGRAM, "status"]
        return subprocess.run(words, cwd=self.home, env=self.environment, capture_output=True, timeout=100).returncode == 0

    def test_up_status_logs_and_down(self):
        self.assertIn("no cluster runs in " + str(self.data), self.codeflare("status", code=1))
        self.assertIn("no cluster runs in " + str(self.data), self.codeflare("down", code=1))
        said = self.up()
        self.assertRegex(said, r"^ready https://127\.0\.0\.1:\d+ in \d+ ms\n")
        self.assertIn(f"context codeflare is current in {self.config}\n", said)
        self.assertIn(f"log {self.data}/up.log\n", said)
        self.assertEqual(self.current(), "codeflare")
        self.assertIn(" runs in ", self.codeflare("up", "--detach", code=1))
        status = json.loads(self.codeflare("status", "-o", "json"))
        self.assertTrue(status["running"])
        self.assertEqual([(node["name"], node["ready"], node["cpus"]) for node in status["nodes"]], [("codeflare-0", True, "2")])
        # By the context alone.
        self.codeflare("create", "-f", str(ROOT / "examples/queue/two_jobs.yaml"))
        until = time.monotonic() + 60
        while json.loads(self.codeflare("queue", "-o", "json"))["running"] != 1:
            self.assertLess(time.monotonic(), until)
        waiting = json.loads(self.codeflare("queue", "-o", "json"))["waiting"]
        self.assertEqual([entry["name"] for entry in waiting], ["second"])
        lines = self.codeflare("logs", "appwrapper", "first", "--follow").splitlines()
        self.assertEqual(len(lines), 10, lines)
        self.assertEqual(len({line.partition("]")[0] for line in lines}), 2, lines)
        self.assertRegex(lines[-1], r"^\[first-\w+\] step 5 of 5$")
        self.assertEqual(len(self.codeflare("logs", "aw", "second", "-f").splitlines()), 6)
        self.assertEqual(len(self.codeflare("logs", "aw", "first", "--tail", "1").splitlines()), 2)
        self.assertIn("queue:      0 waiting, 0 running", self.codeflare("status"))
        self.assertIn("stopped", self.codeflare("down"))
        self.assertEqual(self.current(), "work")
        self.assertNotIn("codeflare", self.config.read_text())
        self.assertTrue(has_ended(status["pid"]))
        self.assertFalse((self.data / "up.json").exists())
        self.codeflare("status", code=1)

    def kill_up(self):
        pid = json.loads(self.codeflare("status", "-o", "json"))["pid"]
        os.kill(pid, signal.SIGKILL)
        until = time.monotonic() + 60
        while self.runs():
            self.assertLess(time.monotonic(), until)

    def test_what_a_killed_one_left_is_put_in_order(self):
        self.up("--fake-nodes", "1")
        self.kill_up()
        self.assertEqual(self.current(), "codeflare")
        self.assertIn("was killed; no pods were left", self.codeflare("down"))
        self.assertEqual(self.current(), "work")
        self.assertEqual(self.codeflare("down", code=1), self.elsewhere() + f"error: no cluster runs in {self.data}\n")

    def elsewhere(self):
        """Local verbs say so when the current context belongs to another cluster."""
        return f"warning: the current context work is not a cluster of 'codeflare up'; using {self.data}\n"

    def test_down_ends_the_pods_that_a_killed_one_left(self):
        self.up()
        scripts = {"listens": "while :; do sleep 0.1; done", "ignores": "trap '' TERM; while :; do sleep 0.1; done"}
        (self.home / "pods.yaml").write_text("---\n".join(
            POD.format(name=name, mark=self.home / name, script=script) for name, script in scripts.items()))
        self.codeflare("create", "-f", "pods.yaml")

        def running():
            return {name for name in scripts if marked(f"CODEFLARE_TEST_MARK={self.home / name}")}

        until = time.monotonic() + 60
        while running() != set(scripts):
            self.assertLess(time.monotonic(), until)
        self.kill_up()
        self.assertEqual(running(), set(scripts))
        self.assertIn("was killed; its 2 pods were stopped", self.codeflare("down"))
        self.assertEqual(running(), set())
        until = time.monotonic() + 60
        while left := processes_about(self.data):
            self.assertLess(time.monotonic(), until, left)
        self.assertEqual(self.current(), "work")

    def test_the_kubeconfig_is_left_alone_on_request(self):
        said = self.up("--no-kubeconfig")
        self.assertIn(f"  export KUBECONFIG={self.data}/admin.kubeconfig\n", said)
        self.assertEqual(self.config.read_text(), OTHER)
        self.codeflare("down")
        self.assertEqual(self.config.read_text(), OTHER)

    def test_a_kubeconfig_that_cannot_be_changed_is_told(self):
        self.config.write_text("clusters: 7\n")
        run = subprocess.run([PROGRAM, "up", "--detach", "--listen", "127.0.0.1:0", "--fake-nodes", "1"], cwd=self.home, env=self.environment,
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stderr, f"^warning: the kubeconfig is unchanged: .*{self.config}.*\n$")
        self.assertIn(f"  export KUBECONFIG={self.data}/admin.kubeconfig\n", run.stdout)

    def test_wrong_command_lines_are_told_as_such(self):
        (self.home / "file").write_text("")
        (self.home / "link").symlink_to(self.home)
        wrong = {"up --allow-host-path nope": "--allow-host-path nope: expected a plain absolute path",
                 f"up --allow-host-path {self.home}/nope": f"--allow-host-path {self.home}/nope: stat {self.home}/nope: no such file or directory",
                 f"up --allow-host-path {self.home}/file": f"--allow-host-path {self.home}/file: is not a directory",
                 f"up --detach --allow-host-path {self.home}/link": f"--allow-host-path {self.home}/link: is a link; .*",
                 "up --gpus 500m": "--gpus 500m: expected a whole number",
                 "node --join --gpus 500m": "--gpus 500m: expected a whole number",
                 "up --nodes 0": "--nodes 0: expected 1 to 100, or --fake-nodes N beside it",
                 "image add x --args it's": "--args it's: .*write a list such as .*",
                 "help nope": "unknown command nope; did you mean node\\?"}
        for words, said in wrong.items():
            with self.subTest(words):
                output = self.codeflare(*words.split(), code=2).removeprefix(self.elsewhere())
                self.assertRegex(output.splitlines()[0], f"^error: {said}$")
        self.assertEqual(self.codeflare("image", "list", "--data-dir", "/nope", code=3), "error: data directory not found: /nope\n")
        self.assertEqual(self.codeflare("image", "remove", "x", "--data-dir", "/nope", code=3), "error: data directory not found: /nope\n")
        self.assertFalse(self.data.exists())

    def test_help_is_the_same_however_it_is_asked_for(self):
        for words in ([], ["up"], ["image", "add"]):
            self.assertEqual(self.codeflare("help", *words), self.codeflare(*words, "--help"))

    def test_a_start_that_fails_says_why(self):
        (self.data / "node").mkdir(parents=True)
        (self.data / "node/images.json").write_text("{")
        said = subprocess.run([PROGRAM, "up", "--detach", "--listen", "127.0.0.1:0"], cwd=self.home, env=self.environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100)
        self.assertEqual(said.returncode, 1)
        self.assertIn("images.json", said.stderr)
        self.assertIn("codeflare up ended before it was ready", said.stderr)

    def test_a_start_that_fails_leaves_nothing_behind(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = "127.0.0.1:%d" % taken.getsockname()[1]
            said = self.codeflare("up", "--detach", "--listen", address, code=1)
            self.assertIn(f"error: listen on {address}: Address already in use (--listen 127.0.0.1:0 takes any free port)\n", said)
        until = time.monotonic() + 60
        while left := processes_about(self.data):
            self.assertLess(time.monotonic(), until, left)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
