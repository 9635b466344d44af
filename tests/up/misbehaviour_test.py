#!/usr/bin/env python3
"""Pods that misbehave on `codeflare up`: each ends with the status that a kubelet gives, and a neighbour does not notice."""

import os
import re
import resource
import select
import signal
import socket
import sys
import threading
import time
import unittest

sys.dont_write_bytecode = True

import traces  # noqa: E402
import up_test  # noqa: E402
from pod_case import PodCase, container, phase_is, terminated, waiting, with_container, with_volume  # noqa: E402
from up_test import PODS, pod  # noqa: E402
from upkeep_test import GREEDY  # noqa: E402

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
LOG_FILES, LOG_FILE_BYTES, LINE_BYTES = 5, 10 << 20, 1 << 16
FOREVER = "exec sleep 100000"
STORAGE = "Pod ephemeral local storage usage exceeds the total limit of containers 1Mi. "

# So many processes at once, and how many seconds their end may take on a machine that is busy with them.
PROCESSES, SOON = 300, 30
# Each takes a token, and forks one that has a megabyte; when there are none, half of them give theirs back and end.
FORKS = """
import os, signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no zombies
first = os.getpid()
tokens, back = os.pipe()
os.set_blocking(tokens, False)
os.write(back, b"." * int(sys.argv[1]))
told = False
while True:
    try:
        os.read(tokens, 1)
        if os.fork() == 0:
            mine = bytearray(1 << 20)
    except BlockingIOError:
        if os.getpid() == first:
            told = told or print("full", flush=True) is None
        elif os.getpid() % 2 == 1:
            os.write(back, b".")
            os._exit(0)
"""


