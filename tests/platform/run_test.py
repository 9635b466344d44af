#!/usr/bin/env python3
"""run_test.py PROGRAM: Runs on `codeflare up`, with real processes."""

import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import kubeconfig  # noqa: E402

PROGRAM = sys.argv.pop(1)
HERE = pathlib.Path(__file__).parent
NASTY = ["it's", '"q"', "$(date)", "$$(HOME)", "$HOME", "`id`", "a;b", "a && b", "a|b", "> /tmp/x", "*", "~", "!", "#c", "a\\b", "line\nbreak", "tab\there",
         "", " ", "-", "--x=", "é", "${X}", "$((1+1))", "%s", "\\n", "'\"'", "$", "$$", "$(", "a=b", "[x]", "{a,b}", "<y>", "\\", "&", "(", ")",
         "'", "''", '"', '""', "a'b\"c", "\\'", '\\"', "'; exit 1; '", '"; exit 1; "', "$'x'", '$"x"', "$(exit 1)", "$(HOSTNAME)", "$(KUBERNETES_SERVICE_HOST)", "$$$(A)",
         "${HOME:-x}", "${#}", "$@", "$*", "$#", "$?", "$0", "$1", "$!", "$_", "`", "``", "a`b", "\\$HOME", "\\`id\\`", "\n", "a\n", "\na", "\r", "a\rb", "\t", "  two  blanks  ",
         "--", "---", "--help", "-c", "--flag", "--flag=a b", "=", "=x", ",", "a,b", ";", ";;", "||", "&&", "!!", "!x", "<<EOF", ">&2", "2>/dev/null", "?", "[a-z]", "**/*",
         "~root", "..", "/", "/etc/*", "%", "%%", "%n", "\x01", "\x7f", "\u00a0", "\u2028", "日本語", "🙂", "e\u0301", "null", "true", "0", "007", "1e9", "{}", "[]",
         "{{ .Values }}", "{% x %}", "<a href='x'>", "a" * 5000]


