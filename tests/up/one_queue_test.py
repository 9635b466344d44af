#!/usr/bin/env python3
"""`codeflare up` and `codeflare controller` on one cluster, started in both orders: one of them leads, and a quota of 16 CPUs holds."""

import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "queue"))

from api import Api  # noqa: E402
from live_cluster import wait_for  # noqa: E402
from one_queue import FIT, Controller, Story  # noqa: E402

NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n"},
    "status": {
        "allocatable": {"cpu": "64", "pods": "100"},
        "conditions": [{"type": "Ready", "status": "True", "reason": "r", "message": "m"}],
    },
}
UP = ("up", "--no-kubeconfig", "--fake-nodes", "8")


class Server:
    """`codeflare up` or `codeflare apiserver` on one data directory, always at the same address."""

    def __init__(self, folder):
        self.folder = folder
        self.kubeconfig = folder / "data" / "admin.kubeconfig"
        self.address = "127.0.0.1:0"
        self.process = None

    def start(self, *role):
        words = [PROGRAM, *role, "--data-dir", self.folder / "data", "--listen", self.address]
        with open(self.folder / "server.log", "a") as log:
            self.process = subprocess.Popen(
                [str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True
            )
        line = self.process.stdout.readline()
        self.address = re.search(r"https://(\S+)", line)[1]
        return line

    def said(self):
        return (self.folder / "server.log").read_text()

    def end(self, number=signal.SIGTERM):
        if self.process is None:
            return None
        self.process.send_signal(number)
        self.process.communicate(timeout=60)
        code, self.process = self.process.returncode, None
        return code


class OneQueue(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="codeflare-one-queue-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.server = Server(self.folder)
        self.addCleanup(self.server.end)

    def story(self):
        return Story(Api(self.server.kubeconfig, self.folder))

    def controller(self, name, *flags):
        controller = Controller(PROGRAM, self.folder, name, self.server.kubeconfig, *flags)
        self.addCleanup(controller.end)
        return controller

    def test_a_controller_that_comes_later_stands_by_also_when_up_is_killed(self):
        self.server.start(*UP)
        story = self.story()
        first = story.holder()
        self.assertRegex(first, "^codeflare-up_")
        story.set_quota()
        # Where a chart is installed moves nothing.
        later = self.controller("later", "--bind", "--priority-slope", "-n", "elsewhere")
        later.wait_said("standing by.*" + re.escape(first))
        story.submit(FIT + 3)
        story.check_quota()

        alone = self.controller("alone", "--no-leader-election")
        self.assertEqual(alone.wait_end(), 1)
        self.assertRegex(alone.log.read_text(), f"error: .*{re.escape(first)}.* leads.*without --no-leader-election")

        self.assertEqual(self.server.end(signal.SIGKILL), -signal.SIGKILL)
        self.server.start(*UP)
        story.api = self.story().api
        second = story.holder()
        self.assertRegex(second, "^codeflare-up_")
        self.assertNotEqual(first, second)
        later.wait_said("standing by.*" + re.escape(second))
        story.submit(4)
        story.check_quota()
        self.assertFalse(later.said("became leader"))
        self.assertEqual(len(later.said("standing by")), 2, "once per leader")
        self.assertNotIn("begins later", self.server.said())

        # Nobody gets the Lease while the server ends, and it is free afterwards.
        self.assertEqual(self.server.end(), 0, self.server.said())
        later.end()
        self.assertFalse(later.said("became leader"))
        self.server.start("apiserver")
        story.api = self.story().api
        self.assertEqual(story.holder(), "")

    def test_a_controller_that_led_before_up_hands_over(self):
        self.server.start("apiserver")
        story = self.story()
        earlier = self.controller("earlier", "--bind", "--priority-slope", "--install-crds")
        earlier.wait_said("the queue starts")
        story.api.call("POST", "/api/v1/nodes", NODE)
        story.set_quota()
        story.submit(FIT - 2)
        story.check_quota()
        self.assertEqual(self.server.end(), 0)
        self.server.start(*UP)
        story.api = self.story().api
        self.assertRegex(story.holder(), "^codeflare-up-waiting_")
        # A second start does not forget whom the first one waited for.
        self.server.end(signal.SIGKILL)
        self.server.start(*UP)
        story.api = self.story().api
        self.assertRegex(story.holder(), "^codeflare-up-waiting_")
        self.assertEqual(self.server.said().count("the queue starts later"), 2, self.server.said())
        story.submit(5)
        story.check_quota()
        self.assertEqual(earlier.wait_end(), 1)
        self.assertTrue(earlier.said("leadership of codeflare-system/codeflare-controller lost"), earlier.log.read_text())
        # The queue begins when the time of the earlier controller is over.
        wait_for("up leads", lambda: ((story.holder() or "").startswith("codeflare-up_"), story.holder()))
        story.submit(1)
        story.check_quota()


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
