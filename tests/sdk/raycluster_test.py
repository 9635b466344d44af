#!/usr/bin/env python3
"""Ray clusters by the command line, on `codeflare up` with a node whose pods only pretend: every verb, its words and exit codes."""

import contextlib
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True


class RayClusters(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.scratch = pathlib.Path(scratch.name)
        cls.up = subprocess.Popen(
            [PROGRAM, "up", "--listen", "127.0.0.1:0", "--data-dir", str(cls.scratch / "data"), "--no-kubeconfig", "--nodes", "0",
             "--fake-nodes", "1", "--cpus", "4", "--memory", "32Gi"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        cls.addClassCleanup(cls.stop)
        lines = []
        for line in cls.up.stdout:
            lines.append(line)
            if line.startswith("  codeflare queue "):
                break
        cls.kubeconfig = "".join(lines[1:2]).removeprefix("kubeconfig ").strip()

    @classmethod
    def stop(cls):
        cls.up.terminate()
        cls.up.wait(60)
        cls.up.stdout.close()

    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=self.scratch)
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        left_out = ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "CODEFLARE_TOKEN")
        self.environment = {key: value for key, value in os.environ.items() if key not in left_out}
        self.environment |= {"HOME": folder.name, "KUBECONFIG": self.kubeconfig}

    def codeflare(self, *words, code=0, **environment):
        """Standard output, or standard error when it has to fail."""
        run = subprocess.run([PROGRAM, *words], cwd=self.folder, env=self.environment | environment, stdin=subprocess.DEVNULL,
                             capture_output=True, text=True, timeout=100)
        self.assertEqual(run.returncode, code, f"codeflare {words}: {run.stdout}{run.stderr}")
        return run.stdout if code == 0 else run.stderr

    def drop(self, *names):
        self.addCleanup(self.codeflare, "delete", "raycluster", *names, "--ignore-not-found")

    def test_from_definition_to_deletion(self):
        self.drop("demo")
        told = self.codeflare("define", "raycluster", "demo", "--workers", "2", "--head-cpu", "1")
        self.assertEqual(told, "demo.yaml written: 1 head (1 CPU, 5G), 2 workers (1 CPU, 3G each)\nNext: codeflare create raycluster demo\n")
        self.assertIn("raycluster/demo created (server dry run)", self.codeflare("create", "raycluster", "demo", "--dry-run", "server"))
        told = self.codeflare("create", "raycluster", "demo", "--wait", "--timeout", "60")
        self.assertRegex(told, r"^raycluster/demo created\nraycluster/demo Ready\nClient URI: ray://demo-head-svc.default.svc:10001\n$")
        self.assertRegex(self.codeflare("list", "rayclusters"), r"NAME +NAMESPACE +STATUS +WORKERS +CPUS +MEMORY +GPUS +AGE +REASON\n"
                                                                r"demo +default +Ready +2/2 +3 +11G +0 +\S+ +-\n")
        self.assertIn("Status:      Ready", self.codeflare("status", "raycluster", "demo"))
        self.assertIn("rayproject/ray:2.60.0", self.codeflare("details", "rc", "demo"))
        self.assertEqual(json.loads(self.codeflare("status", "raycluster", "demo", "-o", "json"))["state"]["status"], "Ready")
        self.assertEqual([each["name"] for each in json.loads(self.codeflare("list", "raycluster", "--all", "-o", "json"))], ["demo"])
        self.assertEqual(self.codeflare("list", "raycluster", "-o", "name"), "raycluster/demo\n")
        self.assertIn("kind: RayCluster", self.codeflare("get", "raycluster", "demo"))
        self.assertIn("raycluster/demo Ready", self.codeflare("wait", "raycluster", "demo"))
        self.assertIn("already exists", self.codeflare("create", "raycluster", "demo", code=5))
        self.assertEqual(self.codeflare("delete", "raycluster", "demo"), "raycluster/demo deleted\n")
        self.assertIn("Ray cluster 'demo' not found in namespace 'default'", self.codeflare("status", "raycluster", "demo", code=3))

    def test_update_scales_or_recreates(self):
        self.drop("grow")
        self.codeflare("create", "raycluster", "grow", "--workers", "1", "--head-cpu", "1", "--wait", "--timeout", "60")
        self.assertEqual(self.codeflare("update", "raycluster", "grow", "--workers", "2"), "raycluster/grow scaled: 1 to 2 workers in group workers\n")
        self.assertEqual(self.codeflare("update", "rc", "grow", "--workers", "2"), "raycluster/grow unchanged: 2 workers in group workers\n")
        refused = self.codeflare("update", "rc", "grow", "--memory", "4G", "--env", "A=1", code=1)
        self.assertIn("worker_memory_requests, worker_memory_limits, envs cannot change while the cluster exists; --recreate deletes", refused)
        self.assertIn("its groups are workers", self.codeflare("update", "rc", "grow", "--workers", "1", "--worker-group", "big", code=3))
        self.assertIn("nothing to change", self.codeflare("update", "rc", "grow", code=2))
        self.assertIn("not found", self.codeflare("update", "rc", "nosuch", "--workers", "1", code=3))
        told = self.codeflare("update", "rc", "grow", "--memory", "4G", "--recreate", "--wait", "--timeout", "60")
        self.assertIn("raycluster/grow recreated: worker_memory_requests, worker_memory_limits changed\nraycluster/grow Ready\n", told)
        self.assertEqual(json.loads(self.codeflare("status", "rc", "grow", "-o", "json"))["state"]["workersWanted"], 2)

    def typed(self, line):
        """What a terminal shows when somebody types the line, and the exit code."""
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            os.execve("/bin/sh", ["sh", "-c", line], self.environment)
        shown = b""
        with contextlib.suppress(OSError):  # the end of a terminal
            while piece := os.read(terminal, 4096):
                shown += piece
        os.close(terminal)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), shown.decode()

    def test_usage_list_of_the_design(self):
        """Every line of the CLI's design document, in a script without standard input and on a terminal."""
        self.drop("usage")
        self.codeflare("create", "raycluster", "usage", "--head-cpu", "1", "--wait", "--timeout", "60")
        lines = [
            ("create raycluster --name usage --gpu=0", 5),
            ("create job", 2),
            ("define raycluster usage --gpu=0", 0),
            ("status raycluster usage", 0),
            ("details raycluster usage", 0),
            ("status job nosuch --cluster-name=missing --namespace default", 3),
            ("list raycluster -n default", 0),
            ("list ray-cluster --all", 0),
            ("list job -c missing -n default", 3),
            (f"login --configpath={self.kubeconfig}", 0),
            ("logout", 0),
        ]
        for line, code in lines:
            with self.subTest(line):
                if line.startswith("login"):
                    self.addCleanup(self.environment.update, KUBECONFIG=self.kubeconfig)
                    self.environment["KUBECONFIG"] = str(self.folder / "config")
                self.codeflare(*line.split(), code=code)
                if line != "logout":  # nothing is left to log out of
                    ended, shown = self.typed(f"{PROGRAM} {line}" + (" --force" if line.startswith("define") else ""))
                    self.assertEqual(ended, code, shown)

    def test_without_a_file(self):
        self.drop("direct")
        self.codeflare("submit", "raycluster", "direct", "--cpus", "1", "--memory", "2", "--head-cpu", "1", "--wait")
        self.assertEqual(list(self.folder.glob("*.yaml")), [])
        self.assertIn("Requests:    2 CPUs, 7G memory, 0 GPUs", self.codeflare("details", "raycluster", "direct"))

    def test_both_word_orders(self):
        self.assertEqual(self.codeflare("raycluster", "define", "order", "-o", "name"), "order.yaml\n")
        self.assertIn("no Ray clusters found in namespace other", self.codeflare_err("ray-cluster", "list", "-n", "other"))

    def codeflare_err(self, *words):
        run = subprocess.run([PROGRAM, *words], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stderr

    def test_waiting_work_says_why(self):
        self.drop("large")
        self.codeflare("create", "raycluster", "large", "--workers", "50")
        self.assertIn("large", self.codeflare("wait", "raycluster", "large", "--timeout", "2", code=6))
        self.assertIn("InsufficientResources", self.codeflare("list", "raycluster"))
        status = self.codeflare("status", "raycluster", "large")
        self.assertIn("Status:      Queued", status)
        self.assertIn("Reason:      InsufficientResources", status)
        self.assertIn("InsufficientResources", self.codeflare("explain", "raycluster", "large"))
        self.codeflare("hold", "raycluster", "large")
        self.assertIn("Held", self.codeflare("status", "raycluster", "large"))
        self.codeflare("release", "raycluster", "large")

    def test_ctrl_c_detaches(self):
        self.drop("endless")
        self.codeflare("create", "raycluster", "endless", "--workers", "50")
        wait = subprocess.Popen([PROGRAM, "wait", "raycluster", "endless"], cwd=self.folder, env=self.environment,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = wait.stderr.readline()  # it waits now
        self.assertIn("raycluster/endless: Queued", line)
        wait.send_signal(signal.SIGINT)
        _, told = wait.communicate(timeout=60)
        self.assertEqual(wait.returncode, 130)
        self.assertIn("detached; the cluster is not affected. To wait again: codeflare wait raycluster endless -n default", told)

    def test_what_is_wrong_is_named(self):
        for words, code, text in (
            (["define", "raycluster"], 2, "name: is missing"),
            (["define", "raycluster", "Bad_Name"], 2, "name: Bad_Name is not a valid name"),
            (["define", "raycluster", "a", "--workers", "many"], 2, 'num_workers: "many" is not a whole number'),
            (["define", "raycluster", "a", "--memory", "lots"], 2, 'worker_memory: "lots" is not a quantity'),
            (["define", "raycluster", "a", "--env", "novalue"], 2, "envs: novalue is not KEY=VALUE"),
            (["define", "raycluster", "a", "--from", "missing.yaml"], 2, "missing.yaml"),
            (["define", "raycluster", "a", "--cpus", "4", "--worker-cpu-limits", "2"], 2, "contradicts"),
            (["define", "raycluster", "a", "--volumes", "{"], 2, "volumes"),
            (["define", "raycluster", "a", "--nonsense"], 2, "--nonsense"),
            (["define"], 2, "subcommand"),
            (["create", "raycluster", "nofile"], 2, "nofile.yaml not found; run 'codeflare define raycluster nofile' first"),
            (["create", "raycluster"], 2, "NAME is missing"),
            (["status", "raycluster", "nobody"], 3, "'nobody' not found"),
            (["details", "raycluster", "nobody"], 3, "'nobody' not found"),
            (["wait", "raycluster", "nobody"], 3, "'nobody' not found"),
            (["delete", "raycluster", "nobody"], 3, "'nobody' not found"),
            (["explain", "raycluster", "nobody"], 3, "'nobody' not found"),
            (["wait", "raycluster", "nobody", "--for", "fun"], 2, "--for"),
        ):
            with self.subTest(words=words):
                self.assertIn(text, self.codeflare(*words, code=code))
        self.codeflare("delete", "raycluster", "nobody", "--ignore-not-found")
        self.codeflare("wait", "raycluster", "nobody", "--for", "deleted")

    def test_several_faults_are_named_at_once(self):
        told = self.codeflare("define", "raycluster", "X", "--workers", "-1", "--cpus", "a", code=2)
        self.assertEqual(told.count("error: "), 4, told)  # the CPUs are wrong twice: as request and as limit

    def test_edited_files_are_kept_and_used(self):
        self.drop("edited")
        self.codeflare("define", "raycluster", "edited", "--head-cpu", "1")
        file = self.folder / "edited.yaml"
        file.write_text(re.sub(r"(replicas|minReplicas|maxReplicas): 1\n(?! *generic)", r"\1: 2\n", file.read_text()))
        self.assertIn("was edited since it was defined; use --force", self.codeflare("define", "raycluster", "edited", code=5))
        self.codeflare("create", "raycluster", "edited", "--wait")
        self.assertIn("2/2 ready", self.codeflare("status", "raycluster", "edited"))
        self.codeflare("define", "raycluster", "edited", "--force")

    def test_fields_from_a_file_and_options_over_it(self):
        (self.folder / "base.yaml").write_text("num_workers: 3\nmin_cpus: 2\nmax_cpus: 2\nlabels: {team: a}\n")
        told = self.codeflare("define", "raycluster", "mixed", "--from", "base.yaml", "--cpus", "1", "-o", "yaml")
        self.assertIn("replicas: 3", told)
        self.assertIn("team: a", told)
        self.assertNotIn('cpu: "2"\n                      memory: 3G', told)

    def test_login_and_logout(self):
        text = pathlib.Path(self.kubeconfig).read_text()
        server = re.search(r'https://[^\s"]+', text).group()
        own = self.folder / "config"
        own.write_text("apiVersion: v1\nkind: Config\ncurrent-context: work\ncontexts:\n- name: work\n  context: {cluster: w, user: w}\n"
                       "clusters:\n- name: w\n  cluster: {server: 'https://work.example'}\nusers:\n- name: w\n  user: {token: abc}\n")
        before = self.contexts(own)
        where = {"KUBECONFIG": str(own)}
        self.assertIn("error: ", self.codeflare("login", "--server", server, "--insecure-skip-tls-verify", code=4, CODEFLARE_TOKEN="wrong", **where))
        self.assertEqual(self.contexts(own), before)
        self.codeflare("login", "--server", server, code=2, **where)  # no token
        self.assertIn("error: ", self.codeflare("login", "--server", "https://127.0.0.1:1", code=1, CODEFLARE_TOKEN="x", **where))
        told = self.codeflare("login", "--configpath", self.kubeconfig, **where)
        self.assertIn(f"Logged in to {server} as ", told)
        self.assertIn(f"File:      {own}", told)
        self.assertEqual(own.stat().st_mode & 0o777, 0o600)
        self.assertIn("Logged in to", self.codeflare("login", **where))
        self.assertEqual(self.codeflare("list", "raycluster", "-o", "name", **where), "")
        told = self.codeflare("logout", **where)
        self.assertIn("Current context: work", told)
        self.assertEqual(self.contexts(own), before)
        self.assertIn("was not made by 'codeflare login'", self.codeflare("logout", code=1, **where))

    @staticmethod
    def contexts(file):
        return sorted(line.strip(" -") for line in file.read_text().split("\n") if "name:" in line or "current-context" in line)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
