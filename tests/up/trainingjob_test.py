#!/usr/bin/env python3
"""TrainingJobs on `codeflare up`: apply, change the bounds while it runs, compete, delete; with processes and with fake nodes."""

import os
import pathlib
import signal
import sys
import tempfile
import unittest
import urllib.error

sys.dont_write_bytecode = True

import up_test  # noqa: E402
from pod_case import SERVICES, PodCase  # noqa: E402
from up_test import PODS, processes_about  # noqa: E402

JOBS = "/apis/breezeml.ai/v1/namespaces/default/trainingjobs"
WRAPPERS = "/apis/workload.codeflare.dev/v1beta1/namespaces/default/appwrappers"
FOREVER = "trap 'exit 0' TERM; while :; do sleep 0.1; done"


def training_job(name, smallest, largest, command=FOREVER, cpu="100m", **annotations):
    container = {"name": "trainingjob", "image": "any", "command": ["sh", "-c", command],
                 "resources": {"requests": {"cpu": cpu}, "limits": {"cpu": cpu}}}
    template = {"metadata": {"annotations": annotations}, "spec": {"containers": [container]}}
    return {"apiVersion": "breezeml.ai/v1", "kind": "TrainingJob", "metadata": {"name": name},
            "spec": {"minSize": smallest, "maxSize": largest, "elastic": {"gracePeriodSeconds": 5}, "replicaSpecs": {"template": template}}}


def wrapping(name, item):
    return {"apiVersion": "workload.codeflare.dev/v1beta1", "kind": "AppWrapper", "metadata": {"name": name},
            "spec": {"resources": {"GenericItems": [{"generictemplate": item}]}}}


class TrainingCase(PodCase):
    def workers(self, name):
        """UID and restarts of each that is ready."""
        found = self.cluster.get(f"{PODS}?labelSelector=breezeml.ai/job%3D{name}")["items"]
        return {one["metadata"]["name"]: (one["metadata"]["uid"], one["status"]["containerStatuses"][0]["restartCount"])
                for one in found if any(c["type"] == "Ready" and c["status"] == "True" for c in one["status"].get("conditions", []))
                and "deletionTimestamp" not in one["metadata"]}

    def wait_for_size(self, name, size):
        self.cluster.wait_for(f"{JOBS}/{name}", lambda job: job.get("status", {}).get("readySize", 0) == size
                              and job["status"]["currentSize"] == size and "leaving" not in job["status"].get("plan", {}), patience=120)
        self.cluster.wait_until(lambda: len(self.workers(name)) == size)
        return self.workers(name)

    def change(self, name, **spec):
        while True:
            job = self.cluster.get(f"{JOBS}/{name}")
            job["spec"].update(spec)
            try:
                return self.cluster.open(f"{JOBS}/{name}", job, method="PUT")
            except urllib.error.HTTPError as error:
                if error.code != 409:
                    raise