class Runs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp()
        cls.env = {**os.environ, "KUBECONFIG": cls.directory + "/config"}
        cls.call("up", "--detach", "--listen", "127.0.0.1:0", "--data-dir", cls.directory + "/data", "--cpus", "4", "--memory", "8Gi")

    @classmethod
    def tearDownClass(cls):
        cls.call("down", "--data-dir", cls.directory + "/data")
        shutil.rmtree(cls.directory, ignore_errors=True)

    @classmethod
    def call(cls, *words, text=None, code=0):
        done = subprocess.run([PROGRAM, *words], input=text, capture_output=True, text=True, env=cls.env, check=False, timeout=120)
        if done.returncode != code:
            raise AssertionError(f"{words}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def create(self, kind, name, **spec):
        body = {"apiVersion": "codeflare.dev/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec}
        self.call("create", "-f", "-", text=json.dumps(body))

    def status(self, name):
        return json.loads(self.call("status", "run", name, "-o", "json"))["status"]

    def test_a_run_completes_and_nasty_words_arrive_as_given(self):
        self.create("Application", "words", api="shell", image="debian", command="python3 main.py",
                    code=[{"name": "main.py", "source": "import json, os, sys\nprint(json.dumps([os.getcwd(), *sys.argv[1:]]))\n"}],
                    parameters=[{"name": "words", "type": "list", "position": 0}])
        self.create("Run", "words", application={"name": "words"}, size="xxs", parameters={"words": NASTY})
        self.assertEqual(self.call("wait", "run", "words"), "run/words Completed\n")
        self.assertEqual(json.loads(self.call("logs", "run", "words")), ["/workdir", *NASTY])
        self.assertEqual(self.status("words")["phase"], "Completed")

    def test_nasty_words_of_free_options_arrive_as_given(self):
        self.assertGreaterEqual(len(set(NASTY)), 100)
        self.create("Application", "options", api="shell", image="debian", command="python3 main.py",
                    code=[{"name": "main.py", "source": "import json, sys\nprint(json.dumps(sys.argv[1:]))\n"}])
        self.create("Run", "options", application={"name": "options"}, size="xxs", options=shlex.join(NASTY))
        self.assertEqual(self.call("wait", "run", "options"), "run/options Completed\n")
        self.assertEqual(json.loads(self.call("logs", "run", "options")), NASTY)

    def test_progress_moves_and_goes_on_after_kill(self):
        script = "for n in 1 2 3 4 5 6 7 8; do printf 'Epoch 1: %s0%%\\n' $n; sleep 2; done; echo 'Epoch 2: 100%' #"
        self.create("Application", "progress", api="shell", image="debian", command=script)
        self.create("Run", "progress", application={"name": "progress"}, size="xxs")
        seen = {self.wait_for_progress("progress", set())}
        with open(self.directory + "/data/up.json", encoding="utf-8") as file:
            os.kill(json.load(file)["pid"], 9)
        self.call("up", "--detach", "--listen", "127.0.0.1:0", "--data-dir", self.directory + "/data", "--cpus", "4", "--memory", "8Gi")
        seen.add(self.wait_for_progress("progress", seen))
        self.call("wait", "run", "progress")
        status = self.status("progress")
        self.assertEqual((status["epoch"], status["progress"]), ("2", "100%"), seen)

    def wait_for_progress(self, name, known):
        deadline = time.monotonic() + 60
        while (found := self.status(name).get("progress")) is None or found in known:
            self.assertLess(time.monotonic(), deadline, self.status(name))
            time.sleep(0.2)
        return found

    def test_a_failing_run_says_why(self):
        self.create("Application", "fails", api="shell", image="debian", command="echo no luck >&2; exit 3 #")
        self.create("Run", "fails", application={"name": "fails"}, size="xxs")
        self.call("wait", "run", "fails", code=1)
        self.assertIn("container main exited with code 3: no luck", self.status("fails")["message"])

    def test_data_sets_are_mounted_and_given_as_variables(self):
        self.create("DataSet", "words-1", inline={"a.txt": "apple"})
        self.create("Application", "reads", api="shell", image="debian", command='cat /mnt/datasets/words-1/a.txt /data/a.txt; echo "$WORDS_1_A_TXT" #',
                    inputs=[{"name": "words-1"}, {"name": "words-1", "mountPath": "/data"}, {"name": "words-1", "useas": "env"}])
        self.create("Run", "reads", application={"name": "reads"}, size="xxs")
        self.call("wait", "run", "reads")
        self.assertEqual(self.call("logs", "run", "reads"), "appleappleapple\n")

    def test_a_run_waits_for_its_application_is_held_released_and_cancelled(self):
        self.create("Run", "early", application={"name": "later"}, size="xxs", suspend=True)
        self.create("Application", "later", api="shell", image="debian", command="sleep 600")
        self.call("release", "run", "early")
        self.call("wait", "run", "early", "--for", "running")
        self.assertIn("sleep 600", self.call("explain", "run", "early"))
        self.call("cancel", "run", "early")
        self.call("wait", "run", "early", code=1)
        self.assertEqual(self.status("early")["reason"], "Cancelled")
        self.call("delete", "run", "early")
        self.call("status", "run", "early", code=3)

    def test_an_image_is_fetched_by_every_node(self):
        self.create("Image", "debian", image="debian")
        self.create("Image", "nowhere", image="debian", nodeSelector={"no": "node"})
        self.create("Image", "unknown", image="nowhere/tool:1")
        server, context = kubeconfig.read_admin(self.directory + "/data/admin.kubeconfig", pathlib.Path(self.directory))

        def read(path):
            with urllib.request.urlopen(server.geturl() + path, context=context, timeout=60) as answer:
                return json.load(answer)
        deadline = time.monotonic() + 60
        while (status := read("/apis/codeflare.dev/v1alpha1/namespaces/default/images/debian").get("status", {})).get("ready") != "1/1":
            self.assertLess(time.monotonic(), deadline, status)
            time.sleep(0.2)
        self.assertEqual(status["conditions"][0]["reason"], "Fetched")
        nowhere = read("/apis/codeflare.dev/v1alpha1/namespaces/default/images/nowhere")["status"]
        self.assertEqual((nowhere["ready"], nowhere["conditions"][0]["reason"]), ("0/0", "NoNodes"))
        while (unknown := read("/apis/codeflare.dev/v1alpha1/namespaces/default/images/unknown")["status"])["conditions"][0]["reason"] != "ErrImagePull":
            self.assertLess(time.monotonic(), deadline, unknown)
            time.sleep(0.2)
        self.assertEqual((unknown["ready"], unknown["conditions"][0]["status"]), ("0/1", "False"))
        self.assertIn("codeflare image add 'nowhere/tool:1'", unknown["conditions"][0]["message"])
        while left := [pod["metadata"]["name"] for pod in read("/api/v1/namespaces/default/pods")["items"] if pod["metadata"]["name"].startswith("debian-")]:
            self.assertLess(time.monotonic(), deadline, left)
            time.sleep(0.2)

    def test_submit_says_what_is_wrong_before_anything_is_created(self):
        self.create("Application", "strict", api="shell", image="debian", command="true", parameters=[{"name": "n", "type": "integer", "flag": "-n", "maximum": 3}])
        self.call("submit", "run", "-a", "strict", "-p", "n=9", code=2)
        self.call("submit", "run", "-a", "nothing", code=3)
        self.call("submit", "run", "-a", "strict", "-p", "n=2", "--size", "xxs", "--wait")
        self.assertIn("strict", self.call("list", "applications"))
        self.assertIn("xxl", self.call("list", "sizes"))


if __name__ == "__main__":
    unittest.main()
