#!/usr/bin/env python3
"""How pods of `codeflare up` end with their node, and what they are at its next start."""

import subprocess
import sys
import unittest
import urllib.error

sys.dont_write_bytecode = True

import traces  # noqa: E402
import up_test  # noqa: E402
from pod_case import JOBS, PodCase, container, holders, is_ready, is_true, job, phase_is, with_container, with_volume  # noqa: E402
from up_test import PODS, pod  # noqa: E402

FOREVER = "echo ready; while :; do sleep 0.1; done"
POLITE = f"trap 'echo bye; exit 0' TERM; {FOREVER}"
STUBBORN = f"trap '' TERM; {FOREVER}"


class Endings(PodCase):
    def log(self, name, query=""):
        """Empty while there is none."""
        try:
            return self.cluster.open(f"{PODS}/{name}/log{query}")
        except urllib.error.HTTPError:
            return ""

    def wait_until_ready(self, *names, container="c"):
        """They have said so: their traps are set."""
        for name in names:
            self.cluster.wait_until(lambda: "ready\n" in self.log(name, "?container=" + container))

    def wait_for_second_run(self, name):
        self.cluster.wait_for(f"{PODS}/{name}", lambda found: is_ready(found) and container(found)["restartCount"] == 1)

    def stop_and_start(self):
        code, err = self.cluster.stop()
        self.assertEqual(code, 0, err)
        self.assert_vanishes(lambda: traces.processes_about(self.scratch))
        self.start()

    def down(self):
        words = [up_test.PROGRAM, "down", "--data-dir", str(self.scratch / "data")]
        return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100)

    def test_down_ends_what_a_killed_one_has_left(self):
        self.start()
        self.cluster.post(PODS, pod("listens", POLITE))
        self.cluster.post(PODS, pod("ignores", STUBBORN))
        self.wait_until_ready("listens", "ignores")
        uids = {one["metadata"]["uid"] for one in self.cluster.get(PODS)["items"]}
        self.kill_program()
        self.assertTrue(up_test.processes_below(self.scratch))
        self.assertTrue(holders(self.scratch))
        ended = self.down()
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertRegex(ended.stdout, r"^codeflare up \(process \d+\) was killed; its 2 pods were stopped "
                                       r"\(data is kept in \S+\)\n$")
        self.assertEqual(ended.stderr, "")
        self.assert_vanishes(lambda: traces.processes_about(self.scratch))
        self.assertEqual(traces.of_pods(uids, traces.groups()), [])
        again = self.down()
        self.assertEqual((again.returncode, again.stdout), (1, ""))
        self.assertIn("no cluster runs in", again.stderr)
        self.start()
        self.wait_for_second_run("listens")
        self.wait_for_second_run("ignores")
        self.assertEqual(self.log("listens", "?previous=true"), "ready\nbye\n")
        self.assertEqual(self.log("ignores", "?previous=true"), "ready\n")
        self.assertEqual({one["metadata"]["uid"] for one in self.cluster.get(PODS)["items"]}, uids)

    def test_what_is_interrupted_has_not_succeeded(self):
        self.start()
        policies = {"never": "Never", "failure": "OnFailure", "always": "Always"}
        for name, policy in policies.items():
            self.cluster.post(PODS, pod(name, POLITE, restartPolicy=policy))
        self.cluster.post(PODS, pod("done", "exit 0", restartPolicy="Never"))
        self.cluster.post(JOBS, job("trains", pod("", POLITE)))
        self.wait_until_ready(*policies)
        self.ended("done")
        self.cluster.wait_until(lambda: any(name.startswith("trains-") and "ready\n" in log for name, log in self.logs().items()))
        self.stop_and_start()
        status = self.ended("never")["status"]
        self.assertEqual((status["phase"], status["reason"]), ("Failed", "NodeShutdown"))
        self.wait_for_second_run("failure")
        self.wait_for_second_run("always")
        self.assertEqual(self.cluster.get(PODS + "/done")["status"]["phase"], "Succeeded")
        found = self.cluster.wait_for(JOBS + "/trains", lambda found: is_true(found, "Failed") or is_true(found, "Complete"))
        self.assertTrue(is_true(found, "Failed"), found["status"])

    def test_init_containers_prepare_again_what_was_in_memory(self):
        self.start()
        body = with_volume(pod("uses", f"cat /data/file; {FOREVER}"), {"emptyDir": {"medium": "Memory"}})
        body["spec"]["initContainers"] = [{"name": "prepares", "image": "any", "command": ["/bin/sh", "-c", "echo prepared >> /data/file"],
                                           "volumeMounts": [{"name": "v", "mountPath": "/data"}]}]
        self.cluster.post(PODS, body)
        self.wait_until_ready("uses")
        self.stop_and_start()
        self.wait_for_second_run("uses")
        self.wait_until_ready("uses")
        self.assertEqual(self.log("uses", "?container=c"), "prepared\nready\n")
        init = self.cluster.get(PODS + "/uses")["status"]["initContainerStatuses"][0]
        self.assertEqual((init["restartCount"], init["state"]["terminated"]["exitCode"]), (1, 0))

    def test_sidecars_end_last(self):
        self.start()
        mounts = [{"name": "v", "mountPath": "/data"}]

        def says(name, first=""):
            return ["/bin/sh", "-c", f"trap '{first}echo {name} >> /data/order; exit 0' TERM; {FOREVER}"]

        body = with_container(with_volume(pod("served", ""), {"emptyDir": {}}), command=says("main", "sleep 1; "))
        body["spec"]["terminationGracePeriodSeconds"] = 30
        body["spec"]["initContainers"] = [{"name": name, "image": "any", "restartPolicy": "Always", "command": says(name), "volumeMounts": mounts}
                                          for name in ("first", "second")]
        self.cluster.post(PODS, body)
        self.wait_until_ready("served")
        for name in ("first", "second"):
            self.wait_until_ready("served", container=name)
        uid = self.cluster.get(PODS + "/served")["metadata"]["uid"]
        self.stop_and_start()
        order = self.scratch / "data/node/pods" / uid / "volumes/v/order"
        self.assertEqual(order.read_text().split()[:3], ["main", "second", "first"])
        self.cluster.wait_for(PODS + "/served", phase_is("Running"))


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    unittest.main()
