#!/usr/bin/env python3
"""The first hour of a data scientist, of an HPC user and of an administrator on `codeflare up`, with the commands that the docs name."""

import json
import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile
import time
import types
import unittest

sys.dont_write_bytecode = True

from run_test import Screen  # noqa: E402
from up_test import Cluster  # noqa: E402

PATIENCE_SECONDS = 120
ROOT = pathlib.Path(__file__).resolve().parents[2]
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []


def wrapper(name, labels, seconds=600, cpu="1"):
    return {"apiVersion": "workload.codeflare.dev/v1beta1", "kind": "AppWrapper", "metadata": {"name": name, "labels": labels},
            "spec": {"resources": {"GenericItems": [{"generictemplate": {
                "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {"backoffLimit": 0, "template": {"spec": {
                    "restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [{
                        "name": "main", "image": "any", "command": ["sleep", str(seconds)],
                        "resources": {"requests": {"cpu": cpu, "memory": "16Mi"}}}]}}}}}]}}}


class Home:
    """A home directory with its own clusters, and commands typed there."""

    def __init__(self, as_nobody=False):
        self.scratch = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.scratch.name)
        left_out = ("KUBECONFIG", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "KUBERNETES_SERVICE_HOST", "CODEFLARE_IMAGE")
        self.environment = {**{k: v for k, v in os.environ.items() if k not in left_out}, "HOME": self.scratch.name}
        self.before = NOBODY if as_nobody else []
        if self.before:
            os.chown(self.path, 65534, 65534)

    def type(self, *words, code=0):
        run = subprocess.run([*self.before, PROGRAM, *words], cwd=self.path, env=self.environment, stdin=subprocess.DEVNULL,
                             capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        if code is not None and run.returncode != code:
            raise AssertionError(f"codeflare {words}: exit {run.returncode}, expected {code}\n{run.stdout}{run.stderr}")
        return run

    def json(self, *words):
        return json.loads(self.type(*words, "-o", "json").stdout)

    def up(self, *words):
        return self.type("up", "--detach", "--listen", "127.0.0.1:0", *words).stdout

    def send(self, path, body=None, method=None):
        """As the administrator."""
        server = types.SimpleNamespace(kubeconfig=str(self.path / ".local/state/codeflare/up/admin.kubeconfig"), scratch=self.path)
        return json.loads(Cluster.open(server, path, body, method))

    def cordon(self, node, closed=True):
        found = self.send(f"/api/v1/nodes/{node}")
        found["spec"]["unschedulable"] = closed
        self.send(f"/api/v1/nodes/{node}", found, "PUT")

    def drain(self, node):
        """Sends the requests of `kubectl drain`."""
        self.cordon(node)
        for pod in self.send(f"/api/v1/pods?fieldSelector=spec.nodeName={node},status.phase=Running")["items"]:
            name = {key: pod["metadata"][key] for key in ("name", "namespace")}
            self.send(f"/api/v1/namespaces/{name['namespace']}/pods/{name['name']}/eviction",
                      {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": name})

    def close(self):
        self.type("down", code=None)
        self.scratch.cleanup()


def until(look, test):
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        found = look()
        if test(found):
            return found
        if time.monotonic() > end:
            raise AssertionError(f"not so within {PATIENCE_SECONDS} s: {found}")
        time.sleep(0.2)


def cpus(text):
    return float(text[:-1]) / 1e9 if text.endswith("n") else float(text[:-1]) / 1e3 if text.endswith("m") else float(text)


class Top(unittest.TestCase):
    def check(self, as_nobody):
        home = Home(as_nobody)
        try:
            home.up("--cpus", "2", "--memory", "1Gi")
            home.type("run", "--detach", "--name", "busy", "--dir", "", "--", "sh", "-c", "while :; do :; done")
            home.type("wait", "job", "busy", "--for", "running")

            def work():
                return {each["name"]: each for each in home.json("top")["work"]}

            busy = until(work, lambda found: "busy" in found and cpus(found["busy"]["used"].get("cpu", "0")) > 0.2)["busy"]
            self.assertEqual((busy["kind"], busy["pods"], busy["requested"]["cpu"]), ("appwrapper", 1, "1"))
            self.assertLess(cpus(busy["used"]["cpu"]), 1.5)
            node = home.json("top")["nodes"][0]
            self.assertEqual((node["name"], node["requested"]["cpu"], node["allocatable"]["cpu"]), ("codeflare-0", "1", "2"))
            self.assertGreater(cpus(node["used"]["cpu"]), 0.1)
            self.assertRegex(node["used"]["memory"], r"^\d+[KM]i$")
            self.assertIn("busy", home.type("top").stdout)
        finally:
            home.close()

    def test_work_and_nodes_are_measured(self):
        self.check(as_nobody=False)

    @unittest.skipUnless(NOBODY, "only root can become nobody")
    def test_without_control_groups_processes_are_measured(self):
        self.check(as_nobody=True)


def run_and_fail(test, home, torch):
    """`codeflare run`, then four mistakes, each explained in one line of its own."""
    lines = ["import os", "print('gpu', os.environ['CUDA_VISIBLE_DEVICES'])"]
    if torch:
        lines += ["import torch", "w = torch.zeros(1, requires_grad=True)", "o = torch.optim.SGD([w], lr=0.1)",
                  "for _ in range(100): o.zero_grad(); ((w - 3) ** 2).sum().backward(); o.step()", "print('%.1f' % w.item())"]
    work = home.path / "work"
    work.mkdir()
    (work / "train.py").write_text("\n".join(lines) + "\n")
    (work / "wrong.py").write_text("import no_such_module\n")
    (work / "greedy.py").write_text("x = bytearray(400 << 20)\nprint(len(x))\n")
    run = home.type("run", "--gpus", "1", "--dir", "work", "--", "/usr/bin/python3", "train.py")
    test.assertEqual(run.stdout, "gpu 0\n" + ("3.0\n" if torch else ""))
    seen = set()
    for name, words, line in (
            ("wrong", ("/usr/bin/python3", "wrong.py"), r"ExitCode: .*ModuleNotFoundError: No module named 'no_such_module'"),
            ("greedy", ("/usr/bin/python3", "greedy.py"), r"OOMKilled.*limit 64Mi"),
            ("missing", ("no-such-command",), r"no-such-command")):
        more = ("--memory", "64Mi") if name == "greedy" else ()
        told = home.type("run", "--name", name, "--dir", "work", *more, "--", *words, code=None).stderr.splitlines()[-1]
        test.assertRegex(told, line)
        test.assertNotIn(told, seen)
        seen.add(told)
    home.type("create", "-f", str(ROOT / "examples/troubles/image.yaml"))
    until(lambda: home.type("explain", "image").stdout, lambda text: "image add" in text)
    home.type("delete", "image")


class Scientist(unittest.TestCase):
    """CODEFLARE_TORCH=1: training with real torch."""

    def test_a_script_runs_and_each_mistake_has_its_line(self):
        home = Home()
        try:
            home.up("--cpus", "2", "--memory", "2Gi", "--gpus", "1")
            run_and_fail(self, home, os.environ.get("CODEFLARE_TORCH") == "1")
        finally:
            home.close()


class Limits(unittest.TestCase):
    READ = ("import os\n"
            "p = '/sys/fs/cgroup/'\n"
            "v2 = os.path.exists(p + 'memory.max')\n"
            "print(open(p + ('memory.max' if v2 else 'memory/memory.limit_in_bytes')).read().strip())\n"
            "print(int(open(p + ('memory.current' if v2 else 'memory/memory.usage_in_bytes')).read()) >= 0)\n"
            "cpu = open(p + 'cpu.max').read().split() if v2 else "
            "[open(p + 'cpu/cpu.cfs_%s_us' % n).read().strip() for n in ('quota', 'period')]\n"
            "print(int(cpu[0]) / int(cpu[1]))\n"
            "try: open(p + 'x', 'w')\n"
            "except OSError: print('read-only')\n")

    def check(self, as_nobody):
        home = Home(as_nobody)
        try:
            home.up("--cpus", "2", "--memory", "1Gi")
            run = home.type("run", "--cpus", "500m", "--memory", "64Mi", "--dir", "", "--", "/usr/bin/python3", "-c", self.READ)
            self.assertEqual(run.stdout, f"{64 << 20}\nTrue\n0.5\nread-only\n")
        finally:
            home.close()

    def test_a_container_reads_its_own_limits(self):
        self.check(as_nobody=False)

    @unittest.skipUnless(NOBODY, "only root can become nobody")
    def test_soft_limits_are_read_the_same_way(self):
        self.check(as_nobody=True)


class Java(unittest.TestCase):
    def test_a_virtual_machine_sizes_itself_by_the_limit_of_its_container(self):
        home = Home()
        try:
            home.up("--cpus", "2", "--memory", "1Gi")
            run = home.type("run", "--cpus", "1", "--memory", "512Mi", "--dir", "", "--", "sh", "-c",
                            "java -XshowSettings:vm -version; java -XshowSettings:system -version")
            # A quarter of 512 MiB, less what the collector keeps for itself.
            heap = re.search(r"Max\. Heap Size \(Estimated\): ([\d.]+)M\b", run.stdout + run.stderr)
            self.assertTrue(heap, run.stdout + run.stderr)
            self.assertTrue(100 < float(heap[1]) <= 128, heap[0])
            self.assertRegex(run.stdout + run.stderr, r"Memory Limit: 512\.00M")
            self.assertRegex(run.stdout + run.stderr, r"Effective CPU Count: 1\n")
        finally:
            home.close()


class Batch(unittest.TestCase):
    def test_fifty_jobs_with_priorities_hold_cancel_by_label_a_shell_and_a_time_limit(self):
        home = Home()
        try:
            home.up("--cpus", "2", "--memory", "1Gi")
            jobs = [wrapper(f"job-{i:02}", {"batch": "odd" if i % 2 else "even"}) for i in range(50)]
            (home.path / "jobs.json").write_text("\n---\n".join(json.dumps(each) for each in jobs))
            home.type("create", "-f", "jobs.json")
            until(lambda: home.json("queue"), lambda found: found["running"] == 2 and len(found["waiting"]) == 48)
            home.type("priority", "job-49", "10")
            home.type("hold", "job-48")
            waiting = until(lambda: home.json("queue")["waiting"], lambda found: found[0]["name"] == "job-49")
            self.assertTrue(next(each for each in waiting if each["name"] == "job-48")["held"])
            home.type("cancel", "-l", "batch=even")
            left = until(lambda: home.json("queue"), lambda found: found["running"] == 2)
            self.assertFalse([each["name"] for each in left["started"] + left["waiting"] if int(each["name"][4:]) % 2 == 0])
            self.assertIn("job-49", [each["name"] for each in left["started"]])
            home.type("cancel", "-l", "batch=odd")
            shell = Screen([PROGRAM, "run", "--dir", "", "--pty", "--env", "PS1=ready> ", "--", "bash", "--norc"], home.path, home.environment)
            try:
                shell.until(rb"ready> ")
                shell.type(b"exit 7\r")
                self.assertEqual(shell.wait(), (7, True))
            finally:
                shell.close()
            limited = home.type("run", "--name", "limited", "--time", "2s", "--dir", "", "--", "sleep", "600", code=None)
            self.assertNotEqual(limited.returncode, 0)
            self.assertRegex(limited.stderr, r"job/limited \w+: .*(time limit|DeadlineExceeded|exceeded)")
        finally:
            home.close()


class Administrator(unittest.TestCase):
    def test_two_teams_share_a_cluster_and_a_node_is_drained(self):
        home = Home()
        try:
            home.up("--nodes", "2", "--cpus", "2", "--memory", "1Gi", "--preemption")
            home.type("create", "-f", str(ROOT / "examples/quota/teams.yaml"))
            for name, team in (("ann", "team-a"), ("bob", "team-b")):
                home.type("user", "add", name, "--namespace", team)
            self.assertEqual({(each["user"], each["namespace"]) for each in home.json("user", "list")}, {("ann", "team-a"), ("bob", "team-b")})

            def typed_by(name, *words):
                return home.type("--kubeconfig", str(home.path / f"{name}.kubeconfig"), *words).stdout

            def quota(node):
                rows = [re.split(" {3,}", line.rstrip()) for line in home.type("quota").stdout.splitlines()]
                return next(row[3:6] for row in rows if row[1:3] == [node, "cpu"])  # limit, used, borrowed

            def run(name, job, pods, team):
                words = ("--detach", "--dir", "", "--name", job, "--pods", str(pods), "--quota", f"team={team}")
                typed_by(name, "run", *words, "--", "sleep", "600")
                typed_by(name, "wait", "job", job, "--for", "running")

            # Ann borrows one CPU of team B.
            run("ann", "big", 3, "team-a")
            until(lambda: quota("team-a"), lambda found: found == ["2 CPUs", "3 CPUs", "1 CPU"])
            self.assertIn("big", typed_by("ann", "queue"))
            self.assertNotIn("big", typed_by("bob", "queue"))
            self.assertIn("big", home.type("top").stdout)
            # Bob gets it back; Ann's work waits and says for what.
            run("bob", "own", 2, "team-b")
            until(lambda: quota("team-b"), lambda found: found == ["2 CPUs", "2 CPUs", "-"])
            text = until(lambda: typed_by("ann", "explain", "big"), lambda text: "is waiting" in text)
            self.assertIn("quota", text)
            self.assertRegex(text, r"Stopped before: \w+ ")
            # A node that is drained: pods there end, and their work says so.
            home.type("cancel", "big", "-n", "team-a")
            home.drain("codeflare-0")
            home.drain("codeflare-1")
            evicted = re.compile(r"pod own-\S+: evicted on node (codeflare-\d): Eviction API")
            drained = evicted.search(until(lambda: typed_by("bob", "explain", "own"), evicted.search)).group(1)
            self.assertRegex(home.type("status").stdout, r"nodes: +0 of 2 ready")
            # A drained node does not fail the work: its new pod waits for another node, here the one that is used again.
            other = ({"codeflare-0", "codeflare-1"} - {drained}).pop()
            home.cordon(other, closed=False)
            until(lambda: [pod["spec"].get("nodeName") for pod in home.send("/api/v1/namespaces/team-b/pods")["items"]
                           if pod["status"]["phase"] == "Running"], lambda nodes: nodes and set(nodes) == {other})
            home.type("cancel", "own", "-n", "team-b")
            home.cordon("codeflare-0", closed=False)
            run("bob", "again", 2, "team-b")
        finally:
            home.close()


class Clusters(unittest.TestCase):
    def test_sizes_are_those_of_the_last_start_unless_options_say_otherwise(self):
        home = Home()
        try:
            self.assertNotIn("sizes:", home.up("--cpus", "2", "--memory", "1Gi", "--gpus", "1"))
            home.type("down")
            self.assertIn("sizes: as at the last start: --cpus 2 --memory 1Gi --gpus 1\n", home.up())
            home.type("down")
            self.assertIn("sizes: changed since the last start: cpus 1 (was 2); as at the last start: --memory 1Gi --gpus 1\n",
                          home.up("--cpus", "1"))
            home.type("down")
            self.assertNotIn("sizes:", home.up("--machine-sizes"))
        finally:
            home.close()

    def test_verbs_of_the_local_cluster_follow_the_current_context(self):
        home = Home()
        try:
            home.up("--cpus", "1")
            other = str(home.path / "other")
            home.up("--cpus", "1", "--data-dir", other)
            self.assertIn(other, home.type("status").stdout)
            self.assertIn(other, home.type("down").stdout)
            first = home.type("status")
            self.assertNotIn(other, first.stdout)
            self.assertEqual(first.stderr, "")
            config = home.path / ".kube/config"
            config.write_text(config.read_text().replace("current-context: codeflare", "current-context: elsewhere"))
            self.assertIn("warning: the current context elsewhere is not a cluster of 'codeflare up'; using ",
                          home.type("status").stderr)
        finally:
            home.close()

    def test_run_on_a_terminal_offers_to_start_a_cluster(self):
        home = Home()
        try:
            pid, terminal = pty.fork()
            if pid == 0:
                os.chdir(home.path)
                os.execve(PROGRAM, [PROGRAM, "run", "--dir", "", "--", "echo", "at", "last"], home.environment)
            shown = b""
            end = time.monotonic() + PATIENCE_SECONDS
            while time.monotonic() < end:
                try:
                    piece = os.read(terminal, 4096)
                except OSError:  # the terminal is gone with its program
                    break
                if b"[Y/n]" in piece:
                    os.write(terminal, b"y\n")
                shown += piece
            _, status = os.waitpid(pid, 0)
            self.assertEqual(os.waitstatus_to_exitcode(status), 0, shown)
            self.assertIn(b"at last\r\n", shown)
            without = home.type("status")
            self.assertIn("codeflare-0", without.stdout)
        finally:
            home.close()

    def test_a_unit_of_systemd_runs_the_same_command(self):
        home = Home(as_nobody=True)
        try:
            out = home.type("up", "--cpus", "2", "--install-service").stdout
            unit = home.path / ".config/systemd/user/codeflare.service"
            self.assertIn(f"unit written to {unit};", out)
            self.assertIn("systemctl --user enable --now codeflare", out)
            self.assertRegex(unit.read_text(), r'\nExecStart="/\S*" "up" "--cpus" "2"\n')
        finally:
            home.close()


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main(verbosity=2)
