#!/usr/bin/env python3
"""Four pods fork as often as they can: the machine keeps process ids, and the node runs the next pod when they are gone.

The machine of this test is a control group with few process ids, so that a mistake takes no others along.
"""

import os
import pathlib
import re
import subprocess
import sys
import unittest

from attack_case import AttackCase

import up_test
from pod_case import with_container
from up_test import PODS, Cluster, pod

MACHINE = 800
# Of the machine's (node/system/limits.h).
ALL_PODS = 600
EACH = 180
PROCESS_GROUPS = pathlib.Path("/sys/fs/cgroup/pids")

# Its children end with it, and after a minute anyhow.
FORK = """import os, select, sys, time
wanted = int(sys.argv[1])
mine, theirs = os.pipe()
made, failed = 0, ""
while made < wanted and not failed:
    try:
        if os.fork() == 0:
            os.close(theirs)
            select.select([mine], [], [], 60)
            os._exit(0)
        made += 1
    except OSError as error:
        failed = error.strerror
print("made", made, failed, flush=True)
time.sleep(60)
"""


def number(path):
    return int(path.read_text())


class Forks(AttackCase):
    def setUp(self):
        # First, so that it goes last.
        self.machine = self.small_machine()
        super().setUp()

    def small_machine(self):
        """A group for the cluster; its pods get groups below."""
        group = PROCESS_GROUPS / f"codeflare-attack-{os.getpid()}"
        try:
            group.mkdir()
        except OSError as error:
            self.skipTest(f"no groups of processes are to be had here: {error}")
        self.addCleanup(lambda: Cluster.wait_until(lambda: self.gone(group)))
        (group / "pids.max").write_text(str(MACHINE))
        return group

    @staticmethod
    def gone(group):
        """Processes that have just ended may still be counted."""
        for path, _, _ in os.walk(group, topdown=False):
            try:
                os.rmdir(path)
            except OSError:
                return False
        return True

    def test_pods_that_fork_leave_the_machine_process_ids(self):
        machine = self.machine

        def enter():
            (machine / "cgroup.procs").write_text(str(os.getpid()))

        self.start(preexec_fn=enter)
        names = [f"fork-{i}" for i in range(4)]
        for name in names:
            self.cluster.post(PODS, with_container(pod(name, ""), command=["python3", "-c", FORK, str(EACH)]))
        for name in names:
            self.running(name)
        said = "".join(self.said_by(name) for name in names)
        limited = list(machine.glob("*/pids.max"))
        self.assertEqual([number(path) for path in limited], [ALL_PODS], said)
        # All of them together, not each.
        made = [int(count) for count in re.findall(r"^made (\d+)", said, re.MULTILINE)]
        self.assertEqual(len(made), len(names), said)
        self.assertIn("Resource temporarily unavailable", said)
        self.assertLess(sum(made), ALL_PODS)
        self.assertGreater(sum(made), ALL_PODS // 2)
        self.assertLess(number(machine / "pids.current"), MACHINE)
        self.assertEqual(subprocess.run(["true"], preexec_fn=enter, timeout=60).returncode, 0)

        for name in names:
            self.cluster.open(f"{PODS}/{name}?gracePeriodSeconds=1", method="DELETE")
        self.assert_vanishes(lambda: self.cluster.get(PODS)["items"])
        self.assertEqual(self.output("after", "echo alive"), "alive\n")


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    unittest.main()