class TrainingJobs(TrainingCase):
    def test_bounds_change_while_processes_run_and_survivors_stay(self):
        self.start("--cpus", "4")
        self.cluster.post(JOBS, training_job("bert", 1, 2))
        first = self.wait_for_size("bert", 2)
        self.change("bert", maxSize=4)
        grown = self.wait_for_size("bert", 4)
        self.assertEqual({name: grown[name] for name in first}, first)
        self.change("bert", minSize=2, maxSize=2)
        shrunk = self.wait_for_size("bert", 2)
        self.assertEqual({name: grown[name] for name in shrunk}, shrunk)
        self.assertEqual(self.cluster.get(f"{SERVICES}/bert")["spec"]["clusterIP"], "None")
        self.delete(f"{JOBS}/bert")
        self.assert_vanishes(lambda: self.cluster.get(f"{PODS}?labelSelector=breezeml.ai/job%3Dbert")["items"])
        self.assert_vanishes(lambda: [one for one in self.cluster.get(SERVICES)["items"] if one["metadata"]["name"] == "bert"])

    def test_a_job_whose_workers_end_well_is_complete(self):
        self.start("--cpus", "4")
        self.cluster.post(JOBS, training_job("short", 2, 2, command='test "$LATTICE_INDEX" -lt 2'))
        job = self.cluster.wait_for(f"{JOBS}/short", lambda job: job.get("status", {}).get("stage") == "Completed")
        self.assertEqual(job["status"]["reason"], "Succeeded")

    def test_a_program_that_fails_is_told_with_its_exit_code(self):
        self.start("--cpus", "4")
        job = training_job("wrong", 1, 1, command="exit 7")
        job["spec"]["runPolicy"] = {"backoffLimit": 1}
        self.cluster.post(JOBS, job)
        job = self.cluster.wait_for(f"{JOBS}/wrong", lambda job: job.get("status", {}).get("stage") == "Completed", patience=120)
        self.assertEqual(job["status"]["reason"], "BackoffLimitExceeded")
        self.assertEqual(job["status"]["restartCounts"]["user"], 2)
        self.assertIn("exit code 7", job["status"]["message"])

    def wait_for_members(self, name, size):
        """Until a generation with that many members trains; the world size that each rank got."""
        def trains(job):
            members = job.get("status", {}).get("membership", {}).get("members", [])
            return len(members) == size and job["status"].get("readySize") == size
        self.cluster.wait_for(f"{JOBS}/{name}", trains, patience=120)
        wanted = [f"{rank} of {size}" for rank in range(size)]
        self.cluster.wait_until(lambda: sorted(one.read_text().strip() for one in self.shared.glob("world-*")) == wanted, patience=60)

    def test_an_injected_job_grows_shrinks_loses_a_worker_and_succeeds(self):
        self.shared = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.shared.chmod(0o777)
        mark = f"mark={self.shared.name}; "
        program = (mark + 'file=/shared/world-$LATTICE_INDEX; echo "$RANK of $WORLD_SIZE" > $file; '
                   "trap 'rm -f $file; exit 0' TERM; while test ! -e /shared/end; do sleep 0.1; done")
        self.start("--cpus", "4", "--allow-host-path", str(self.shared))
        job = training_job("bert", 1, 2, command=program)
        job["spec"]["injectLattice"] = True
        pod = job["spec"]["replicaSpecs"]["template"]["spec"]
        pod["volumes"] = [{"name": "shared", "hostPath": {"path": str(self.shared)}}]
        pod["containers"][0]["volumeMounts"] = [{"name": "shared", "mountPath": "/shared"}]
        self.cluster.post(JOBS, job)
        self.wait_for_members("bert", 2)
        self.change("bert", maxSize=4)
        self.wait_for_members("bert", 4)
        pods = self.workers("bert")
        self.change("bert", maxSize=2)
        self.wait_for_members("bert", 2)
        stayed = self.wait_for_size("bert", 2)
        self.assertEqual({name: pods[name] for name in stayed}, stayed)
        before = self.cluster.get(f"{JOBS}/bert")["status"]["membership"]["generation"]
        os.kill(next(pid for pid, words in processes_about(mark).items() if words[0] == "sh"), signal.SIGKILL)
        self.cluster.wait_for(f"{JOBS}/bert", lambda job: job["status"]["membership"]["generation"] > before and job["status"]["readySize"] == 2)
        self.wait_for_members("bert", 2)
        (self.shared / "end").touch()
        job = self.cluster.wait_for(f"{JOBS}/bert", lambda job: job["status"]["stage"] == "Completed", patience=60)
        self.assertEqual((job["status"]["reason"], job["status"]["membership"]["reason"]), ("Succeeded", "Finish"))
        counts = job["status"]["restartCounts"]
        self.assertEqual((counts.get("user", 0), counts.get("infra", 0)), (0, 1))
        self.assert_vanishes(lambda: self.cluster.get(f"{PODS}?labelSelector=breezeml.ai/job%3Dbert")["items"])

    def test_an_appwrapper_takes_growth_on_fake_nodes_and_the_job_grows_back(self):
        self.start("--fake-nodes", "2", "--cpus", "4")
        self.cluster.post(JOBS, training_job("bert", 1, 8, cpu="1", **{"codeflare.dev/duration": "1h"}))
        self.wait_for_size("bert", 8)
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "fixed"}, "spec": {"restartPolicy": "Never", "containers": [
            {"name": "c", "image": "any", "resources": {"requests": {"cpu": "3"}}}]}}
        pod["metadata"]["annotations"] = {"codeflare.dev/duration": "5s"}
        self.cluster.post(WRAPPERS, wrapping("fixed", pod))
        self.wait_for_size("bert", 5)
        self.cluster.wait_for(f"{WRAPPERS}/fixed", lambda one: one.get("status", {}).get("state") == "Completed")
        self.wait_for_size("bert", 8)
        self.delete(f"{JOBS}/bert")
        self.assert_vanishes(lambda: self.cluster.get(f"{PODS}?labelSelector=breezeml.ai/job%3Dbert")["items"])
        self.a_wrapped_job_is_the_gang_of_its_appwrapper()

    def places(self, name):
        return sum(place["count"] for place in self.cluster.get(f"{WRAPPERS}/{name}")["status"]["plan"]["places"])

    def a_wrapped_job_is_the_gang_of_its_appwrapper(self):
        self.cluster.post(WRAPPERS, wrapping("outer", training_job("inner", 2, 8, cpu="1", **{"codeflare.dev/duration": "1h"})))
        first = self.wait_for_size("inner", 8)
        self.assertEqual(self.places("outer"), 8)
        self.cluster.post(JOBS, training_job("other", 3, 3, cpu="1", **{"codeflare.dev/duration": "1h"}))
        self.wait_for_size("other", 3)
        stayed = self.wait_for_size("inner", 5)
        self.assertEqual({name: first[name] for name in stayed}, stayed)
        self.cluster.wait_until(lambda: self.places("outer") == 5)
        self.change("inner", maxSize=4)
        self.wait_for_size("inner", 4)
        self.delete(f"{WRAPPERS}/outer")
        self.assert_vanishes(lambda: self.cluster.get(f"{PODS}?labelSelector=breezeml.ai/job%3Dinner")["items"])

    def test_a_restart_of_the_program_adopts_the_plan(self):
        self.start("--cpus", "4")
        self.cluster.post(JOBS, training_job("bert", 2, 3))
        self.cluster.post(WRAPPERS, wrapping("outer", training_job("inner", 1, 2)))
        before = self.wait_for_size("bert", 3)
        self.wait_for_size("inner", 2)
        self.change("inner", maxSize=3)
        wrapped = self.wait_for_size("inner", 3)
        self.cluster.wait_until(lambda: self.places("outer") == 3)
        self.kill_program()
        self.start("--cpus", "4")
        self.assertEqual(self.wait_for_size("bert", 3), before)
        self.assertEqual(self.wait_for_size("inner", 3), wrapped)


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    unittest.main()
