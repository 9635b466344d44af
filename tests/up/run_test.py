#!/usr/bin/env python3
"""`codeflare run` and the verbs for its jobs as people type them, on `codeflare up` with real processes."""

import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest
import zipfile

sys.dont_write_bytecode = True

PATIENCE_SECONDS = 100
SCRIPT = """import os, sys
print("rank", os.environ.get("RANK", "-"), "of", os.environ.get("WORLD_SIZE", "-"), "at", os.environ.get("MASTER_ADDR", "-"), flush=True)
print("words", sys.argv[1:], "in", os.getcwd(), "with", open("data/note.txt").read().strip(), flush=True)
sys.exit(int(os.environ.get("CODE", "0")))
"""


class Screen:
    """A pseudo-terminal with a program on it."""

    def __init__(self, words, cwd, environment):
        self.outside, inside = pty.openpty()
        self.resize(33, 101)
        self.before = termios.tcgetattr(inside)
        self.inside = os.dup(inside)  # so that its mode can be read after the program has ended
        self.seen = b""
        self.process = subprocess.Popen(words, cwd=cwd, env=environment, stdin=inside, stdout=inside, stderr=inside, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(inside)

    def resize(self, rows, columns):
        fcntl.ioctl(self.outside, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text):
        os.write(self.outside, text)

    def until(self, pattern):
        """The output since the last call until it matches."""
        end = time.monotonic() + PATIENCE_SECONDS
        while not (found := re.search(pattern, self.seen)):
            if not select.select([self.outside], [], [], 1)[0]:
                if time.monotonic() > end:
                    raise AssertionError(f"{pattern!r} was not shown: {self.seen!r}")
                continue
            self.seen += os.read(self.outside, 4096)
        shown, self.seen = self.seen[:found.end()], self.seen[found.end():]
        return shown

    def wait(self):
        code = self.process.wait(timeout=PATIENCE_SECONDS)
        restored = termios.tcgetattr(self.inside) == self.before
        return code, restored

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.inside)
        os.close(self.outside)


