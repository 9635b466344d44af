#!/usr/bin/env python3
"""`codeflare usage` on `codeflare up`: what a TrainingJob of real processes used, before and after its deletion and a kill of the cluster."""

import json
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True

import up_test  # noqa: E402
from trainingjob_test import JOBS, TrainingCase, training_job  # noqa: E402
from up_test import PODS  # noqa: E402


class Usage(TrainingCase):
    def usage(self, *words):
        run = subprocess.run([up_test.PROGRAM, "usage", "--kubeconfig", self.cluster.kubeconfig, *words], capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def used(self, *words):
        return {one["resource"]: one["unitSeconds"] for one in json.loads(self.usage("-o", "json", *words))["items"]}

    def shown(self, job):
        return {one["resource"]: one["unitSeconds"] for one in job.get("status", {}).get("usage", {}).get("totals", [])}

    def test_a_job_is_counted_once_and_its_deletion_loses_nothing(self):
        self.start("--cpus", "4")
        begun = time.monotonic()
        self.cluster.post(JOBS, training_job("bert", 2, 2, command="sleep 4"))
        self.wait_for_size("bert", 2)
        self.assertIn("running_unit_seconds", self.usage("-o", "csv"))
        # Both workers have ended: 8 seconds and the time of their starts.
        self.cluster.wait_for(f"{JOBS}/bert", lambda job: job.get("status", {}).get("stage") == "Completed", patience=60)
        life = time.monotonic() - begun
        self.assert_vanishes(lambda: [pod for pod in self.cluster.get(f"{PODS}?labelSelector=breezeml.ai/job%3Dbert")["items"] if pod["metadata"].get("finalizers")])
        job = self.cluster.wait_for(f"{JOBS}/bert", lambda job: self.shown(job) == self.used() and self.shown(job)["workers"] >= 8)
        used = self.used()
        self.assertLessEqual(used["workers"], 2 * life + 2)
        self.assertEqual(used["millicpu"], 100 * used["workers"])
        self.assertEqual(self.shown(job), used)
        self.assertEqual(self.used("--by", "job"), used)
        self.assertEqual(self.used("--by", "queue", "--since", "1d"), used)
        self.delete(f"{JOBS}/bert")
        self.assert_vanishes(lambda: self.cluster.get(f"{PODS}?labelSelector=breezeml.ai/job%3Dbert")["items"])
        self.assertEqual(self.used(), used)
        self.assertIn("leads and counts the pods", self.usage("--free-pods"))
        self.kill_program()
        self.start("--cpus", "4")
        self.assertEqual(self.used(), used)


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    unittest.main()