class Misbehaviour(PodCase):
    def setUp(self):
        super().setUp()
        self.mark = "CODEFLARE_TEST_MARK=" + str(self.scratch)
        self.start()
        self.cluster.post(PODS, pod("neighbour", "while :; do echo tick; sleep 0.2; done"))
        self.neighbour = container(self.running("neighbour"))["containerID"]

    def tearDown(self):
        """It is the same one, and goes on."""
        ticks = len(self.log("neighbour"))
        self.cluster.wait_until(lambda: len(self.log("neighbour")) > ticks)
        found = container(self.running("neighbour"))
        self.assertEqual((found["containerID"], found["restartCount"], found["ready"]), (self.neighbour, 0, True))

    def log(self, name, query=""):
        return self.cluster.open(f"{PODS}/{name}/log{query}")

    def add(self, name, script, limits=None, **spec):
        mark, _, value = self.mark.partition("=")
        body = with_container(pod(name, script, **{"restartPolicy": "Never", **spec}), env=[{"name": mark, "value": value}])
        if limits is not None:
            with_container(body, resources={"limits": limits})
        return body

    def post(self, *words, **more):
        self.cluster.post(PODS, self.add(*words, **more))

    def assert_ended(self, name, phase, codes, reason):
        found = self.ended(name)
        self.assertEqual(found["status"]["phase"], phase)
        # The pod's status may be final a moment before its last process ends.
        last = terminated(self.cluster.wait_for(f"{PODS}/{name}", terminated))
        self.assertIn(last["exitCode"], codes)
        self.assertEqual(last["reason"], reason)
        self.assert_vanishes(lambda: traces.marked(self.mark))
        return found["status"]

    def test_daemons_end_with_their_container(self):
        # In sessions of their own, one without a living parent, and with the container's output in their hands.
        self.post("daemons", "setsid sh -c 'trap \"\" HUP TERM; touch /tmp/one; sleep 100000' & "
                             "(setsid sh -c 'touch /tmp/two; sleep 100000' &) ; "
                             "until [ -e /tmp/one -a -e /tmp/two ]; do sleep 0.1; done; exit 0")
        self.assert_ended("daemons", "Succeeded", [0], "Completed")

    def test_who_ignores_the_end_is_killed(self):
        ignores = "trap '' TERM; while :; do sleep 1; done"
        self.post("late", ignores, activeDeadlineSeconds=10)
        self.post("deleted", ignores)
        self.running("deleted")
        self.delete(PODS + "/deleted")
        self.assertEqual(self.assert_ended("late", "Failed", [137], "Error")["reason"], "DeadlineExceeded")
        self.cluster.wait_for(PODS, lambda found: "deleted" not in [one["metadata"]["name"] for one in found["items"]])

    def test_a_log_without_end_is_cut(self):
        self.post("talks", "head -c 80000000 /dev/zero | tr '\\0' x | fold -w 999; echo; echo last")
        self.cluster.wait_for(PODS + "/talks", phase_is("Succeeded"), 300)
        self.assert_ended("talks", "Succeeded", [0], "Completed")
        self.assertEqual(self.log("talks", "?tailLines=1"), "last\n")
        uid = self.cluster.get(PODS + "/talks")["metadata"]["uid"]
        files = [path for path in (self.scratch / "data/node/pods" / uid / "logs").rglob("*") if path.is_file()]
        self.assertLessEqual(len(files), LOG_FILES)
        for path in files:
            self.assertLess(path.stat().st_size, LOG_FILE_BYTES + LINE_BYTES)

    def test_who_fills_the_disk_is_evicted(self):
        limits = {"ephemeral-storage": "1Mi"}
        self.post("talks", f"yes | head -c 5000000; {FOREVER}", limits)
        self.cluster.post(PODS, with_volume(self.add("writes", f"head -c 5000000 /dev/zero > /data/x; {FOREVER}", limits), {"emptyDir": {}}))
        for name in ("talks", "writes"):
            with self.subTest(name):
                # It is asked to end first, and need not wait for more.
                status = self.assert_ended(name, "Failed", [128 + signal.SIGTERM, 128 + signal.SIGKILL], "Error")
                self.assertEqual((status["reason"], status["message"]), ("Evicted", STORAGE))

    def test_who_eats_its_memory_is_killed_again_and_again(self):
        self.post("once", GREEDY, {"memory": "64Mi"})
        self.assert_ended("once", "Failed", [137], "OOMKilled")
        self.post("often", GREEDY, {"memory": "64Mi"}, restartPolicy="Always")
        found = self.cluster.wait_for(PODS + "/often", lambda found: waiting(found).get("reason") == "CrashLoopBackOff", 120)
        self.assertEqual(found["status"]["phase"], "Running")
        self.assertGreaterEqual(container(found)["restartCount"], 1)
        last = container(found)["lastState"]["terminated"]
        self.assertEqual((last["exitCode"], last["reason"]), (137, "OOMKilled"))

    def test_what_the_run_before_a_crash_wrote_can_be_read(self):
        script = "n=$(cat /data/n 2> /dev/null || echo 0); echo run $n; echo $((n + 1)) > /data/n; test $n -gt 0 || exit 1; " + FOREVER
        self.cluster.post(PODS, with_volume(self.add("counts", script, restartPolicy="Always"), {"emptyDir": {}}))
        self.cluster.wait_for(PODS + "/counts", lambda found: found["status"].get("containerStatuses") and container(found)["restartCount"] == 1
                              and "running" in container(found)["state"])
        self.cluster.wait_until(lambda: "run" in self.log("counts"))
        self.assertEqual(self.log("counts"), "run 1\n")
        self.assertEqual(self.log("counts", "?previous=true"), "run 0\n")
        self.delete(PODS + "/counts", gracePeriodSeconds=0)

    def test_the_end_by_a_signal_is_told(self):
        ends = {"SEGV": 139, "KILL": 137, "TERM": 143, "ABRT": 134}
        for name in ends:
            self.post(name.lower(), f"kill -{name} $$$$; {FOREVER}")  # two of them stand for one
        for name, code in ends.items():
            with self.subTest(name):
                self.assert_ended(name.lower(), "Failed", [code], "Error")

    def test_what_cannot_start_says_why(self):
        self.cluster.post(PODS, with_container(self.add("absent", ""), command=["no-such-program"]))
        self.assert_ended("absent", "Failed", [128], "StartError")
        self.assertIn("no-such-program", terminated(self.cluster.get(PODS + "/absent"))["message"])
        wants = {"name": "WORD", "valueFrom": {"configMapKeyRef": {"name": "later", "key": "word"}}}
        self.cluster.post(PODS, with_container(self.add("waits", "echo $WORD"), env=[wants]))
        found = self.cluster.wait_for(PODS + "/waits", lambda found: waiting(found).get("reason") == "CreateContainerConfigError")
        self.assertEqual((found["status"]["phase"], waiting(found)["message"]), ("Pending", 'configmap "later" not found'))
        self.cluster.post(CONFIG_MAPS, {"metadata": {"name": "later"}, "data": {"word": "here"}})
        self.assert_ended("waits", "Succeeded", [0], "Completed")
        self.assertEqual(self.log("waits"), "here\n")
        for name, user in (("root", {"runAsUser": 0}), ("silent", {})):
            self.post(name, "id", securityContext={"runAsNonRoot": True, **user})
        found = self.cluster.wait_for(PODS + "/root", lambda found: waiting(found).get("reason") == "CreateContainerConfigError")
        uid = found["metadata"]["uid"]
        self.assertEqual(waiting(found)["message"], f'container\'s runAsUser breaks non-root policy (pod: "root_default({uid})", container: c)')
        found = self.cluster.wait_for(PODS + "/silent", lambda found: waiting(found).get("reason") == "CreateContainerConfigError")
        self.assertIn("container has runAsNonRoot and image will run as root", waiting(found)["message"])
        self.post("other", "id -u", securityContext={"runAsNonRoot": True, "runAsUser": 1000})
        self.assert_ended("other", "Succeeded", [0], "Completed")
        self.assertEqual(self.log("other"), "1000\n")


