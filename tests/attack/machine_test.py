#!/usr/bin/env python3
"""A pod wants to change the machine: its device files, what the kernel says of itself, and whom the kernel kills first."""

import os
import sys
import unittest

from attack_case import AttackCase

import up_test
from pod_case import with_container, with_volume
from up_test import PODS, pod

DEVICES = ("full", "null", "random", "tty", "urandom", "zero")
KERNEL = ("allocinfo", "config.gz", "interrupts", "kcore", "keys", "kpagecount", "pagetypeinfo", "sched_debug", "slabinfo", "timer_list",
          "vmallocinfo")
# Modes and owners are those that the files have anyway: where it works no harm is done.
CHANGE_DEVICES = """
for file in %s; do
  for try in "chmod 666" "touch -c" "chown 0:0"; do
    $try /dev/$file 2>/dev/null && echo "$try /dev/$file"
  done
done
for file in /proc/cpuinfo /proc/keys /proc/slabinfo /proc/sys/kernel/hostname; do
  [ -e $file ] && chmod $(stat -c %%a $file) $file 2>/dev/null && echo "chmod $file"
done
echo x > /dev/null || echo "/dev/null cannot be used"
[ "$(head -c 1 /dev/zero | wc -c)" = 1 ] || echo "/dev/zero cannot be used"
[ "$(head -c 1 /dev/urandom | wc -c)" = 1 ] || echo "/dev/urandom cannot be used"
echo x > /dev/full 2>/dev/null && echo "/dev/full is not full"
echo end
""" % " ".join(DEVICES)
READ_KERNEL = """
for file in %s; do
  [ "$(cat /proc/$file 2>/dev/null | wc -c)" = 0 ] || echo "/proc/$file"
done
ls -A /proc/acpi /proc/asound /proc/scsi 2>/dev/null | grep -v '^/proc/' | grep .
echo end
""" % " ".join(KERNEL)
LOWER_SCORE = """
for file in /proc/self/oom_score_adj /proc/1/oom_score_adj /proc/$$/task/$$/oom_score_adj; do
  (echo 0 > $file) 2>/dev/null && echo $file
  (echo -500 > $file) 2>/dev/null && echo $file
done
(echo 0 > /proc/self/oom_adj) 2>/dev/null && echo /proc/self/oom_adj
sh -c 'cat /proc/self/oom_score_adj'
"""
# Files of a volume give nobody rights of their owner, and open no device.
USE_VOLUME = """
grep ' /data ' /proc/self/mountinfo | cut -d' ' -f6 | grep -q nosuid,nodev || grep ' /data ' /proc/self/mountinfo
echo end
"""


def modes():
    """Of the machine's device files, with when they were changed where using them does not do that."""
    found = {name: os.stat("/dev/" + name) for name in DEVICES}
    return {name: (oct(one.st_mode), one.st_uid, one.st_gid) for name, one in found.items()}, found["full"].st_ctime_ns


class Machine(AttackCase):
    def check(self):
        before = modes()
        for name, context in (("plain", {}), ("root", {"runAsUser": 0}), ("user", {"runAsUser": 1000})):
            spec = {"securityContext": context}
            with self.subTest(name):
                self.assertEqual(self.output("devices-" + name, CHANGE_DEVICES, **spec), "end\n")
                self.assertEqual(self.output("kernel-" + name, READ_KERNEL, **spec), "end\n")
                self.assertEqual(self.output("score-" + name, LOWER_SCORE, **spec), "1000\n")
        self.assertEqual(modes(), before)
        self.cluster.post(PODS, with_volume(pod("volume", USE_VOLUME, restartPolicy="Never"), {"emptyDir": {}}))
        self.ended("volume")
        self.assertEqual(self.cluster.open(PODS + "/volume/log"), "end\n")

    def test_a_pod_changes_nothing_of_the_machine(self):
        self.start()
        self.check()

    @unittest.skipUnless(os.geteuid() == 0, "we are an ordinary user already")
    def test_nor_does_one_of_an_ordinary_user(self):
        self.start_as_nobody()
        self.check()

    def test_a_pod_keeps_the_score_of_its_requests(self):
        """More memory requested, later killed: nobody gets that without the request."""
        self.start()
        memory = {"requests": {"memory": "64Mi"}}
        body = with_container(pod("burst", LOWER_SCORE, restartPolicy="Never"), resources=memory)
        self.cluster.post(PODS, body)
        self.ended("burst")
        said = self.cluster.open(PODS + "/burst/log")
        self.assertRegex(said, r"^\d+\n$")
        self.assertGreater(int(said), 900)
        self.assertLess(int(said), 1000)


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    unittest.main()
