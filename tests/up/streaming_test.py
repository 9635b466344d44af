#!/usr/bin/env python3
"""streaming_test.py CODEFLARE KUBECTL [--as-nobody | TEST...]: a Job, its logs, exec, cp, attach and port-forward of kubectl with pods of `codeflare up`; KUBECTL is
a path or a version as in tests/apiserver/kubectl. --as-nobody: what everybody does first, cluster and kubectl as an ordinary user."""

import concurrent.futures
import fcntl
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "apiserver" / "kubectl"))

import programs  # noqa: E402
import up_test  # noqa: E402
from streaming_server import SERVER  # noqa: E402
from up_test import NOBODY, PODS, Cluster  # noqa: E402

PATIENCE_SECONDS = 60


def read_until(fd, text):
    """The text of a terminal until it has shown this."""
    seen = b""
    while text not in seen:
        try:
            piece = os.read(fd, 4096)
        except OSError:
            piece = b""
        if not piece:
            raise AssertionError(f"it ended after {seen!r}")
        seen += piece
    return seen


def shout(port, text):
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS) as connection:
        connection.sendall(text)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
        return answer


class Streaming(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.scratch = pathlib.Path(cls.folder.name)
        cls.cluster = Cluster(cls.scratch)
        cls.cluster.wait_for("/api/v1/namespaces/default/serviceaccounts", lambda found: found["items"])
        cls.start("box", ["/bin/sh", "-c", "while :; do echo tick; sleep 0.2; done"])
        cls.start("server", ["python3", "-c", SERVER])

    @classmethod
    def tearDownClass(cls):
        code, err = cls.cluster.stop()
        cls.folder.cleanup()
        if code != 0:
            raise AssertionError(f"exit code {code}: {err}")

    @classmethod
    def start(cls, name, command):
        cls.cluster.post(PODS, {"metadata": {"name": name}, "spec": {"terminationGracePeriodSeconds": 1, "containers": [
            {"name": "c", "image": "any", "command": command}]}})
        cls.cluster.wait_for(f"{PODS}/{name}", lambda found: found["status"]["phase"] == "Running")

    @classmethod
    def command(cls, *words):
        return [KUBECTL, "--kubeconfig", cls.cluster.kubeconfig, *words]

    def kubectl(self, *words, data=b""):
        return subprocess.run(self.command(*words), input=data, capture_output=True, timeout=PATIENCE_SECONDS)

    def server_port(self):
        script = "cat ${CODEFLARE_POD_ROOT:-/tmp}/port"
        until = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < until:
            run = self.kubectl("exec", "server", "--", "sh", "-c", script)
            if run.stdout:
                return int(run.stdout)
        raise AssertionError(run.stderr)

    def test_exec_keeps_streams_apart_and_tells_the_exit_code(self):
        run = self.kubectl("exec", "box", "--", "sh", "-c", "echo out; echo err >&2; exit 7")
        self.assertEqual(run.stdout, b"out\n")
        self.assertTrue(run.stderr.startswith(b"err\n"), run.stderr)
        self.assertEqual(run.returncode, 7)
        self.assertEqual(self.kubectl("exec", "box", "-c", "c", "--", "true").returncode, 0)

    def test_exec_says_what_cannot_be_run(self):
        run = self.kubectl("exec", "box", "--", "no-such-program")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn(b'exec: "no-such-program": executable file not found in $PATH', run.stderr)
        run = self.kubectl("exec", "box", "-c", "other", "--", "true")
        self.assertNotEqual(run.returncode, 0)

    def test_exec_passes_input_with_its_end(self):
        data = os.urandom(3_000_000)
        run = self.kubectl("exec", "-i", "box", "--", "cat", data=data)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stdout, data)

    def test_exec_gives_a_terminal_that_follows_its_window(self):
        outside, inside = pty.openpty()
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 101, 0, 0))
        process = subprocess.Popen(self.command("exec", "-it", "box", "--", "sh"), stdin=inside, stdout=inside, stderr=inside, start_new_session=True,
                                   preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(inside)
        try:
            os.write(outside, b"tty; echo mark$((1+1))\n")
            self.assertIn(b"/dev/pts/", read_until(outside, b"mark2"))
            # The first size is sent after the shell has started.
            os.write(outside, b"until stty size | grep -q '33 101'; do sleep 0.05; done; echo mark$((1+2))\n")
            read_until(outside, b"mark3")
            fcntl.ioctl(outside, termios.TIOCSWINSZ, struct.pack("HHHH", 44, 122, 0, 0))
            os.kill(process.pid, signal.SIGWINCH)
            os.write(outside, b"until stty size | grep -q '44 122'; do sleep 0.05; done; echo mark$((2+2))\n")
            read_until(outside, b"mark4")
            os.write(outside, b"exit 5\n")
            self.assertEqual(process.wait(timeout=PATIENCE_SECONDS), 5)
        finally:
            process.kill()
            process.wait()
            os.close(outside)

    def test_cp_goes_both_ways(self):
        tree = self.scratch / "tree"
        (tree / "sub").mkdir(parents=True)
        (tree / "sub" / "big").write_bytes(os.urandom(2_000_000))
        (tree / "small").write_text("hello")
        where = self.kubectl("exec", "box", "--", "sh", "-c", "echo ${CODEFLARE_POD_ROOT:-/tmp}").stdout.decode().strip()
        there = self.kubectl("cp", str(tree), f"default/box:{where}/copied")
        self.assertEqual(there.returncode, 0, there.stderr)
        back = self.kubectl("cp", f"default/box:{where}/copied", str(self.scratch / "back"))
        self.assertEqual(back.returncode, 0, back.stderr)
        for name in ("sub/big", "small"):
            self.assertEqual((self.scratch / "back" / name).read_bytes(), (tree / name).read_bytes())

    def test_attach_shows_what_the_container_writes(self):
        process = subprocess.Popen(self.command("attach", "box"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            self.assertEqual(process.stdout.readline(), b"tick\n")
            self.assertEqual(process.stdout.readline(), b"tick\n")
        finally:
            process.kill()
            process.communicate()

    def test_run_attaches_to_what_it_started(self):
        run = self.kubectl("run", "typed", "--image", "any", "--restart", "Never", "-i", "--command", "--", "cat", data=b"hello from here\n")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn(b"hello from here\n", run.stdout)

    def test_a_job_of_three_pods_is_applied_followed_and_deleted(self):
        self.assertRegex(self.kubectl("get", "nodes").stdout.decode(), r"\ncodeflare-0 +Ready ")
        template = {"spec": {"restartPolicy": "Never", "containers": [
            {"name": "c", "image": "any", "command": ["/bin/sh", "-c", "for i in 1 2 3; do echo $i; sleep 0.5; done"]}]}}
        job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "three"}, "spec": {"completions": 3, "parallelism": 3, "template": template}}
        for answer in (b"job.batch/three created\n", b"job.batch/three unchanged\n"):
            self.assertEqual(self.kubectl("apply", "-f", "-", data=json.dumps(job).encode()).stdout, answer)
        ran = ("Running", "Succeeded")
        self.cluster.wait_for(f"{PODS}?labelSelector=job-name=three",
                              lambda found: [pod["status"]["phase"] in ran for pod in found["items"]] == [True] * 3)
        followed = self.kubectl("logs", "-f", "-l", "job-name=three")
        self.assertEqual(sorted(followed.stdout.split()), sorted([b"1", b"2", b"3"] * 3), followed.stderr)
        waited = self.kubectl("wait", "--for=condition=Complete", "job/three", f"--timeout={PATIENCE_SECONDS}s")
        self.assertEqual(waited.returncode, 0, waited.stderr)
        self.assertEqual(self.kubectl("delete", "job", "three").returncode, 0)
        self.cluster.wait_for(f"{PODS}?labelSelector=job-name=three", lambda found: not found["items"])

    def test_port_forward_carries_many_connections(self):
        port = self.server_port()
        process = subprocess.Popen(self.command("port-forward", "--address", "127.0.0.1", "pod/server", f":{port}"), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            local = int(re.match(r"Forwarding from 127\.0\.0\.1:(\d+) -> ", process.stdout.readline()).group(1))
            self.assertEqual(shout(local, b"hello"), b"HELLO")
            data = [bytes([ord("a") + i]) * 200_000 for i in range(8)]
            with concurrent.futures.ThreadPoolExecutor(len(data)) as pool:
                for sent, answer in zip(data, pool.map(lambda text: shout(local, text), data)):
                    self.assertEqual(answer, sent.upper())
            self.assertEqual(shout(local, b"again"), b"AGAIN")
        finally:
            process.kill()
            process.communicate()

    def test_port_forward_says_that_nobody_listens(self):
        process = subprocess.Popen(self.command("port-forward", "--address", "127.0.0.1", "pod/box", ":1"), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            local = int(re.match(r"Forwarding from 127\.0\.0\.1:(\d+) -> ", process.stdout.readline()).group(1))
            try:
                self.assertEqual(shout(local, b"x"), b"")
            except ConnectionResetError:
                pass
            self.assertIn("refused", process.stderr.readline())
        finally:
            process.kill()
            process.communicate()


ESSENTIAL = (
    "test_a_job_of_three_pods_is_applied_followed_and_deleted",
    "test_cp_goes_both_ways",
    "test_exec_gives_a_terminal_that_follows_its_window",
    "test_port_forward_carries_many_connections",
)


def run_as_nobody():
    with tempfile.TemporaryDirectory() as folder:
        # Nobody may look into the home that it was built in; nor at this Python, if it lies there too.
        os.chmod(folder, 0o755)
        words = [str(HERE / "streaming_test.py"), up_test.PROGRAM, shutil.copy(KUBECTL, folder), *(f"Streaming.{name}" for name in ESSENTIAL)]
        who = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        return subprocess.run(words, env={**os.environ, "HOME": folder}, **who).returncode


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    KUBECTL = programs.find_kubectl(sys.argv.pop(1))
    if sys.argv[1:] == ["--as-nobody"]:
        sys.exit(run_as_nobody())
    unittest.main()
