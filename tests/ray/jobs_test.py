#!/usr/bin/env python3
"""Our client of Ray's jobs API against a real Ray head on loopback, with token authentication; our packages against Ray's own."""

import json
import os
import pathlib
import random
import shutil
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import zipfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parent / "apiserver" / "clients")]

import environment  # noqa: E402
import trees  # noqa: E402

PATIENCE_SECONDS = 300
TOKEN = "a-token-for-tests-of-32-characters"
TREES = int(os.environ.get("TREES", "60"))
KILLS = int(os.environ.get("KILLS", "3"))
KILL_WITHIN_SECONDS = 0.4
SLOW_LINES = "for i in 1 2 3 4 5 6 7 8 9 10; do echo line $i; sleep 0.3; done"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Head:
    """`ray start --head` of the environment whose programs these are, with ports and a directory of its own; without a token everybody is let in."""

    def __init__(self, programs, token=""):
        self.directory = tempfile.mkdtemp(prefix="ray-")
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.log = open(os.path.join(self.directory, "head.log"), "w+")
        self.process = subprocess.Popen(
            [os.path.join(programs, "ray"), "start", "--head", "--block", "--disable-usage-stats", "--node-ip-address=127.0.0.1", "--port=0",
             f"--ray-client-server-port={free_port()}", "--dashboard-host=127.0.0.1", f"--dashboard-port={port}", f"--dashboard-agent-listen-port={free_port()}",
             "--num-cpus=2", "--object-store-memory=100000000", f"--temp-dir={self.directory}/t"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT,
            env={**os.environ, "RAY_AUTH_MODE": "token" if token else "disabled", "RAY_AUTH_TOKEN": token, "PATH": f"{programs}:{os.environ['PATH']}"})

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=60)
        self.log.close()
        shutil.rmtree(self.directory, ignore_errors=True)


