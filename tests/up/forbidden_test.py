#!/usr/bin/env python3
"""`codeflare up` where the kernel forbids user namespaces, or only networks: it says so, it says how to change that, and a Job runs anyway.

Each case is a user namespace of its own, whose limits bind only those in it."""

import ctypes
import os
import sys
import unittest

sys.dont_write_bytecode = True

import up_test  # noqa: E402
from pod_case import JOBS, SERVICE_ACCOUNTS, PodCase, job, job_is_complete  # noqa: E402
from up_test import NOBODY, Cluster, pod  # noqa: E402

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWUSER = 0x10000000
PR_SET_DUMPABLE = 4


def forbid(kind):
    """Between fork and exec: no more namespaces of this kind from here on."""
    user, group = os.geteuid(), os.getegid()
    # A process that has just become another user may not write below /proc/self.
    LIBC.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
    if LIBC.unshare(CLONE_NEWUSER) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    settings = {"self/setgroups": "deny", "self/uid_map": f"{user} {user} 1", "self/gid_map": f"{group} {group} 1",
                f"sys/user/max_{kind}_namespaces": "0"}
    for name, value in settings.items():
        # Not open(): it may look for modules, where others may not read.
        file = os.open(f"/proc/{name}", os.O_WRONLY)
        os.write(file, value.encode())
        os.close(file)


class Forbidden(PodCase):
    def start_without(self, kind):
        how = {}
        if os.geteuid() == 0:  # root may do more than others, in some places
            os.chown(self.scratch, NOBODY, NOBODY)
            how = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        self.cluster = Cluster(self.scratch, preexec_fn=lambda: forbid(kind), **how)
        self.cluster.wait_for(SERVICE_ACCOUNTS, lambda found: found["items"])
        conditions = self.cluster.get("/api/v1/nodes/codeflare-0")["status"]["conditions"]
        return {one["type"]: one for one in conditions}

    def run_job(self):
        self.cluster.post(JOBS, job("three", pod("any", "echo $GREETING"), completions=3, parallelism=3))
        self.cluster.wait_for(f"{JOBS}/three", job_is_complete)
        self.assertEqual(list(self.logs("?labelSelector=job-name=three").values()), ["hi\n"] * 3)

    def test_pods_are_plain_processes_where_user_namespaces_are_forbidden(self):
        conditions = self.start_without("user")
        said = "".join(self.cluster.lines)
        self.assertIn("node codeflare-0: pods are processes of this machine, on the machine's network\n", said)
        self.assertRegex(said, r"\n  pods are not isolated: user namespaces are not allowed \(.+ \(user\.max_user_namespaces is 0\)\); see docs/up\.md ")
        for kind, reason in (("PodIsolation", "PlainProcesses"), ("PodNetwork", "HostNetwork")):
            self.assertEqual((conditions[kind]["status"], conditions[kind]["reason"]), ("False", reason))
            self.assertIn("(user.max_user_namespaces is 0); to change that: sysctl user.max_user_namespaces above 0", conditions[kind]["message"])
        self.assertEqual(conditions["Ready"]["status"], "True")
        self.run_job()

    def test_pods_share_the_machines_network_where_only_networks_are_forbidden(self):
        conditions = self.start_without("net")
        said = "".join(self.cluster.lines)
        if "not isolated" in said:
            self.skipTest("namespaces are forbidden here: " + said)
        self.assertIn("node codeflare-0: pods are processes of this machine, in their own namespaces, on the machine's network\n", said)
        self.assertRegex(said, r"\n  pods have no own addresses: network namespaces are not allowed \(.+ \(user\.max_net_namespaces is 0\)\); see docs/up\.md ")
        self.assertEqual((conditions["PodNetwork"]["status"], conditions["PodNetwork"]["reason"]), ("False", "HostNetwork"))
        self.assertIn("(user.max_net_namespaces is 0); to change that: sysctl user.max_net_namespaces above 0", conditions["PodNetwork"]["message"])
        self.assertEqual(conditions["PodIsolation"]["status"], "True")
        self.run_job()


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    unittest.main()
