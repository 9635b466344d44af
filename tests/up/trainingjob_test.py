#!/usr/bin/env python3
"""TrainingJobs on `codeflare up`: apply, change the bounds while it runs, compete, delete; with processes and with fake nodes."""

import sys
import unittest
import urllib.error

sys.dont_write_bytecode = True

import up_test  # noqa: E402
from pod_case import SERVICES, PodCase  # noqa: E402
from up_test import PODS  # noqa: E402

JOBS = "/apis/breezeml.ai/v1/namespaces/default/trainingjobs"
WRAPPERS = "/apis/workload.codeflare.dev/v1beta1/namespaces/default/appwrappers"
FOREVER = "trap 'exit 0' TERM; while :; do sleep 0.1; done"


def training_job(name, smallest, largest, command=FOREVER, cpu="100m", **annotations):
    container = {"name": "trainingjob", "image": "any", "command": ["sh", "-c", command],
                 "resources": {"requests": {"cpu": cpu}, "limits": {"cpu": cpu}}}
    template = {"metadata": {"annotations": annotations}, "spec": {"containers": [container]}}
    return {"apiVersion": "breezeml.ai/v1", "kind": "TrainingJob", "metadata": {"name": name},
            "spec": {"minSize": smallest, "maxSize": largest, "elastic": {"gracePeriodSeconds": 5}, "replicaSpecs": {"template": template}}}


class TrainingJobs(PodCase):
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

    def test_an_appwrapper_takes_growth_on_fake_nodes_and_the_job_grows_back(self):
        self.start("--fake-nodes", "2", "--cpus", "4")
        self.cluster.post(JOBS, training_job("bert", 1, 8, cpu="1", **{"codeflare.dev/duration": "1h"}))
        self.wait_for_size("bert", 8)
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "fixed"}, "spec": {"restartPolicy": "Never", "containers": [
            {"name": "c", "image": "any", "resources": {"requests": {"cpu": "3"}}}]}}
        pod["metadata"]["annotations"] = {"codeflare.dev/duration": "5s"}
        wrapper = {"apiVersion": "workload.codeflare.dev/v1beta1", "kind": "AppWrapper", "metadata": {"name": "fixed"},
                   "spec": {"resources": {"GenericItems": [{"generictemplate": pod}]}}}
        self.cluster.post(WRAPPERS, wrapper)
        self.wait_for_size("bert", 5)
        self.cluster.wait_for(f"{WRAPPERS}/fixed", lambda one: one.get("status", {}).get("state") == "Completed")
        self.wait_for_size("bert", 8)

    def test_a_restart_of_the_program_adopts_the_plan(self):
        self.start("--cpus", "4")
        self.cluster.post(JOBS, training_job("bert", 2, 3))
        before = self.wait_for_size("bert", 3)
        self.kill_program()
        self.start("--cpus", "4")
        self.assertEqual(self.wait_for_size("bert", 3), before)


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    unittest.main()
