#!/usr/bin/env python3
"""Ray clusters by the command line, on `codeflare up` with a node whose pods only pretend: every verb, its words and exit codes."""

import base64
import contextlib
import http.server
import json
import os
import pathlib
import pty
import random
import re
import resource
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request

sys.dont_write_bytecode = True
LOGIN_SECONDS_MAX = 10


def kubeconfig_of(names, current):
    """A user's own, as kubectl writes it."""
    clusters = "".join(f"- cluster:\n    server: https://{name}.example\n  name: {name}\n" for name in names)
    contexts = "".join(f"- context:\n    cluster: {name}\n    namespace: of-{name}\n    user: {name}\n  name: {name}\n" for name in names)
    users = "".join(f"- name: {name}\n  user:\n    token: of-{name}\n" for name in names)
    return f"apiVersion: v1\nclusters:\n{clusters}contexts:\n{contexts}current-context: {current}\nkind: Config\nusers:\n{users}"


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
        self.printed = []

    def codeflare(self, *words, code=0, **environment):
        """Standard output, or standard error when it has to fail."""
        run = subprocess.run([PROGRAM, *words], cwd=self.folder, env=self.environment | environment, stdin=subprocess.DEVNULL,
                             capture_output=True, text=True, timeout=100)
        self.printed += [run.stdout, run.stderr]
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
        self.assertEqual(self.codeflare("wait", "raycluster", "demo", "--for", "running"), self.codeflare("wait", "raycluster", "demo"))
        details = self.codeflare("details", "raycluster", "demo")
        self.assertIn("Jobs:        not known: ", details)  # these pods only pretend
        self.assertRegex(details, r"Events:\n  AGE +TYPE +REASON +OBJECT +MESSAGE\n(  .*\n){1,5}$")
        self.assertIn("already exists", self.codeflare("create", "raycluster", "demo", code=5))
        self.assertEqual(self.codeflare("delete", "raycluster", "demo"), "raycluster/demo deleted\n")
        self.assertIn("Ray cluster 'demo' not found in namespace 'default'", self.codeflare("status", "raycluster", "demo", code=3))

    def test_quiet_commands_write_results_and_errors_alone(self):
        self.drop("silent")
        self.codeflare("create", "raycluster", "silent", "--workers", "1", "--head-cpu", "1")
        self.assertEqual(self.codeflare_err("wait", "raycluster", "silent", "--quiet"), "")
        self.assertEqual(self.codeflare_err("update", "raycluster", "silent", "--workers", "2", "--quiet"), "")
        self.assertIn("error: ", self.codeflare("update", "raycluster", "silent", "--max-time", "1h", "--quiet", code=1))

    def test_probes_need_no_wget(self):
        self.drop("probed")
        self.codeflare("create", "raycluster", "probed", "--workers", "0", "--head-cpu", "1", "--wait", "--timeout", "60")
        pods = self.request("/api/v1/namespaces/default/pods?labelSelector=ray.io/cluster=probed")["items"]
        probe = pods[0]["spec"]["containers"][0]["readinessProbe"]["exec"]["command"]
        programs = self.folder / "bin"
        programs.mkdir()
        for program in ("bash", "grep", "python3"):
            (programs / program).symlink_to(shutil.which(program))
        environment = {"PATH": str(programs), "http_proxy": "http://127.0.0.1:1"}
        for answer, code in ((b"success", 0), (b"unhealthy", 1)):
            port = self.health_server(answer)
            command = [re.sub(r"localhost:\d+", f"localhost:{port}", word) for word in probe]
            run = subprocess.run([programs / command[0], *command[1:]], env=environment, capture_output=True, text=True, timeout=60)
            self.assertEqual(run.returncode, code, run)

    def health_server(self, answer):
        """The port of a server that gives every request the same answer."""
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(server.server_close)
        self.addCleanup(thread.join)
        self.addCleanup(server.shutdown)
        return server.server_port

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

    def test_update_changes_the_priority_or_names_the_field(self):
        self.drop("wrapped")
        self.codeflare("create", "raycluster", "wrapped", "--workers", "1", "--head-cpu", "1", "--wait", "--timeout", "60")
        self.assertEqual(self.codeflare("update", "rc", "wrapped", "--priority", "9"), "raycluster/wrapped priority 9 (was 0)\n")
        told = self.codeflare("update", "rc", "wrapped", "--workers", "2", "--priority", "-3")
        self.assertEqual(told, "raycluster/wrapped scaled: 1 to 2 workers in group workers; priority -3 (was 9)\n")
        wrapper = self.request("/apis/workload.codeflare.dev/v1beta1/namespaces/default/appwrappers/wrapped")
        self.assertEqual(wrapper["spec"]["priority"], -3)
        # Fields that differ no more ask for nothing.
        told = self.codeflare("update", "rc", "wrapped", "--priority", "4", "--head-cpu", "1")
        self.assertEqual(told, "raycluster/wrapped priority 4 (was -3)\n")
        for words, field in ((["--max-time", "1h"], "max_time"), (["--quota", "team=gold", "--priority", "8"], "priority, quota_labels")):
            refused = self.codeflare("update", "rc", "wrapped", *words, code=1)
            self.assertIn(f"{field} cannot change while the cluster exists; --recreate deletes", refused)
        wrapper = self.request("/apis/workload.codeflare.dev/v1beta1/namespaces/default/appwrappers/wrapped")
        self.assertEqual(wrapper["spec"]["priority"], 4)
        self.assertIn("priority", self.codeflare("update", "rc", "wrapped", "--priority", "99999999999", code=2))

    def typed(self, line, *answers, **environment):
        """The terminal's text when somebody types the line and answers its questions (QUESTION, ANSWER), and the exit code."""
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            os.execve("/bin/sh", ["sh", "-c", line], self.environment | environment)
        shown = b""
        left = list(answers)
        with contextlib.suppress(OSError):  # the end of a terminal
            while piece := os.read(terminal, 4096):
                shown += piece
                if left and left[0][0].encode() in shown:
                    os.write(terminal, left.pop(0)[1].encode() + b"\n")
        self.assertEqual(left, [], shown)
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

    def test_the_position_in_the_queue_is_told(self):
        self.drop("first", "second")
        told = self.codeflare("create", "raycluster", "first", "--workers", "50")
        self.assertRegex(told, r"^raycluster/first created\nQueued, position 1: InsufficientResources: .*\nNext: ")
        self.assertRegex(self.codeflare("create", "raycluster", "second", "--workers", "50"), r"\nQueued, position 2: InsufficientResources: ")
        self.assertIn("Queue:       position 1\n", self.codeflare("status", "raycluster", "first"))
        self.assertEqual(json.loads(self.codeflare("status", "raycluster", "second", "-o", "json"))["queue"], {"position": 2})

    def test_the_expected_start_is_told(self):
        self.drop("runs", "waits")
        self.codeflare("create", "raycluster", "runs", "--head-cpu", "1", "--cpus", "3", "--max-time", "60m", "--wait", "--timeout", "60")
        self.codeflare("create", "raycluster", "waits", "--head-cpu", "1", "--cpus", "3")
        self.assertRegex(self.codeflare("status", "raycluster", "waits"), r"Queue:       position 1, expected to start in (59|60)m")

    def test_the_name_may_be_an_option(self):
        self.drop("named")
        self.codeflare("create", "raycluster", "--name", "named", "--workers", "50")
        self.assertIn("InsufficientResources", self.codeflare("explain", "raycluster", "--name", "named"))
        self.codeflare("hold", "raycluster", "--name", "named")
        self.assertIn("Held", self.codeflare("status", "raycluster", "--name", "named"))
        self.codeflare("release", "raycluster", "--name", "named")
        self.assertEqual(self.codeflare("delete", "raycluster", "--name", "named"), "raycluster/named deleted\n")

    def test_a_job_is_defined_submitted_held_and_deleted(self):
        self.addCleanup(self.codeflare, "delete", "job", "train", "--ignore-not-found")
        (self.folder / "train.py").write_text("print(1)\n")
        told = self.codeflare("define", "job", "train", "--script", "train.py", "-j", "2x1", "--cpu", "100", "--", "--epochs", "3")
        self.assertEqual(told, "train.job.yaml written\nNext: codeflare submit job train -f, or with -c CLUSTER on a Ray cluster\n")
        self.assertIn("j: 2x1\ncpu: \"100\"\n", self.codeflare("define", "job", "--name", "x", "--m", "m", "-j", "2x1", "--cpu", "100", "-o", "yaml"))
        self.assertIn("job/train submitted\n", self.codeflare("submit", "job", "train"))
        self.assertIn("torchrun train.py --epochs 3", self.codeflare("status", "job", "train"))
        self.assertEqual(self.codeflare("hold", "job", "train"), "appwrapper.workload.codeflare.dev/train held\n")
        self.assertIn("Held", self.codeflare("status", "job", "train"))
        self.assertEqual(self.codeflare("job", "release", "train"), "appwrapper.workload.codeflare.dev/train released\n")
        self.assertEqual(self.codeflare("delete", "job", "train", "--wait=false"), "job/train deleted\n")
        self.assertEqual(self.codeflare("wait", "job", "train", "--for", "deleted", "--timeout", "60"), "job/train deleted\n")

    def test_a_run_is_defined_and_its_help_lists_the_parameters(self):
        (self.folder / "app.yaml").write_text(
            "apiVersion: codeflare.dev/v1alpha1\nkind: Application\nmetadata: {name: greet}\nspec:\n  api: shell\n  image: python:3.11\n"
            "  command: echo\n  parameters:\n  - {name: times, type: integer, flag: --times, default: 1, minimum: 1, maximum: 9, description: repetitions}\n"
            "  - {name: who, position: 0, required: true, enum: [you, me]}\n")
        plain = self.codeflare("submit", "run", "--help")
        self.assertEqual(self.codeflare("submit", "run", "--application", "greet", "--help"), plain)  # there is none yet
        self.codeflare("create", "-f", "app.yaml")
        self.addCleanup(self.codeflare, "delete", "-f", "app.yaml")
        shown = self.codeflare("submit", "run", "--application", "greet", "--help")
        parameters = ("Parameters of Application default/greet:\n"
                      "  -p times=INTEGER            repetitions (1 to 9; default 1)\n"
                      "  -p who=STRING               (required; one of you, me)\n\n")
        self.assertIn(parameters, shown)
        self.assertEqual(shown.replace(parameters, ""), plain)
        self.assertEqual(self.codeflare("submit", "run", "--application", "greet", "--help", KUBECONFIG=str(self.folder / "none")), plain)

        given = ("--application", "greet", "-p", "times=2", "-p", "who=me", "--size", "xxs")
        self.assertEqual(self.codeflare("define", "run", "hello", *given), "hello.run.yaml written\nNext: codeflare create -f hello.run.yaml\n")
        file = self.folder / "hello.run.yaml"
        self.assertIn("parameters:\n    times: 2\n    who: me\n", file.read_text())
        self.assertIn("kind: AppWrapper", self.codeflare("compile", "app.yaml", "hello.run.yaml"))
        self.assertIn("  size: xxs\n", self.codeflare("define", "run", "hello", *given, "-o", "yaml"))
        self.assertIn("'none' is not one of the allowed values", self.codeflare("define", "run", "hello", "-a", "greet", "-p", "who=none", code=2))
        self.assertIn("times: 2\n", self.codeflare("define", "run", "hello", *given, "-o", "yaml", KUBECONFIG=str(self.folder / "none")))
        file.write_text(file.read_text() + "# mine\n")
        self.assertIn("was edited since it was defined; use --force", self.codeflare("define", "run", "hello", *given, code=5))
        self.codeflare("define", "run", "hello", *given, "--force")
        self.assertIn("created", self.codeflare("create", "-f", "hello.run.yaml"))
        self.codeflare("delete", "run", "--name", "hello")

    def test_watching_shows_changes_until_the_end(self):
        self.drop("seen")
        words = {"list": [PROGRAM, "list", "raycluster", "--watch"], "status": [PROGRAM, "status", "raycluster", "seen", "--watch"]}
        self.codeflare("create", "raycluster", "seen", "--head-cpu", "1", "--wait", "--timeout", "60")
        with contextlib.ExitStack() as stack:
            watches = {name: stack.enter_context(subprocess.Popen(line, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                                                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)) for name, line in words.items()}
            for watch in watches.values():
                stack.callback(watch.kill)
            self.assertTrue(watches["list"].stdout.readline().startswith("NAME "))
            self.assertRegex(watches["list"].stdout.readline(), r"^seen +default +Ready +1/1 ")
            for line in watches["status"].stdout:
                if line.startswith("Age"):
                    break
            self.codeflare("update", "raycluster", "seen", "--workers", "2")
            self.assertRegex(watches["list"].stdout.readline(), r"^seen +default +\w+ +\d/2 ")
            self.assertRegex(watches["status"].stdout.readline(), r"^(Status|Reason|Message|Workers): ")
            self.codeflare("delete", "raycluster", "seen")
            _, told = watches["status"].communicate(timeout=60)
            self.assertEqual(watches["status"].returncode, 3, told)
            watches["list"].send_signal(signal.SIGINT)
            watches["list"].communicate(timeout=60)
            self.assertEqual(watches["list"].returncode, 0)

    def bind_documented_role(self, ns):
        """A kubeconfig with a token that has the Role of docs/ray-access.md in the namespace, and no other right."""
        page = (pathlib.Path(__file__).resolve().parents[2] / "docs/ray-access.md").read_text()
        (self.folder / "ray-user.yaml").write_text(re.search(r"```yaml ray-user.yaml\n(.*?)```", page, re.DOTALL).group(1))
        self.request("/api/v1/namespaces", {"metadata": {"name": ns}})
        self.codeflare("create", "-f", "ray-user.yaml", "-n", ns)
        self.request(f"/api/v1/namespaces/{ns}/serviceaccounts", {"metadata": {"name": "scientist"}})
        self.request(f"/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/rolebindings", {
            "metadata": {"name": "scientist"}, "subjects": [{"kind": "ServiceAccount", "name": "scientist", "namespace": ns}],
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "ray-user"}})
        token = self.request(f"/api/v1/namespaces/{ns}/serviceaccounts/scientist/token", {"spec": {}})["status"]["token"]
        own = self.folder / "scientist"
        self.log_in(own, "--server", self.server(), "--insecure-skip-tls-verify", "-n", ns, CODEFLARE_TOKEN=token)
        return own

    def test_the_documented_role_is_enough(self):
        self.environment["KUBECONFIG"] = str(self.bind_documented_role("science"))
        self.codeflare("define", "raycluster", "mine", "--head-cpu", "1")
        self.codeflare("create", "raycluster", "mine", "--dry-run", "server")
        self.codeflare("create", "raycluster", "mine", "--wait", "--timeout", "60")
        for words in (["status", "rc", "mine"], ["details", "rc", "mine"], ["list", "rc"], ["get", "rc", "mine"], ["wait", "rc", "mine"],
                      ["update", "rc", "mine", "--workers", "2", "--priority", "3"], ["explain", "rc", "mine"], ["list", "job"], ["queue"]):
            with self.subTest(words=words):
                self.assertNotRegex(self.codeflare(*words), "forbidden|may not")
        self.assertRegex(self.codeflare("details", "rc", "mine"), r"Events:\n  AGE ")
        # A cluster and a job that wait: the reason is the controller's own.
        self.codeflare("create", "raycluster", "huge", "--workers", "50")
        told = json.loads(self.codeflare("explain", "rc", "huge", "-o", "json"))
        self.assertEqual((told["reason"], told["missing"]), ("InsufficientResources", []))
        self.codeflare("hold", "rc", "huge")
        self.codeflare("release", "rc", "huge")
        # These pods only pretend, so they have no dashboard and no log; the requests are allowed.
        self.assertIn("has no proxy", self.codeflare("list", "job", "-c", "mine", "--timeout", "1", code=1))
        self.assertIn("has no log", self.codeflare("logs", "raycluster", "mine", code=1))
        self.codeflare("delete", "raycluster", "mine", "huge")
        (self.folder / "main.py").write_text("print(1)\n")
        self.codeflare("submit", "job", "ownjob", "--own-cluster", "--workers", "0", "--head-cpu", "1", "--working-dir", ".", "--", "python", "main.py")
        self.codeflare("submit", "job", "gang", "--script", "main.py", "--image", "python:3", "--gpu", "0", "--cpu", "1")
        for job in ("ownjob", "gang"):
            with self.subTest(job=job):
                self.assertIn(job, self.codeflare("list", "job"))
                if job == "gang":  # no program of Ray answers to the other
                    self.codeflare("wait", "job", job, "--for", "running", "--timeout", "60")
                for verb in ("status", "details", "get", "explain"):
                    self.codeflare(verb, "job", job)
                self.codeflare("cancel", "job", job)
                self.codeflare("delete", "job", job)
        # Nothing outside the namespace.
        elsewhere = "; use -n with a namespace in which you have a role (your kubeconfig names science)"
        for words, right, fix in (
            (["list", "raycluster"], 'list resource "rayclusters"', elsewhere),
            (["create", "raycluster", "foreign", "--workers", "1"], 'get resource "rayclusters"', elsewhere),
            (["status", "raycluster", "foreign"], 'get resource "rayclusters"', elsewhere),
            (["list", "job"], 'list resource "appwrappers"', elsewhere),
            (["list", "job", "-c", "foreign"], 'get resource "services/proxy"', "the rights get, create, update and delete on services/proxy are needed"),
            (["submit", "job", "a", "-c", "foreign", "--", "true"], 'create resource "services/proxy"', "the rights get, create, update and delete"),
            (["queue"], 'list resource "appwrappers"', elsewhere),
        ):
            with self.subTest(words=words):
                told = self.codeflare(*words[:2], "-n", "default", *words[2:], code=4)
                self.assertIn(f"cannot {right}", told)
                self.assertIn(fix, told)

    def test_an_exposed_dashboard_has_a_token_and_a_url(self):
        self.drop("open")
        self.assertIn("expose_host: is missing for Ray cluster 'open'", self.codeflare("create", "raycluster", "open", "--expose", code=2))
        self.assertIn("needs token authentication, which is not a feature of Ray 2.44.0; use Ray 2.52.0 or later, or set insecure_dashboard",
                      self.codeflare("define", "raycluster", "open", "--expose", "--ray-version", "2.44.0", code=2))
        self.codeflare("create", "raycluster", "open", "--expose", "--expose-host", "open.example.com", "--head-cpu", "1", "--wait", "--timeout", "60")
        self.assertIn("Dashboard:   https://open.example.com", self.codeflare("details", "raycluster", "open"))
        found = self.request("/apis/networking.k8s.io/v1/namespaces/default/ingresses/open-dashboard")
        self.assertEqual(found["spec"]["tls"], [{"hosts": ["open.example.com"]}])
        self.assertEqual(found["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"], {"name": "open-head-svc", "port": {"number": 8265}})
        self.assertIn("authOptions:\n    mode: token\n", self.codeflare("get", "raycluster", "open"))
        told = self.codeflare("update", "raycluster", "open", "--expose-host", "other.example.com", code=1)
        self.assertIn("expose_host cannot change while the cluster exists", told)
        self.codeflare("delete", "raycluster", "open")
        with self.assertRaises(urllib.error.HTTPError):
            self.request("/apis/networking.k8s.io/v1/namespaces/default/ingresses/open-dashboard")

    def request(self, path, body=None):
        """An answer of the server to its administrator."""
        text = pathlib.Path(self.kubeconfig).read_text()
        part = lambda name: base64.b64decode(re.search(rf'{name}-data: "?([^\s"]+)', text).group(1))
        context = ssl.create_default_context(cadata=part("certificate-authority").decode())
        pem = self.folder / "admin.pem"
        pem.write_bytes(part("client-certificate") + b"\n" + part("client-key"))
        context.load_cert_chain(pem)
        server = re.search(r'https://[^\s"]+', text).group()
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(server + path, data=data, headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, context=context) as answer:
            return json.load(answer)

    def test_a_login_is_offered_on_a_terminal_alone(self):
        server = re.search(r'https://[^\s"]+', pathlib.Path(self.kubeconfig).read_text()).group()
        token = self.request("/api/v1/namespaces/default/serviceaccounts/default/token", {"spec": {}})["status"]["token"]
        # None at all.
        where = {"KUBECONFIG": "", "XDG_STATE_HOME": str(self.folder)}
        line = f"{PROGRAM} list raycluster"
        self.assertIn("Log in with 'codeflare login --server URL --token-file FILE'", self.codeflare("list", "raycluster", code=4, **where))
        code, shown = self.typed(line, ("Log in now? [Y/n] ", "n"), **where)
        self.assertEqual(code, 4, shown)
        code, shown = self.typed(line + " --no-input", **where)
        self.assertEqual(code, 4, shown)
        self.assertNotIn("Log in now?", shown)
        self.codeflare("login", code=4, **where)
        code, shown = self.typed(f"{PROGRAM} login --insecure-skip-tls-verify", ("Server (such as", server), ("Token (not shown): ", token), **where)
        self.assertEqual(code, 0, shown)
        self.assertNotIn(token, shown)
        self.assertIn("system:serviceaccount:default:default", shown)
        # A token that is not accepted any more.
        own = self.folder / ".kube" / "config"
        own.write_text(own.read_text().replace(token, "expired"))
        for verb in (("list", "raycluster"), ("run", "--dir", "", "--", "true")):
            self.assertIn("Log in again with 'codeflare login", self.codeflare(*verb, code=4, **where))
        code, shown = self.typed(line, ("Log in now? [Y/n] ", "y"), ("Token (not shown): ", token), **where)
        self.assertEqual(code, 4, shown)  # known now, but without rights
        self.assertIn("cannot list resource", shown)
        self.assertNotIn(token, shown)
        self.assertIn(token, own.read_text())

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
            (["wait", "raycluster", "nobody", "--for", "fun"], 2, "--for: fun not in {ready,running,finished,deleted}"),
            (["delete", "raycluster"], 2, "NAME is missing"),
            (["hold", "raycluster"], 2, "NAME is missing"),
            (["explain", "raycluster", "--name", "nobody"], 3, "'nobody' not found"),
            (["hold", "job", "nobody"], 3, "job 'nobody' not found in namespace 'default'"),
            (["release", "job"], 2, "NAME is missing"),
            (["define", "job"], 2, "NAME is missing"),
            (["define", "job", "a"], 2, "[script, m]"),
            (["define", "run", "a"], 2, "--application is required"),
            (["wait", "raycluster", "nobody", "--timeout", "-1"], 2, "--timeout: expected seconds from 0"),
            (["craete", "raycluster", "a"], 2, "unknown command craete; did you mean create?"),
            (["create", "rayclustr", "a"], 2, "unexpected argument rayclustr; did you mean raycluster?"),
            (["define", "raycluster", "a", "--wrokers", "2"], 2, "unknown option --wrokers; did you mean --workers?"),
            (["define", "raycluster", "a" * 60], 2, "has 60 characters; use at most 53"),
            (["define", "raycluster", "a", "--workers", "-1"], 2, "num_workers: -1 is negative; give 0 or more"),
            (["define", "raycluster", "a", "--gpus", "-1"], 2, 'worker_gpus: "-1" is negative; give 0 or more GPUs'),
            (["define", "raycluster", "a", "--worker-cpu-requests", "4"], 2, "worker_cpu_requests: 4 is more than worker_cpu_limits (1); raise the limit"),
            (["define", "raycluster", "a", "--cpus", "2", "--min-cpus", "3"], 2, "worker_cpus: 2 contradicts min_cpus = 3; give worker_cpu_requests alone"),
            (["define", "raycluster", "a", "--label", "a b=c"], 2, "labels: a b is not a valid key"),
            (["define", "raycluster", "a", "--queueing", "slurm"], 2, "give appwrapper, kueue or none"),
            (["define", "raycluster", "a", "--queueing", "none", "--priority", "3"], 2, "priority: needs an AppWrapper; remove it, or remove queueing = none"),
            (["define", "raycluster", "a", "--queueing", "none", "--local-queue", "q"], 2, "local_queue: q is a queue of Kueue; set queueing = kueue"),
            (["define", "raycluster", "a", "--autoscaling"], 2, "enable_autoscaling: true needs min_workers and max_workers; give both"),
            (["define", "raycluster", "a", "--max-time", "6parsecs"], 2, "give a time such as 90m or 6h"),
            (["define", "raycluster", "a", "--worker-resource", "example.com/fpga=1"], 2, "add it to extended_resource_mapping"),
            (["define", "raycluster", "a", "--insecure-dashboard"], 2, "insecure_dashboard: has no effect without expose; set expose = true, or remove it"),
            (["define", "raycluster", "a", "--expose", "--expose-kind", "tunnel"], 2, "expose_kind: tunnel is unknown; give route, httproute or ingress"),
            (["define", "raycluster", "a", "--expose", "--expose-kind", "ingress"], 2, "expose_host: is missing; give the host name of the dashboard"),
            (["define", "raycluster", "a", "--expose", "--queueing", "none"], 2, "expose: needs an AppWrapper"),
            (["define", "raycluster", "a", "--token-auth", "--ray-version", "2.51.1"], 2, "token_authentication: is not a feature of Ray 2.51.1; use Ray 2.52.0 or later"),
            (["define", "raycluster", "a", "--from", "broken.yaml"], 2, "broken.yaml: line 2, column 1: "),
            (["define", "raycluster", "a", "--from", "typo.yaml"], 2, "numworkers: 2 is given for an unknown field; did you mean num_workers?"),
            (["define", "raycluster", "a", "--from", "."], 2, "is a directory"),
            (["create", "raycluster", "pod"], 2, "pod.yaml: holds a Pod, not an AppWrapper or RayCluster"),
            (["create", "raycluster", "a", "--workers", "1", "-n", "nowhere"], 3, 'namespaces "nowhere" not found'),
            (["create", "raycluster", "a", "--workers", "1", "--kubeconfig", "no.config"], 2, "no.config: no such file"),
            (["create", "raycluster", "a", "--workers", "1", "--context", "other"], 2, 'no context "other" given by --context, expected one of'),
            (["create", "-f", "broken.yaml"], 2, "broken.yaml: line 2, column 1: "),
            (["create", "-f", "pod.yaml"], 2, "pod.yaml: document 1: apiVersion is missing"),
            (["list", "raycluster", "-o", "xml"], 2, "--output: xml not in {json,yaml,name,wide}"),
            (["logs", "raycluster", "nobody"], 3, "'nobody' not found"),
            (["logs", "raycluster", "nobody", "-f", "--out-dir", "x"], 2, "--out-dir"),
            (["logs", "job", "nobody"], 3, "job 'nobody' not found in namespace 'default'"),
            (["submit", "job", "a", "-c", "nobody", "--", "true"], 3, "Ray cluster 'nobody' not found"),
            (["submit", "job", "a", "-c", "nobody"], 2, "COMMAND is missing: add it behind --"),
            (["submit", "job", "a", "--script", "nosuch.py"], 2, "script: 'nosuch.py' not found in "),
            (["submit", "job", "a", "--script", "pod.yaml", "-j", "2by1"], 2, 'j: "2by1" is not REPLICASxPROCESSES; give for example "2x1"'),
            (["submit", "job", "Bad_Name", "--script", "pod.yaml"], 2, "job 'Bad_Name': name: "),
        ):
            with self.subTest(words=words):
                (self.folder / "broken.yaml").write_text("a: [\n")
                (self.folder / "typo.yaml").write_text("numworkers: 2\n")
                (self.folder / "pod.yaml").write_text("kind: Pod\n")
                told = self.codeflare(*words, code=code)
                self.assertIn(text, told)
                self.assertNotIn("terminate", told)
        self.codeflare("delete", "raycluster", "nobody", "--ignore-not-found")
        self.codeflare("wait", "raycluster", "nobody", "--for", "deleted")

    def test_several_faults_are_named_at_once(self):
        told = self.codeflare("define", "raycluster", "X", "--workers", "-1", "--cpus", "a", code=2)
        self.assertEqual(told.count("error: "), 3, told)

    def test_edited_files_are_kept_and_used(self):
        self.drop("edited")
        self.codeflare("define", "raycluster", "edited", "--head-cpu", "1")
        file = self.folder / "edited.yaml"
        file.write_text(re.sub(r"(replicas|minReplicas|maxReplicas): 1\n(?! *generic)", r"\1: 2\n", file.read_text()))
        self.assertIn("was edited since it was defined; use --force", self.codeflare("define", "raycluster", "edited", code=5))
        self.codeflare("create", "raycluster", "edited", "--wait")
        self.assertIn("2/2 ready", self.codeflare("status", "raycluster", "edited"))
        self.codeflare("define", "raycluster", "edited", "--force")

    def test_a_definition_that_cannot_be_written_leaves_the_old_file(self):
        self.codeflare("define", "raycluster", "kept", "--workers", "1")
        file = self.folder / "kept.yaml"
        before = file.read_text()
        # No byte of a file can be written, as on a full disk; Python ignores the signal for it.
        run = subprocess.run([PROGRAM, "define", "raycluster", "kept", "--workers", "2"], cwd=self.folder, env=self.environment,
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, restore_signals=False,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        self.assertRegex(run.stderr, "^error: .*kept.yaml")
        self.assertEqual(file.read_text(), before)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["kept.yaml"])

    def test_a_definition_that_is_killed_leaves_a_whole_file(self):
        whole = {count: self.codeflare("define", "raycluster", "killed", "--workers", str(count), "-o", "yaml") for count in (1, 2)}
        self.codeflare("define", "raycluster", "killed", "--workers", "1")
        file = self.folder / "killed.yaml"
        moment = random.Random(1)
        for attempt in range(20):
            run = subprocess.Popen([PROGRAM, "define", "raycluster", "killed", "--workers", str(1 + attempt % 2)], cwd=self.folder,
                                   env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                run.wait(moment.uniform(0, 0.2))
            run.kill()
            run.wait()
            self.assertTrue(any(file.read_text().endswith(text) for text in whole.values()), file.read_text())

    def test_fields_from_a_file_and_options_over_it(self):
        (self.folder / "base.yaml").write_text("num_workers: 3\nmin_cpus: 2\nmax_cpus: 2\nlabels: {team: a}\n")
        told = self.codeflare("define", "raycluster", "mixed", "--from", "base.yaml", "--cpus", "1", "-o", "yaml")
        self.assertIn("replicas: 3", told)
        self.assertIn("team: a", told)
        self.assertNotIn('cpu: "2"\n                      memory: 3G', told)

    def test_the_template_of_the_package_is_what_define_writes(self):
        template = pathlib.Path(__file__).resolve().parents[2] / "python/codeflare_sdk/templates/base-template.yaml"
        self.assertEqual(self.codeflare("define", "raycluster", "base", "-o", "yaml"), template.read_text())

    def test_logs_are_printed_or_explained(self):
        self.drop("noisy")
        self.codeflare("create", "raycluster", "noisy", "--workers", "50")
        self.assertIn("no pod has started: Queued", self.codeflare_err("logs", "raycluster", "noisy"))
        self.assertIn("no pod has started", self.codeflare("logs", "raycluster", "noisy", "--out-dir", "x", code=1))

    def test_login_and_logout(self):
        own = self.folder / "config"
        own.write_text(kubeconfig_of(["work", "home", "lab", "cloud", "old"], "lab"))
        before = own.read_text()
        token = self.request("/api/v1/namespaces/default/serviceaccounts/default/token", {"spec": {}})["status"]["token"]
        self.check_failed_logins(own, token)
        self.assertEqual(own.read_text(), before)
        self.check_login(own, "system:serviceaccount:default:default", "--server", self.server(), "--certificate-authority", "ca.pem", CODEFLARE_TOKEN=token)
        self.check_secret(token, own)
        self.check_logout(own, before)
        self.check_secret(token)
        self.check_login(own, "", "--configpath", self.kubeconfig)
        self.assertEqual(self.codeflare("list", "raycluster", "-o", "name", KUBECONFIG=str(own)), "")
        self.check_logout(own, before)
        self.assertIn("was not made by 'codeflare login'", self.codeflare("logout", code=1, KUBECONFIG=str(own)))

    def check_failed_logins(self, own, token):
        """The own authority is in ca.pem then."""
        authority = re.search(r'certificate-authority-data: "?([^\s"]+)', pathlib.Path(self.kubeconfig).read_text()).group(1)
        (self.folder / "ca.pem").write_bytes(base64.b64decode(authority))
        self.make_authority("other-ca.pem")
        (self.folder / "file").touch()
        to_server = ("--server", self.server(), "--certificate-authority", "ca.pem")
        for words, given, kubeconfig, code, text in (
            (to_server, "not-the-token-of-anybody", own, 4, "Unauthorized"),
            (to_server, "", own, 2, "a login needs a token"),
            (("--server", "https://127.0.0.1:1", "--certificate-authority", "ca.pem"), token, own, 1, "127.0.0.1:1: Connection refused"),
            (("--server", self.server(), "--certificate-authority", "other-ca.pem"), token, own, 1, "is signed by an unknown authority"),
            # Not even root can write there.
            (to_server, token, self.folder / "file" / "config", 1, f"make directory {self.folder}/file"),
        ):
            with self.subTest(words=words, kubeconfig=kubeconfig.name):
                told = self.log_in(kubeconfig, *words, code=code, CODEFLARE_TOKEN=given)
                self.assertRegex(told, f"^error: .*{re.escape(text)}")
                self.check_secret(token)

    def make_authority(self, name):
        words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=other-ca", "-keyout", "other-ca.key", "-out", name]
        subprocess.run(words, cwd=self.folder, check=True, capture_output=True)

    def server(self):
        return re.search(r'https://[^\s"]+', pathlib.Path(self.kubeconfig).read_text()).group()

    def log_in(self, kubeconfig, *words, code=0, **environment):
        begun = time.monotonic()
        told = self.codeflare("login", *words, code=code, KUBECONFIG=str(kubeconfig), **environment)
        self.assertLess(time.monotonic() - begun, LOGIN_SECONDS_MAX)
        return told

    def check_login(self, own, user, *words, **environment):
        told = self.log_in(own, *words, **environment)
        self.assertIn(f"Logged in to {self.server()} as {user}", told)
        self.assertIn(f"File:      {own}", told)
        self.assertEqual(own.stat().st_mode & 0o777, 0o600)
        self.assertIn("Logged in to", self.log_in(own))

    def check_logout(self, own, before):
        self.assertIn("Current context: lab\n", self.codeflare("logout", KUBECONFIG=str(own)))
        self.assertEqual(own.read_text(), before)

    def check_secret(self, token, *holders):
        """In these files alone, which nobody else may read, and in nothing that was printed."""
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        self.assertEqual([path for path in files if token in path.read_text(errors="replace")], list(holders))
        self.assertEqual([oct(path.stat().st_mode & 0o777) for path in holders], ["0o600"] * len(holders))
        self.assertNotIn(token, "".join(self.printed))


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
