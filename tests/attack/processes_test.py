#!/usr/bin/env python3
"""Files and sockets that a container inherits from the node or can reach: isolated, on the machine's network, and as a plain process."""

import os
import pathlib
import sys
import unittest

from attack_case import AttackCase

import up_test
from pod_case import SERVICE_ACCOUNTS, holders
from up_test import NOBODY, PODS, Cluster, pod, processes_below

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "up"))

from forbidden_test import forbid  # noqa: E402

SECRET = "secret-of-whoever-started-it"
LOOK = """
for file in /proc/self/fd/*; do
  case ${file##*/} in 0|1|2) ;; *) [ -e $file ] && readlink $file;; esac
done
tr '\\0' '\\n' < /proc/self/environ | grep %s
echo end
""" % SECRET


def descriptors(pid):
    """Sockets that the process holds, by inode."""
    found = set()
    for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            target = os.readlink(entry)
        except OSError:
            continue
        if target.startswith("socket:["):
            found.add(target.removeprefix("socket:[").removesuffix("]"))
    return found


def abstract_sockets(pid):
    """Names of abstract sockets that the process listens on or is bound to."""
    mine = descriptors(pid)
    lines = [line.split() for line in pathlib.Path(f"/proc/{pid}/net/unix").read_text().splitlines()[1:]]
    return [line[7] for line in lines if len(line) > 7 and line[7].startswith("@") and line[6] in mine]


class Processes(AttackCase):
    def check(self, *specs):
        for number, spec in enumerate(specs):
            with self.subTest(spec=spec):
                # A shell opens its script's files itself; what it was given is below 3.
                self.assertEqual(self.output(f"look-{number}", LOOK, **spec), "end\n")
        self.cluster.post(PODS, pod("stays", "sleep 600"))
        self.running("stays")
        pids = [self.cluster.process.pid, *processes_below(self.scratch), *holders(self.scratch).values()]
        self.assertGreater(len(pids), 1)
        for pid in pids:
            # A pod on the network of the machine could reach them, whatever user they belong to.
            self.assertEqual(abstract_sockets(pid), [], pathlib.Path(f"/proc/{pid}/cmdline").read_bytes())
        self.delete(f"{PODS}/stays", gracePeriodSeconds=0)

    def test_a_container_inherits_nothing_and_finds_no_abstract_socket_of_ours(self):
        self.start("--allow-host-network", env={**os.environ, "TOKEN": SECRET})
        self.check({}, {"hostNetwork": True}, {"securityContext": {"runAsUser": 0}}, {"securityContext": {"runAsUser": 1000}})

    def test_nor_does_a_plain_process(self):
        how = {"env": {**os.environ, "TOKEN": SECRET}}
        if os.geteuid() == 0:
            os.chown(self.scratch, NOBODY, NOBODY)
            how.update(user=NOBODY, group=NOBODY, extra_groups=[])
        self.cluster = Cluster(self.scratch, preexec_fn=lambda: forbid("user"), **how)
        self.cluster.wait_for(SERVICE_ACCOUNTS, lambda found: found["items"])
        self.assertIn("pods are not isolated", "".join(self.cluster.lines))
        self.check({}, {"hostNetwork": True})


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    unittest.main()
