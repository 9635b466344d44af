#!/usr/bin/env python3
"""Jobs by the command line, on a dashboard that runs them as processes: every verb, its words and exit codes."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.request

sys.dont_write_bytecode = True

import ray_dashboard


class Jobs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.dashboard = ray_dashboard.Dashboard()
        self.addCleanup(self.dashboard.close)
        left_out = ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "http_proxy", "HTTP_PROXY")
        self.environment = {key: value for key, value in os.environ.items() if key not in left_out} | {"HOME": folder.name}

    def start(self, *words):
        # The address may come before the command, which ends the options.
        at = words.index("--") if "--" in words else len(words)
        command = [PROGRAM, *words[:at], "--address", self.dashboard.address, *words[at:]]
        return subprocess.Popen(command, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def codeflare(self, *words, code=0):
        """Standard output and standard error."""
        run = self.start(*words)
        out, err = run.communicate(timeout=100)
        self.assertEqual(run.returncode, code, f"codeflare {words}: {out}{err}")
        return out, err

    def test_from_submission_to_deletion(self):
        (self.folder / "work").mkdir()
        (self.folder / "work" / "main.sh").write_text('echo "hello $WHO, $1"\n')
        out, err = self.codeflare("submit", "job", "train", "--working-dir", "work", "--env", "WHO=you", "-f", "--", "sh", "main.sh", "a  b")
        self.assertEqual(out, f"job/train submitted to the Ray dashboard at {self.dashboard.address}\nhello you, a  b\n")
        self.assertEqual(err, "job/train Succeeded\n")
        self.assertEqual(len(self.dashboard.packages), 1)
        self.assertIn("Status:      Succeeded", self.codeflare("status", "job", "train")[0])
        self.assertEqual(self.codeflare("logs", "jobs", "train")[0], "hello you, a  b\n")
        self.assertEqual(json.loads(self.codeflare("list", "job", "-o", "json")[0])[0]["status"], "Succeeded")
        self.assertEqual([each["name"] for each in json.loads(self.codeflare("get", "job", "-o", "json")[0])], ["train"])
        self.assertRegex(self.codeflare("get", "jobs")[0], r"(?m)^(- |  )name: train$")
        self.assertIn("already exists", self.codeflare("submit", "job", "train", "--", "true", code=5)[1])
        self.assertEqual(self.codeflare("wait", "job", "train")[0], "job/train Succeeded\n")
        self.assertEqual(self.codeflare("delete", "job", "train")[0], "job/train deleted\n")
        self.assertIn("job 'train' not found", self.codeflare("status", "job", "train", code=3)[1])

    def test_failure_is_exit_code_1(self):
        out, err = self.codeflare("job", "submit", "--name", "bad", "-f", "--", "echo last words; exit 3", code=1)
        self.assertIn("last words\n", out)
        self.assertEqual(err, "job/bad Failed: JOB_ENTRYPOINT_COMMAND_ERROR: command failed\n")
        self.assertIn("Exit code:   3\n", self.codeflare("status", "job", "bad")[0])
        self.codeflare("wait", "job", "bad", code=1)
        self.codeflare("create", "job", "worse", "--wait", "--", "false", code=1)

    def test_ctrl_c_detaches_and_cancel_stops(self):
        run = self.start("submit", "job", "long", "-f", "--", "echo begun; exec sleep 1000")
        self.assertIn("submitted", run.stdout.readline())
        self.assertEqual(run.stdout.readline(), "begun\n")  # it follows now
        run.send_signal(signal.SIGINT)
        _, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130)
        self.assertEqual(err, f"detached; the job continues. To attach again: codeflare logs job long -f --address {self.dashboard.address}\n")
        self.codeflare("wait", "job", "long", "--timeout", "1", code=6)
        self.assertEqual(self.codeflare("wait", "job", "long", "--for", "running")[0], "job/long Running\n")
        self.assertEqual(self.codeflare("cancel", "job", "long")[0], "job/long Stopped\n")
        self.assertIn("Stopped", self.codeflare("list", "jobs")[0])
        self.codeflare("submit", "job", "longest", "--", "exec sleep 1000")
        self.assertIn("job 'longest' is on the Ray dashboard at ", self.codeflare("hold", "job", "longest", code=1)[1])
        self.assertIn("job/longest stopping; its record stays.", self.codeflare("delete", "job", "longest", "--wait=false")[0])
        self.codeflare("wait", "job", "longest", "--for", "deleted", "--timeout", "1", code=6)
        self.codeflare("delete", "job", "longest")
        self.assertEqual(self.codeflare("wait", "job", "longest", "--for", "deleted")[0], "job/longest deleted\n")
        self.codeflare("submit", "job", "longer", "--", "exec sleep 1000")
        self.assertEqual(self.codeflare("delete", "job", "longer")[0], "job/longer deleted\n")

    def test_through_the_api_server(self):
        config = self.folder / "config"
        config.write_text("apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts:\n- name: c\n  context: {cluster: c, user: u}\n"
                          f"clusters:\n- name: c\n  cluster: {{server: '{self.dashboard.address}'}}\nusers:\n- name: u\n  user: {{token: abc}}\n")

        def codeflare(*words):
            run = subprocess.run([PROGRAM, *words], cwd=self.folder, env=self.environment | {"KUBECONFIG": str(config)},
                                 stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100)
            self.assertEqual(run.returncode, 0, f"codeflare {words}: {run.stdout}{run.stderr}")
            return run.stdout

        out = codeflare("submit", "job", "a", "--working-dir", ".", "-f", "--", "ls config; sleep 0.3; echo done")
        self.assertEqual(out, "job/a submitted to Ray cluster 'demo' in namespace 'default'\nconfig\ndone\n")
        self.assertRegex(codeflare("list", "job"), r"\na +default +ray +demo +Succeeded ")
        self.assertIn("Ray cluster: default/demo", codeflare("status", "job", "a", "-c", "demo"))
        self.assertEqual(codeflare("delete", "job", "a", "-c", "demo"), "job/a deleted\n")

    def test_the_dashboard_on_loopback(self):
        config = self.folder / "config"
        config.write_text("apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts:\n- name: c\n  context: {cluster: c, user: u}\n"
                          f"clusters:\n- name: c\n  cluster: {{server: '{self.dashboard.address}'}}\nusers:\n- name: u\n  user: {{token: abc}}\n")
        run = subprocess.Popen([PROGRAM, "dashboard", "demo"], cwd=self.folder, env=self.environment | {"KUBECONFIG": str(config)},
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        url = run.stdout.readline().strip()
        self.assertTrue(url.startswith("http://127.0.0.1:"), url or run.communicate()[1])
        with urllib.request.urlopen(url + "/api/jobs/") as answer:
            self.assertEqual(json.load(answer), [])
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=60)
        self.assertEqual(run.returncode, 0)

    def test_what_is_wrong_is_named(self):
        for words, code, text in (
            (["submit", "job"], 2, "NAME is missing"),
            (["submit", "job", "a"], 2, "COMMAND is missing"),
            (["submit", "job", "a/b", "--", "true"], 2, "job name 'a/b'"),
            (["submit", "job", "a", "--working-dir", "missing", "--", "true"], 2, "missing"),
            (["submit", "job", "a", "--runtime-env-json", "{", "--", "true"], 2, "runtime_env"),
            (["submit", "job", "a", "--env", "novalue", "--", "true"], 2, "novalue is not KEY=VALUE"),
            (["submit", "job", "a", "--entrypoint-num-cpus", "-1", "--", "true"], 2, "--entrypoint-num-cpus"),
            (["status", "job", "nobody"], 3, "job 'nobody' not found"),
            (["logs", "job", "nobody"], 3, "job 'nobody' not found"),
            (["logs", "job", "nobody", "-f"], 3, "job 'nobody' not found"),
            (["cancel", "job", "nobody"], 3, "job 'nobody' not found"),
            (["wait", "job", "nobody"], 3, "job 'nobody' not found"),
            (["delete", "job", "nobody"], 3, "job 'nobody' not found"),
            (["cancel", "job"], 2, "NAME is missing"),
        ):
            with self.subTest(words=words):
                self.assertIn(text, self.codeflare(*words, code=code)[1])
        self.assertEqual(self.dashboard.jobs, {})
        run = subprocess.run([PROGRAM, "list", "job", "--address", "http://127.0.0.1:1", "--timeout", "1"], cwd=self.folder, env=self.environment,
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100)
        self.assertEqual(run.returncode, 1)
        self.assertIn("cannot reach the Ray dashboard at http://127.0.0.1:1", run.stderr)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