class Run(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.home = pathlib.Path(cls.scratch.name)
        left_out = ("KUBECONFIG", "XDG_STATE_HOME", "KUBERNETES_SERVICE_HOST", "CODEFLARE_IMAGE")
        cls.environment = {**{k: v for k, v in os.environ.items() if k not in left_out}, "HOME": cls.scratch.name}
        cls.work = cls.home / "work"
        (cls.work / "data").mkdir(parents=True)
        (cls.work / "main.py").write_text(SCRIPT)
        (cls.work / "data/note.txt").write_text("a note\n")
        (cls.work / "left_out.log").write_text("x" * 100)
        (cls.work / ".gitignore").write_text("*.log\n")
        cls.type("up", "--detach", "--listen", "127.0.0.1:0", "--cpus", "4", "--memory", "4Gi")

    @classmethod
    def tearDownClass(cls):
        cls.type("down", code=None)
        cls.scratch.cleanup()

    @classmethod
    def type(cls, *words, code=0, cwd=None):
        run = subprocess.run([PROGRAM, *words], cwd=cwd or cls.work, env=cls.environment, stdin=subprocess.DEVNULL, capture_output=True,
                             text=True, timeout=PATIENCE_SECONDS)
        if code is not None and run.returncode != code:
            raise AssertionError(f"codeflare {words}: exit {run.returncode}, expected {code}\n{run.stdout}{run.stderr}")
        return run

    def status(self, name):
        return json.loads(self.type("status", "job", name, "-o", "json").stdout)

    def wait_for(self, name, *states):
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            info = self.status(name)
            if info["status"] in states:
                return info
            self.assertLess(time.monotonic(), end, info)

    def test_a_script_runs_with_its_directory_and_its_exit_code_comes_back(self):
        run = self.type("run", "--name", "first", "--env", "CODE=7", "--", "/usr/bin/python3", "main.py", "a b", "$(HOME)", "$$", code=7)
        self.assertEqual(run.stdout, "rank - of - at -\nwords ['a b', '$(HOME)', '$$'] in /workspace with a note\n")
        self.assertIn("(3 files, ", run.stderr)
        self.assertIn("job/first Failed: ExitCode: exit code 7: words ['a b', ", run.stderr)
        info = self.status("first")
        self.assertEqual((info["status"], info["exitCode"], info["backend"]), ("Failed", 7, "kubernetes"))
        self.assertEqual(self.type("logs", "job", "first").stdout, run.stdout)
        self.assertEqual(self.type("logs", "job", "first", "--tail", "1").stdout, run.stdout.splitlines(True)[-1])
        self.assertIn("first", self.type("list", "job").stdout)
        self.assertIn("already exists", self.type("run", "--name", "first", "--", "true", code=5).stderr)
        self.type("wait", "job", "first", code=1)
        self.type("delete", "job", "first")
        self.type("status", "job", "first", code=3)
        secrets = subprocess.run([PROGRAM, "list", "job"], env=self.environment, capture_output=True, text=True).stdout
        self.assertNotIn("first", secrets)

    @unittest.skipUnless(os.environ.get("CODEFLARE_PIP") == "1", "takes most of a minute: ./dev test --all")
    def test_packages_of_a_file_are_installed_once_and_kept(self):
        wheel = self.home / "tiny-1.0-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("tiny.py", "WORD = 'packed'\n")
            archive.writestr("tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
            archive.writestr("tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            archive.writestr("tiny-1.0.dist-info/RECORD", "tiny.py,,\n")
        (self.home / "requirements.txt").write_text(f"tiny @ file://{wheel}\n")
        words = ("--dir", "", "--pip", str(self.home / "requirements.txt"), "--", "python3", "-c", "import tiny; print(tiny.WORD)")
        first = self.type("run", "--name", "packed", *words)
        self.assertEqual(first.stdout, "packed\n")
        self.assertIn("installing the packages of ", first.stderr)
        again = self.type("run", "--name", "packed-again", *words)
        self.assertEqual(again.stdout, "packed\n")
        self.assertNotIn("installing", again.stderr)
        other = self.type("run", "--name", "elsewhere", "--dry-run=client", "-o", "yaml", *words).stdout
        self.assertIn("python3 -m pip install", other)
        (self.home / "wrong.txt").write_text("/no/such/package.whl\n")
        wrong = self.type("run", "--name", "wrong", "--dir", "", "--pip", str(self.home / "wrong.txt"), "--", "true", code=None)
        self.assertNotEqual(wrong.returncode, 0)
        self.assertIn("pip install -r ", wrong.stderr)

    def test_pods_of_a_gang_know_their_ranks(self):
        run = self.type("run", "--name", "gang", "--pods", "2", "--cpus", "500m", "--memory", "256Mi", "--", "python3", "main.py")
        lines = sorted(run.stdout.splitlines())
        self.assertEqual([line for line in lines if "rank" in line],
                         [f"[{rank}] rank {rank} of 2 at gang-0.gang" for rank in range(2)])
        self.assertEqual(len(self.type("logs", "job", "gang", "--replica", "1").stdout.splitlines()), 2)
        self.assertIn("no replica 2", self.type("logs", "job", "gang", "--replica", "2", code=2).stderr)

    def test_detached_work_is_followed_waited_for_and_cancelled(self):
        out = self.type("run", "--detach", "--name", "long", "--dir", "", "--", "sh", "-c", "echo begun; sleep 600").stdout
        self.assertIn("job/long submitted\nNext: codeflare logs job long -f", out)
        self.wait_for("long", "Running")
        self.assertIn("job/long Stopped\n", self.type("cancel", "job", "long").stdout)
        self.assertEqual(self.status("long")["status"], "Stopped")
        self.assertIn("has already ended", self.type("cancel", "job", "long").stdout)
        self.type("delete", "job", "long")

    def test_work_that_does_not_fit_says_why_and_starts_when_it_does(self):
        self.type("run", "--detach", "--name", "holder", "--cpus", "4", "--dir", "", "--", "sleep", "600")
        self.wait_for("holder", "Running")
        with subprocess.Popen([PROGRAM, "run", "--name", "waiter", "--cpus", "3", "--dir", "", "--", "echo", "at last"], cwd=self.work,
                              env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as client:
            for line in client.stderr:
                if "job/waiter: Queued: " in line:
                    break
            self.type("delete", "job", "holder")
            out, _ = client.communicate(timeout=PATIENCE_SECONDS)
            self.assertRegex(line, r"^\d{4}-\S+Z job/waiter: Queued: \w+: needs 3 CPUs, .*\(\d+\w*\)\n$")
            self.assertEqual((client.returncode, out), (0, "at last\n"))

    def test_ctrl_c_detaches_and_a_second_one_cancels(self):
        for signals, state in ((1, "Running"), (2, "Stopped")):
            name = f"interrupted-{signals}"
            with subprocess.Popen([PROGRAM, "run", "--name", name, "--dir", "", "--", "sh", "-c", "echo begun; sleep 600"], cwd=self.work,
                                  env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as client:
                self.assertEqual(client.stdout.readline(), "begun\n")
                client.send_signal(signal.SIGINT)
                for line in client.stderr:
                    if "detached" in line:
                        break
                self.assertIn(f"To come back: codeflare logs job {name} -f", line)
                if signals == 2:
                    client.send_signal(signal.SIGINT)
                client.communicate(timeout=PATIENCE_SECONDS)
                self.assertEqual(client.returncode, 130)
            self.wait_for(name, state)
            self.type("delete", "job", name)

    def test_a_client_killed_between_secrets_is_continued_by_the_same_command(self):
        large = self.home / "large"
        large.mkdir()
        (large / "noise").write_bytes(os.urandom(4 << 20))
        words = ["run", "--name", "resumed", "--", "sha256sum", "noise"]
        expected = subprocess.run(["sha256sum", "noise"], cwd=large, capture_output=True, text=True).stdout
        kills = 0
        for pause in (0.15, 0.2, 0.25, 0.3):
            with subprocess.Popen([PROGRAM, *words], cwd=large, env=self.environment, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as client:
                time.sleep(pause)  # any moment will do
                client.kill()
                kills += 1
            found = self.type("status", "job", "resumed", "-o", "json", code=None)
            if found.returncode == 0 and json.loads(found.stdout)["reason"] != "Submitting":
                break  # it was complete already
        run = self.type(*words, code=None, cwd=large)
        if run.returncode == 5:
            self.wait_for("resumed", "Succeeded")
            self.assertEqual(self.type("logs", "job", "resumed").stdout, expected)
        else:
            self.assertEqual((run.returncode, run.stdout), (0, expected), run.stderr)
        self.type("delete", "job", "resumed")

    def test_wrong_input_is_named(self):
        for words, code, text in (
            (["run"], 2, "COMMAND is missing"),
            (["run", "--cpus", "two", "--", "true"], 2, "cpu 'two': not a quantity"),
            (["run", "--memory", "4 Gi", "--", "true"], 2, "memory '4 Gi': not a quantity"),
            (["run", "--time", "6", "--", "true"], 2, "--time: '6' is not a time"),
            (["run", "--quota", "gold", "--", "true"], 2, "--quota: 'gold' is not TREE=NODE"),
            (["run", "--env", "=1", "--", "true"], 2, "--env: '=1' is not NAME=VALUE"),
            (["run", "--pods", "0", "--", "true"], 2, "number of pods 0: must be from 1"),
            (["run", "--name", "Not_Good", "--", "true"], 2, "job 'Not_Good': name: "),
            (["run", "--dir", "nowhere", "--", "true"], 2, "nowhere"),
            (["run", "--pty", "--", "bash"], 2, "--pty: standard input and output must be a terminal"),
            (["run", "--pty", "--pods", "2", "--dry-run=client", "--", "bash"], 2, "--pty: works with one pod"),
            (["run", "--pty", "--detach", "--", "bash"], 2, "--detach"),
            (["run", "-n", "nowhere", "--", "true"], 3, "namespaces \"nowhere\" not found"),
            (["run", "--dry-run=server", "--", "true"], 2, "--dry-run"),
            (["status", "job", "no-such-job"], 3, "job 'no-such-job' not found"),
        ):
            with self.subTest(words=words):
                self.assertIn(text, self.type(*words, code=code).stderr)
        (self.home / "huge").mkdir()
        for i in range(12):
            (self.home / "huge" / f"f{i}").write_bytes(bytes(1 << 20))
        run = self.type("run", "--", "true", code=2, cwd=self.home / "huge")
        self.assertIn("12.0 MiB of files, the code of a job without a cluster may have up to 8.0 MiB; largest files: ", run.stderr)

    def test_a_program_that_is_missing_or_killed_has_its_code(self):
        run = self.type("run", "--dir", "", "--", "no-such-program", code=None)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("no-such-program", run.stderr)
        self.type("run", "--dir", "", "--", "sh", "-c", "kill -9 $$", code=137)

    def test_a_dry_run_prints_what_would_be_submitted(self):
        out = self.type("run", "--dry-run=client", "-o", "yaml", "--name", "dry", "--gpus", "2", "--time", "6h", "--quota", "tree=gold",
                        "--image", "torch:2", "--", "python", "main.py").stdout
        for line in ("kind: AppWrapper", "kind: Job", "nvidia.com/gpu: \"2\"", "limit: 21600", "tree: gold", "image: torch:2"):
            self.assertIn(line, out)

    def screen(self, *words):
        screen = Screen([PROGRAM, "run", "--dir", "", *words], self.work, self.environment)
        self.addCleanup(screen.close)
        return screen

    def test_a_shell_on_a_terminal_ends_its_allocation(self):
        screen = self.screen("--name", "shell", "--pty", "--env", "PS1=ready> ", "--", "bash", "--norc")
        screen.until(rb"ready> ")
        screen.type(b"stty size; tty\r")
        self.assertRegex(screen.until(rb"/dev/pts/\d+"), rb"33 101\r\n")
        screen.resize(44, 122)
        screen.type(b"until stty size | grep -q '44 122'; do sleep 0.05; done; echo mark$((1+1))\r")
        screen.until(rb"mark2")
        screen.type(b"sleep 600\r")
        screen.until(rb"sleep 600")
        time.sleep(0.3)  # any moment of the sleep will do
        screen.type(b"\x03")
        screen.type(b"echo code $?\r")
        screen.until(rb"code 130")
        self.assertEqual(self.status("shell")["status"], "Running")
        screen.type(b"exit 7\r")
        self.assertEqual(screen.wait(), (7, True))
        info = self.status("shell")
        self.assertEqual((info["status"], info["exitCode"]), ("Failed", 7))
        self.type("delete", "job", "shell")

    def test_a_terminal_that_goes_away_ends_the_allocation_queued_or_not(self):
        screen = self.screen("--name", "closed", "--pty", "--cpus", "3", "--env", "PS1=ready> ", "--", "bash", "--norc")
        screen.until(rb"ready> ")
        waiting = self.screen("--name", "behind", "--pty", "--cpus", "3", "--", "true")
        waiting.until(rb"behind: Queued")
        waiting.type(b"\x03")
        self.assertEqual(waiting.wait()[0], 130)
        self.wait_for("behind", "Stopped")
        screen.process.send_signal(signal.SIGHUP)
        self.assertEqual(screen.wait()[0], 130)
        self.wait_for("closed", "Stopped")
        screen = self.screen("--name", "after", "--pty", "--cpus", "3", "--", "echo", "at last")
        screen.until(rb"at last\r\n")
        self.assertEqual(screen.wait(), (0, True))
        for name in ("closed", "behind", "after"):
            self.type("delete", "job", name)

    def test_an_image_that_nothing_is_mapped_to_is_named_with_the_fix(self):
        self.type("run", "--detach", "--name", "unmapped", "--image", "example.com/torch:9", "--dir", "", "--", "true")
        end = time.monotonic() + PATIENCE_SECONDS
        while "image add" not in (info := self.status("unmapped"))["message"]:
            self.assertLess(time.monotonic(), end, info)
        self.assertIn("codeflare image add 'example.com/torch:9'", info["message"])
        self.assertEqual(info["status"], "Pending")
        self.type("delete", "job", "unmapped")
        # These stand for this machine's programs.
        self.type("run", "--image", "python:3.12", "--dir", "", "--", "true")

    def test_time_is_limited(self):
        run = self.type("run", "--time", "1s", "--dir", "", "--", "sleep", "600", code=None)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("Failed", run.stderr)


class NoCluster(unittest.TestCase):
    def test_without_a_cluster_it_says_how_to_start_one(self):
        with tempfile.TemporaryDirectory() as home:
            left_out = ("KUBECONFIG", "XDG_STATE_HOME", "KUBERNETES_SERVICE_HOST")
            environment = {**{k: v for k, v in os.environ.items() if k not in left_out}, "HOME": home}
            run = subprocess.run([PROGRAM, "run", "--", "true"], cwd=home, env=environment, capture_output=True, text=True, timeout=60)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("codeflare up --detach", run.stderr)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
