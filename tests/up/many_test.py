#!/usr/bin/env python3
"""Many pods on `codeflare up`: all reach their end, nothing of them stays, and a program that was killed finds each of them again."""

import sys
import unittest

sys.dont_write_bytecode = True

import traces  # noqa: E402
import up_test  # noqa: E402
from pod_case import JOBS, PodCase, container, holders, job, job_is_complete, phase_is, with_container, with_volume  # noqa: E402
from up_test import PODS, pod, processes_below  # noqa: E402

REAL, AT_ONCE = 200, 50
FAKE_JOBS, FAKE_PODS = 20, 100
PATIENCE_SECONDS = 400
# Descriptors of the first pod, and connections that come and go; one that stays for each pod would be hundreds.
SPARE_DESCRIPTORS, SPARE_NAMESPACES = 40, 10
SHARED = "/shared"
ADOPTED = 20
INDEX = "batch.kubernetes.io/job-completion-index"


def uid(found):
    return found["metadata"]["uid"]


class Many(PodCase):
    def setUp(self):
        super().setUp()
        self.shared = self.scratch / "shared"
        self.shared.mkdir()
        self.mark = "CODEFLARE_TEST_MARK=" + str(self.scratch)

    def marked(self, body, **members):
        name, _, value = self.mark.partition("=")
        return with_container(body, env=[{"name": name, "value": value}], **members)

    def held(self):
        """The resources of the program and its holder: descriptors, namespaces among them, links."""
        pids = [self.cluster.process.pid, *holders(self.scratch).values()]
        namespaces = sum(len(traces.namespaces_held(pid)) for pid in pids)
        links = sorted(name for pid in holders(self.scratch).values() for name in traces.links(pid))
        return sum(len(traces.descriptors(pid)) for pid in pids), namespaces, links

    def left_of(self, uids):
        found = [f"process {pid}" for pid in [*traces.marked(self.mark), *processes_below(self.scratch)]]
        found += traces.of_pods(uids, traces.groups())
        for pid in ("self", *holders(self.scratch).values()):
            found += traces.of_pods(uids, traces.mounts(pid))
        return found + traces.files_of_pods(self.scratch / "data", uids)

    def test_all_reach_their_end_and_leave_nothing(self):
        self.start("--nodes", "1", "--fake-nodes", "1000", "--cpus", "4", "--memory", "8Gi")
        cluster = self.cluster
        descriptors, namespaces, links = self.held()
        real = pod("real", "echo $JOB_COMPLETION_INDEX", nodeSelector={"codeflare.dev/process-node": "true"})
        self.marked(real, resources={"requests": {"cpu": "50m"}})
        cluster.post(JOBS, job("real", real, completionMode="Indexed", completions=REAL, parallelism=AT_ONCE))
        names = [f"fake-{i}" for i in range(FAKE_JOBS)]
        for name in names:
            fake = pod(name, "exit 1", nodeSelector={"codeflare.dev/fake-node": "true"})
            cluster.post(JOBS, job(name, fake, completions=FAKE_PODS, parallelism=FAKE_PODS))
        for name, count in [*((name, FAKE_PODS) for name in names), ("real", REAL)]:
            done = cluster.wait_for(f"{JOBS}/{name}", job_is_complete, PATIENCE_SECONDS)
            self.assertEqual(done["status"]["succeeded"], count)
        pods = cluster.get(PODS)["items"]
        self.assertEqual(len(pods), REAL + FAKE_JOBS * FAKE_PODS)
        ran = [one for one in pods if one["spec"]["nodeName"] == "codeflare-0"]
        # Each ran once, and said so.
        self.assertEqual(sorted(int(one["metadata"]["annotations"][INDEX]) for one in ran), list(range(REAL)))
        for one in ran:
            self.assertEqual(container(one)["restartCount"], 0)
            self.assertEqual(cluster.open(f"{PODS}/{one['metadata']['name']}/log"), one["metadata"]["annotations"][INDEX] + "\n")
        uids = {uid(one) for one in pods}
        # They can be found as long as they are there.
        self.assertTrue(traces.files_of_pods(self.scratch / "data", uids))
        for name in [*names, "real"]:
            self.delete(f"{JOBS}/{name}", propagationPolicy="Background")
        cluster.wait_for(PODS + "?limit=1", lambda found: not found["items"], PATIENCE_SECONDS)
        self.assert_vanishes(lambda: self.left_of(uids), PATIENCE_SECONDS)
        self.assert_vanishes(lambda: self.held()[2] != links and self.held()[2])
        self.assert_vanishes(lambda: max(self.held()[1] - namespaces - SPARE_NAMESPACES, 0))
        self.assert_vanishes(lambda: max(self.held()[0] - descriptors - SPARE_DESCRIPTORS, 0))
        self.assertEqual(self.output("again", "echo again"), "again\n")

    def add_sleepers(self):
        """Each notes its start in a file of its own."""
        for i in range(ADOPTED):
            body = pod(f"p{i}", f"echo started >> {SHARED}/p{i}; exec sleep 100000")
            self.cluster.post(PODS, self.marked(with_volume(body, {"hostPath": {"path": str(self.shared)}}, SHARED)))

    def all_running(self):
        found = self.cluster.wait_for(PODS, lambda found: all(map(phase_is("Running"), found["items"])), PATIENCE_SECONDS)["items"]
        self.assertEqual(len(found), ADOPTED)
        return {one["metadata"]["name"]: (container(one)["containerID"], one["status"]["podIP"], container(one)["restartCount"]) for one in found}

    def assert_each_started_once_and_ends(self):
        starts = {path.name: path.read_text() for path in self.shared.iterdir()}
        self.assertEqual(starts, {f"p{i}": "started\n" for i in range(ADOPTED)})
        self.assertEqual(len(traces.marked(self.mark)), ADOPTED)
        # The cluster that has them can end them.
        for name in starts:
            self.cluster.open(f"{PODS}/{name}?gracePeriodSeconds=1", method="DELETE")
        self.cluster.wait_for(PODS, lambda found: not found["items"], PATIENCE_SECONDS)
        self.assert_vanishes(lambda: [*traces.marked(self.mark), *processes_below(self.scratch)])

    def test_running_pods_are_adopted_by_the_next_program(self):
        flags = ("--allow-host-path", str(self.shared))
        self.start(*flags)
        self.add_sleepers()
        before, keepers, sleepers = self.all_running(), processes_below(self.scratch), traces.marked(self.mark)
        self.kill_program()
        self.start(*flags)
        # When it has run another one it has looked at those that were there.
        self.assertEqual(self.output("other", "echo done"), "done\n")
        self.delete(PODS + "/other")
        self.cluster.wait_for(PODS, lambda found: len(found["items"]) == ADOPTED)
        self.assertEqual(self.all_running(), before)
        self.assertEqual(traces.marked(self.mark), sleepers)
        self.assert_vanishes(lambda: set(processes_below(self.scratch)) ^ set(keepers))
        self.assert_each_started_once_and_ends()

    def test_pods_that_were_being_started_are_started_once(self):
        flags = ("--allow-host-path", str(self.shared))
        self.start(*flags)
        self.add_sleepers()
        self.cluster.wait_until(lambda: any(self.shared.iterdir()))
        self.kill_program()
        self.start(*flags)
        self.all_running()
        self.assert_each_started_once_and_ends()


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    unittest.main()
