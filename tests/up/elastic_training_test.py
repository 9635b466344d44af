#!/usr/bin/env python3
"""A TrainingJob with the library and real torch on four nodes of `codeflare up`: it grows, shrinks for another job, loses workers and a pod,
and one of its workers freezes. Its weights are those of one undisturbed process; every sample is committed once per epoch."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
PYTHON_TESTS = pathlib.Path(__file__).resolve().parents[2] / "python" / "tests"
sys.path[:0] = [str(PYTHON_TESTS), str(PYTHON_TESTS / "elastic")]

import up_test  # noqa: E402
from elastic_torch_test import COMPARE, ENVIRONMENT, TRAIN, weights  # noqa: E402
from journal import Journal  # noqa: E402
from scripted_agent import python  # noqa: E402
from trainingjob_test import JOBS, PODS, TrainingCase, training_job  # noqa: E402
from up_test import processes_about  # noqa: E402

EPOCHS, SAMPLES, BATCH = 60, 331, 12
STEPS = EPOCHS * -(-SAMPLES // BATCH)
SHAPE = ["--epochs", str(EPOCHS), "--samples", str(SAMPLES), "--batch", str(BATCH)]


class Training(TrainingCase):
    """A job `bert` of real torch, whose workers write down every sample and commit."""

    def prepare(self, smallest, largest, *flags):
        """Starts a cluster (one node of 4 CPUs without flags); the TrainingJob to post."""
        self.shared = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.shared.chmod(0o777)
        self.journals = self.shared / "journals"
        self.journals.mkdir(mode=0o777)
        shutil.copy(TRAIN, self.shared / "train.py")
        self.allow(0)
        self.inside = f"/{self.shared.name}"
        self.start(*(flags or ("--cpus", "4")), "--allow-host-path", str(self.shared))
        job = training_job("bert", smallest, largest, cpu="1")
        job["spec"]["injectLattice"] = True
        pod = job["spec"]["replicaSpecs"]["template"]["spec"]
        pod["volumes"] = [{"name": "shared", "hostPath": {"path": str(self.shared)}}]
        pod["containers"][0].update(
            command=[python(), f"{self.inside}/train.py", f"{self.inside}/journals", *SHAPE, "--gate", f"{self.inside}/gate", "--step-seconds", "0.02"],
            volumeMounts=[{"name": "shared", "mountPath": self.inside}])
        return job

    def allow(self, step):
        """Workers take no step after this one, so that the run does not end before its troubles."""
        partial = self.shared / "gate.partial"
        partial.write_text(str(step))
        os.replace(partial, self.shared / "gate")

    def step(self):
        return max(Journal(self.journals).committed, default=0)

    def train_until(self, holds, patience=90):
        """Resizes happen between steps: two more are allowed at a time."""
        until = time.monotonic() + patience
        while not holds(self.cluster.get(f"{JOBS}/bert").get("status", {})):
            self.assertLess(time.monotonic(), until, self.cluster.get(f"{JOBS}/bert").get("status"))
            self.allow(self.step() + 2)
            time.sleep(0.25)

    def train(self, workers):
        """Until that many train, and five steps more."""
        self.train_until(lambda status: len(status.get("membership", {}).get("members", [])) == workers and status.get("readySize") == workers)
        step = self.step()
        self.train_until(lambda _: self.step() >= step + 5)

    def compare_weights(self):
        alone = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        environment = {**os.environ, **ENVIRONMENT}
        subprocess.run([python(), str(TRAIN), str(alone), *SHAPE], env=environment, check=True, timeout=120)
        answer = subprocess.run([python(), "-c", COMPARE, *weights(alone), *weights(self.journals)], env=environment, check=True,
                                capture_output=True, text=True)
        self.assertLess(float(answer.stdout), 1e-9)


class Elastic(Training):
    def hit(self, signal_number):
        """A worker; the job goes on with another membership."""
        before = self.cluster.get(f"{JOBS}/bert")["status"]["membership"]["generation"]
        os.kill(next(pid for pid, words in processes_about(f"{self.inside}/train.py").items() if words[0] == python()), signal_number)
        self.train_until(lambda status: status["membership"]["generation"] > before)

    def test_no_step_is_lost_and_no_sample_seen_twice(self):
        job = self.prepare(1, 1, "--nodes", "4", "--cpus", "1")
        # A worker without a step for so long is frozen.
        job["spec"]["replicaSpecs"]["template"]["spec"]["containers"][0]["env"] = [{"name": "LATTICE_STALL_SECONDS", "value": "10"}]
        self.cluster.post(JOBS, job)
        self.train(1)
        self.change("bert", maxSize=4)
        self.train(4)
        pods = self.workers("bert")
        self.hit(signal.SIGKILL)
        self.train(4)
        self.cluster.post(JOBS, training_job("other", 2, 2, cpu="1"))
        self.train(2)
        stayed = self.wait_for_size("bert", 2)
        self.assertEqual({name: pods[name] for name in stayed}, stayed)
        self.hit(signal.SIGKILL)
        self.train(2)
        self.change("bert", maxSize=3)
        self.delete(f"{JOBS}/other")
        self.train(3)
        self.hit(signal.SIGSTOP)
        self.train(3)
        self.delete(f"{PODS}/{sorted(self.workers('bert'))[-1]}")
        self.train_until(lambda status: len(status["membership"]["members"]) < 3)
        self.train(3)
        self.allow(10**9)
        job = self.cluster.wait_for(f"{JOBS}/bert", lambda job: job["status"]["stage"] == "Completed", patience=120)
        self.assertEqual(job["status"]["reason"], "Succeeded")
        self.assertEqual(job["status"]["restartCounts"].get("user", 0), 0)
        self.assertEqual(Journal(self.journals).problems(STEPS, EPOCHS, SAMPLES), [])
        self.compare_weights()

    def test_a_job_that_cannot_save_trains_on_and_tells_since_when(self):
        job = self.prepare(1, 1)
        job["spec"]["checkpoint"] = {"type": "s3", "intervalSeconds": 0}  # the service of `codeflare up` has no bucket
        self.cluster.post(JOBS, job)
        self.train_until(lambda status: "not saved since" in status.get("message", "") and "has no bucket" in status["message"], patience=180)
        step = self.step()
        self.train_until(lambda status: self.step() >= step + 5 and status.get("progress", {}).get("remainingSamples", 0) > 0)
        unsaved = next(each for each in self.cluster.get(f"{JOBS}/bert")["status"]["conditions"] if each["type"] == "Unsaved")
        self.assertEqual(unsaved["status"], "True")
        self.assertIn("worker 0: service: ", unsaved["message"])
        self.allow(10**9)
        job = self.cluster.wait_for(f"{JOBS}/bert", lambda job: job["status"]["stage"] == "Completed", patience=120)
        self.assertEqual(job["status"]["reason"], "Succeeded")


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    unittest.main()
