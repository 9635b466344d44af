#!/usr/bin/env python3
"""All processes of a TrainingJob are killed at once, again and again: it goes on from the newest committed checkpoint, and in the end its weights
are those of one undisturbed process. ROUNDS kills (2)."""

import contextlib
import json
import os
import pathlib
import signal
import sys
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import up_test  # noqa: E402
from elastic_training_test import EPOCHS, SAMPLES, STEPS, Journal, Training  # noqa: E402
from trainingjob_test import JOBS  # noqa: E402
from up_test import processes_about  # noqa: E402

ROUNDS = int(os.environ.get("ROUNDS", "2"))
# Steps that a round may take: enough for several saves.
STEPS_PER_ROUND = (STEPS - 200) // (ROUNDS + 1)


class Everybody(Training):
    def newest(self):
        """Step of the newest checkpoint that the service has committed, from its volume."""
        uid = self.cluster.get(f"{JOBS}/bert")["metadata"]["uid"]
        found = []
        for path in self.scratch.glob(f"**/jobs/default/{uid}/checkpoints/*/manifest.json"):
            with contextlib.suppress(FileNotFoundError):  # retention
                document = json.loads(path.read_text())
                found.append((document["generation"], document["step"]))
        return max(found, default=(0, 0))[1]

    def kill_everybody(self):
        """Agents and workers; both name the program."""
        while victims := processes_about(f"{self.inside}/train.py"):
            for pid in victims:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def test_everybody_is_killed_and_the_newest_checkpoint_counts(self):
        job = self.prepare(2, 2)
        job["spec"]["checkpoint"] = {"intervalSeconds": 1}
        self.cluster.post(JOBS, job)
        for number in range(ROUNDS):
            begin = self.step()
            self.allow(begin + STEPS_PER_ROUND)
            saved = self.newest()
            self.cluster.wait_until(lambda: self.newest() > saved and self.step() > begin + 5, patience=120)
            generation = self.cluster.get(f"{JOBS}/bert")["status"]["membership"]["generation"]
            self.kill_everybody()
            time.sleep(1)  # a commit may be under way in the service
            newest = self.newest()
            self.assertGreater(newest, 0)
            self.allow(self.step() + STEPS_PER_ROUND)
            self.cluster.wait_until(lambda: self.first_after(generation) is not None, patience=120)
            self.assertEqual(self.first_after(generation), newest + 1, f"round {number + 1}: the step after the newest checkpoint")
        self.allow(10**9)
        job = self.cluster.wait_for(f"{JOBS}/bert", lambda job: job["status"]["stage"] == "Completed", patience=300)
        self.assertEqual(job["status"]["reason"], "Succeeded")
        self.assertEqual(job["status"]["restartCounts"].get("user", 0), 0)
        # A step that was lost is made again; what counts is the last time.
        problems = [text for text in Journal(self.journals).problems(STEPS, EPOCHS, SAMPLES) if "committed by generations" not in text]
        self.assertEqual(problems, [])
        self.compare_weights()

    def first_after(self, generation):
        """The first step that a later generation has committed."""
        steps = [step for step, generations in Journal(self.journals).committed.items() if max(generations) > generation]
        return min(steps, default=None)


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    unittest.main()