class Forks(PodCase):
    """A program that does nothing but start processes ends as soon as any other."""

    def setUp(self):
        super().setUp()
        self.mark = "CODEFLARE_TEST_MARK=" + str(self.scratch)

    def begin(self, name, memory, **spec):
        mark, _, value = self.mark.partition("=")
        self.cluster.post(PODS, with_container(
            pod(name, "", restartPolicy="Never", **spec), command=["python3", "-c", FORKS, str(PROCESSES)],
            env=[{"name": mark, "value": value}], resources={"limits": {"memory": memory}}))
        return time.monotonic()

    def wait_until_full(self, name):
        self.cluster.wait_until(lambda: "full" in self.logs()[name])

    def end_within(self, seconds, began, test):
        self.cluster.wait_for(PODS, test)
        self.assert_vanishes(lambda: traces.marked(self.mark))
        self.assertLess(time.monotonic() - began, seconds)

    def see_ends(self):
        # Their apparent sum is more: it has to be counted exactly, again and again.
        began = self.begin("late", "4Gi", activeDeadlineSeconds=15)
        self.wait_until_full("late")
        self.end_within(15 + SOON, began, lambda found: phase_is("Failed")(found["items"][0]))
        found = self.cluster.get(PODS + "/late")
        self.assertEqual((found["status"]["reason"], terminated(found)["exitCode"]), ("DeadlineExceeded", 137))
        self.delete(PODS + "/late")
        self.begin("deleted", "4Gi")
        self.wait_until_full("deleted")
        began = time.monotonic()
        self.delete(PODS + "/deleted")
        self.end_within(SOON, began, lambda found: not found["items"])

    def test_it_ends(self):
        self.start()
        self.see_ends()

    @unittest.skipUnless(os.geteuid() == 0, "we are an ordinary user already")
    def test_it_ends_as_an_ordinary_user(self):
        self.start_as_nobody()
        self.see_ends()

    @unittest.skipUnless(os.geteuid() == 0, "we are an ordinary user already")
    def test_it_ends_when_nobody_but_its_keeper_counts_its_memory(self):
        self.start_as_nobody()
        began = self.begin("greedy", "64Mi")
        self.end_within(SOON, began, lambda found: phase_is("Failed")(found["items"][0]))
        self.assertEqual(terminated(self.cluster.get(PODS + "/greedy"))["reason"], "OOMKilled")


class Strangers(PodCase):
    """Connect more often than the program may open files, say nothing, and come again when they are sent away."""

    FILES, COUNT = 256, 300

    def setUp(self):
        super().setUp()
        self.start(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (self.FILES, self.FILES)))
        port = int(re.search(r"https://127\.0\.0\.1:(\d+)", "".join(self.cluster.lines))[1])
        self.going = True
        self.open = [self.connect(port) for _ in range(self.COUNT)]
        self.thread = threading.Thread(target=self.come_again, args=(port,))
        self.thread.start()
        self.addCleanup(self.go_away)

    @staticmethod
    def connect(port):
        return socket.create_connection(("127.0.0.1", port), timeout=60)

    def come_again(self, port):
        while self.going:
            ended, _, _ = select.select(self.open, [], [], 0.1)
            for one in ended:
                self.open.remove(one)
                one.close()
                self.open.append(self.connect(port))

    def go_away(self):
        self.going = False
        self.thread.join()
        for one in self.open:
            one.close()

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.cluster.process.pid}/fd"))

    def test_descriptors_are_left_for_pods(self):
        # They are sent away many at once, so there are times with few of them.
        most = 0
        deadline = time.monotonic() + 60
        while most <= self.FILES // 2 and time.monotonic() < deadline:
            most = max(most, self.descriptors())
            time.sleep(0.01)
        self.assertGreater(most, self.FILES // 2, "they have taken what they may")

        def is_over(found):
            nonlocal most
            most = max(most, self.descriptors())
            return phase_is("Succeeded")(found)

        self.cluster.post(PODS, pod("quick", "true", restartPolicy="Never"))
        self.cluster.wait_for(PODS + "/quick", is_over)
        self.assertLess(most, self.FILES * 3 // 4)


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    unittest.main()