class CuttingProxy(socketserver.ThreadingTCPServer):
    """Passes connections on and cuts each one that carries a tail after some bytes from the server."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, target_port, after_bytes):
        super().__init__(("127.0.0.1", 0), None)
        self.target_port, self.after_bytes, self.cuts = target_port, after_bytes, 0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def finish_request(self, client, _address):
        upstream = socket.create_connection(("127.0.0.1", self.target_port))
        tails = threading.Event()

        def to_server():
            while piece := client.recv(65536):
                if b"/logs/tail" in piece:
                    tails.set()
                upstream.sendall(piece)
            upstream.close()

        threading.Thread(target=lambda: self.quietly(to_server), daemon=True).start()
        self.quietly(lambda: self.to_client(client, upstream, tails))
        client.close()

    @staticmethod
    def quietly(work):
        try:
            work()
        except OSError:
            pass

    def to_client(self, client, upstream, tails):
        passed = 0
        while piece := upstream.recv(100):
            client.sendall(piece)
            passed += len(piece)
            if tails.is_set() and passed > self.after_bytes:
                self.cuts += 1
                client.shutdown(socket.SHUT_RDWR)
                return

    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


def run(*words, url=None, token=TOKEN, cwd=None):
    return subprocess.run([PROGRAM, url or HEAD.url, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=cwd,
                          timeout=PATIENCE_SECONDS, env={**os.environ, "RAY_AUTH_TOKEN": token})


class Jobs(unittest.TestCase):
    def ours(self, *words, **more):
        done = run(*words, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def error(self, *words, **more):
        done = run(*words, **more)
        self.assertEqual(done.returncode, 1, done.stdout)
        return done.stderr.strip()

    def wait_for(self, job, *statuses):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            _, status, code = self.ours("info", job).splitlines()[0].split()
            if status in statuses:
                return status, code
            self.assertLess(time.monotonic(), deadline, status)
            time.sleep(0.2)

    def test_a_job_with_code_runs_and_its_log_is_followed(self):
        with tempfile.TemporaryDirectory() as root:
            code = pathlib.Path(root, "app")
            module = pathlib.Path(root, "helper")
            code.mkdir()
            module.mkdir()
            (module / "__init__.py").write_text("NUMBER = 42\n")
            (code / "data").mkdir()
            (code / "data" / "x.txt").write_text("content")
            (code / "left_out.bin").write_text("no")
            (code / ".rayignore").write_text("*.bin\n")
            (code / "main.py").write_text(
                "import helper, os, ray\nray.init()\n@ray.remote\ndef f(x):\n    return x * helper.NUMBER\n"
                "print('answer', sum(ray.get([f.remote(i) for i in range(3)])), open('data/x.txt').read(), os.path.exists('left_out.bin'), flush=True)\n")
            env = json.dumps({"working_dir": "app", "py_modules": ["helper"], "env_vars": {"X": "1"}})
            self.ours("submit", "with code", "python main.py", env, cwd=root)
        tail = run("tail", "with code")
        self.assertEqual(tail.returncode, 0, tail.stderr)
        self.assertIn("answer 126 content False", tail.stdout)
        self.assertEqual(tail.stderr.split()[-2:], ["SUCCEEDED", "0"])
        self.assertEqual(tail.stdout, self.ours("logs", "with code"))
        self.assertIn("with code SUCCEEDED 0", self.ours("list"))

    def test_a_failed_job_has_its_exit_code(self):
        self.ours("submit", "failing", "echo before; exit 3")
        tail = run("tail", "failing")
        self.assertIn("before\n", tail.stdout)
        self.assertEqual(tail.stderr.split()[-3:], ["failing", "FAILED", "3"])

    def test_a_name_is_used_once(self):
        self.ours("submit", "twice", "echo one")
        self.assertRegex(self.error("submit", "twice", "echo two"), "^already_exists: submit job twice: ")

    def submit_killed(self, words, seconds):
        """kill -9 after this time, then the same command. Whether the first had been accepted."""
        with subprocess.Popen([PROGRAM, HEAD.url, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              env={**os.environ, "RAY_AUTH_TOKEN": TOKEN}) as client:
            time.sleep(seconds)
            client.kill()
        again = run(*words)
        if again.returncode != 0:
            self.assertRegex(again.stderr, f"^already_exists: submit job {words[1]}: ")
        return again.returncode != 0

    def test_a_killed_client_submits_once(self):
        seed = int(os.environ.get("SEED", random.randrange(1 << 32)))
        moments = random.Random(seed)
        print(f"SEED={seed} KILLS={KILLS}", flush=True)
        jobs = [f"killed-{number}" for number in range(KILLS)]
        accepted = 0
        with tempfile.TemporaryDirectory() as root:
            for job in jobs:
                # Its own code, so that every submission uploads some.
                code = pathlib.Path(root, "code", job)
                code.mkdir(parents=True)
                (code / "name").write_text(job)
                words = ("submit", job, f"cat name >> {root}/{job}", json.dumps({"working_dir": str(code)}))
                accepted += self.submit_killed(words, moments.uniform(0, KILL_WITHIN_SECONDS))
            print(f"{accepted} of {KILLS} jobs had been accepted when their client was killed", flush=True)
            for job in jobs:
                self.assertEqual(self.wait_for(job, "SUCCEEDED", "FAILED"), ("SUCCEEDED", "0"), f"{job}, SEED={seed}")
                self.assertEqual(pathlib.Path(root, job).read_text(), job, f"SEED={seed}")
        listed = [line.split()[0] for line in self.ours("list").splitlines()]
        self.assertEqual({job: listed.count(job) for job in jobs}, dict.fromkeys(jobs, 1), f"SEED={seed}")

    def test_a_job_is_stopped_and_deleted(self):
        self.ours("submit", "long", "sleep 1000")
        self.wait_for("long", "RUNNING")
        self.assertRegex(self.error("delete", "long"), "^failed_precondition: ")
        self.assertEqual(self.ours("stop", "long"), "stopped\n")
        self.assertEqual(self.wait_for("long", "STOPPED", "SUCCEEDED", "FAILED")[0], "STOPPED")
        self.assertEqual(self.ours("stop", "long"), "not running\n")
        self.ours("delete", "long")
        for verb in ("info", "stop", "delete", "logs", "tail"):
            self.assertRegex(self.error(verb, "long"), "^not_found: ", verb)

    def test_a_tail_that_is_cut_shows_every_line_once(self):
        self.ours("submit", "cut", SLOW_LINES)
        with CuttingProxy(int(HEAD.url.rsplit(":", 1)[1]), after_bytes=250) as proxy:
            shown = self.ours("tail", "cut", url=proxy.url())
            proxy.shutdown()
        self.assertGreater(proxy.cuts, 0)
        self.assertEqual([line for line in shown.splitlines() if line.startswith("line ")], [f"line {i}" for i in range(1, 11)])
        self.assertEqual(shown, self.ours("logs", "cut"))

    def test_a_long_log_is_whole(self):
        self.ours("submit", "wordy", "seq 1 20000")
        shown = self.ours("tail", "wordy")
        numbers = [line for line in shown.splitlines() if line.isdigit()]
        self.assertEqual(len(numbers), 20000, shown[-2000:])
        self.assertEqual(numbers, [str(i) for i in range(1, 20001)])
        self.assertEqual(shown, self.ours("logs", "wordy"))

    def test_the_token_is_needed_and_checked(self):
        self.assertRegex(self.error("list", token=""), "^unauthenticated: list jobs: Unauthorized")
        self.assertRegex(self.error("list", token="wrong" * 8), "^permission_denied: list jobs: Forbidden")
        self.assertRegex(self.error("tail", "x", token=""), "^unauthenticated: ")

    def test_the_version_is_rays(self):
        self.assertEqual(self.ours("version").split()[0], ray.__version__)


class Packages(unittest.TestCase):
    def test_random_trees_have_the_names_that_ray_gives(self):
        seed = int(os.environ.get("SEED", random.randrange(1 << 32)))
        with tempfile.TemporaryDirectory() as root:
            directories = []
            for number in range(TREES):
                directories.append(os.path.join(root, str(number)))
                os.mkdir(directories[-1])
                trees.fill(random.Random(seed + number), directories[-1])
            done = run("packages", *directories)
            self.assertEqual(done.returncode, 0, done.stderr)
            for number, (directory, ours) in enumerate(zip(directories, done.stdout.split(), strict=True)):
                self.assertEqual(ours, packaging.get_uri_for_directory(directory, include_gitignore=True), f"SEED={seed + number}")

    def test_zips_hold_what_rays_hold(self):
        for include_parent in (False, True):
            with tempfile.TemporaryDirectory() as root:
                directory = os.path.join(root, "tree")
                os.mkdir(directory)
                trees.fill(random.Random(7), directory)
                ours, theirs = os.path.join(root, "ours.zip"), pathlib.Path(root, "theirs.zip")
                env = {"py_modules": [directory]} if include_parent else {"working_dir": directory}
                excludes = [] if include_parent else [".git", ".venv", "venv", "__pycache__"]
                done = run("zip", ours, json.dumps(env))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stdout.strip(), packaging.get_uri_for_directory(directory, include_gitignore=True, excludes=excludes))
                packaging.create_package(directory, theirs, include_gitignore=True, include_parent_dir=include_parent, excludes=excludes)
                with zipfile.ZipFile(ours) as our_zip, zipfile.ZipFile(theirs) as their_zip:
                    self.assertIsNone(our_zip.testzip())
                    content = {info.filename: (our_zip.read(info), info.external_attr >> 16) for info in our_zip.infolist()}
                    self.assertEqual(content, {info.filename: (their_zip.read(info), info.external_attr >> 16) for info in their_zip.infolist()})

    def test_a_large_tree_is_rejected_before_anything_is_sent(self):
        with tempfile.TemporaryDirectory() as root, socket.create_server(("127.0.0.1", 0)) as listener:
            pathlib.Path(root, "model").mkdir()
            for name, size in (("model/weights.bin", 90), ("model/more.bin", 30), ("main.py", 0)):
                with open(os.path.join(root, name), "wb") as file:
                    file.truncate(size << 20)
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            done = run("submit", "large", "true", json.dumps({"working_dir": root}), url=url)
            self.assertEqual(done.returncode, 1)
            self.assertIn("120.0 MiB of files, Ray accepts packages of up to 100.0 MiB; largest files: model/weights.bin (90.0 MiB), model/more.bin (30.0 MiB)", done.stderr)
            self.assertIn("add to .rayignore: /model/weights.bin", done.stderr)
            listener.setblocking(False)
            self.assertRaises(BlockingIOError, listener.accept)


if __name__ == "__main__":
    INTERPRETER = str(environment.python(HERE.parent / "up" / "ray" / "requirements.txt"))
    if sys.executable != INTERPRETER:
        os.execv(INTERPRETER, [INTERPRETER, "-B", __file__, *sys.argv[1:]])
    import ray
    from ray._private.runtime_env import packaging

    packaging.default_logger.setLevel("ERROR")
    PROGRAM = sys.argv.pop(1)
    HEAD = Head(os.path.dirname(sys.executable), TOKEN)
    try:
        # It takes up to half a minute; our own client waits for it, a minute at a time.
        for _ in range(5):
            if run("version").returncode == 0:
                break
        ENDED = unittest.main(exit=False).result
    finally:
        HEAD.stop()
    sys.exit(not ENDED.wasSuccessful())
