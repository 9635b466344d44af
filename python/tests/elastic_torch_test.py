#!/usr/bin/env python3
"""The library with real torch under a scripted agent: whatever happens to the group, the weights are those of one undisturbed worker."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "elastic")]

from journal import Journal  # noqa: E402
from scripted_agent import PATIENCE_SECONDS, Job, python  # noqa: E402

TRAIN = HERE / "elastic/train.py"
ENVIRONMENT = {"PYTHONPATH": str(HERE.parent), "PYTHONDONTWRITEBYTECODE": "1"}
EPOCHS, SAMPLES, BATCH = 4, 331, 12
STEPS = EPOCHS * -(-SAMPLES // BATCH)
SHAPE = ["--epochs", str(EPOCHS), "--samples", str(SAMPLES), "--batch", str(BATCH)]
COMPARE = """import sys, torch
one, *others = [torch.load(path) for path in sys.argv[1:]]
print(max([0.0] + [(one[name] - other[name]).abs().max().item() for other in others for name in one]))
"""


def weights(folder):
    return sorted(str(path) for path in pathlib.Path(folder).glob("weights-*") if not path.name.endswith(".partial"))


class Case(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.alone, self.together = self.scratch / "alone", self.scratch / "together"
        self.alone.mkdir()
        self.together.mkdir()
        self.gate = self.scratch / "gate"
        self.allow(0)

    def allow(self, step):
        """Workers take no step after this one, so that a run does not end before its troubles."""
        partial = self.gate.with_suffix(".partial")
        partial.write_text(str(step))
        os.replace(partial, self.gate)

    def job(self, *more, **options):
        command = [python(), str(TRAIN), str(self.together), *SHAPE, "--gate", str(self.gate), *more]
        found = Job(self.scratch, command, ENVIRONMENT, **options)
        self.addCleanup(found.stop)
        return found

    def step(self):
        return max(Journal(self.together).committed, default=0)

    def resize(self, job, indices, reason, **options):
        """Four steps, two of them at least after the resize."""
        job.start_missing(indices)
        self.allow(self.step() + 2)
        job.resize(indices, reason, wait_running=False, **options)
        self.allow(self.step() + 2)
        job.wait_running()

    def train_until_saved(self, job, step):
        """A save is skipped while the one before it runs: on a slow disk that takes more steps than `step`, one a second."""

        def saved():
            return all(member.last.get("saved", {}).get("step", 0) >= step for member in job.members.values())

        self.allow(step)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not job.pump_for(saved, 1):
            if time.monotonic() > deadline:
                raise TimeoutError(f"not all have saved step {step} within {PATIENCE_SECONDS} s\n{job.state()}\n{job.stacks()}")
            self.allow(self.step() + 1)

    def kill(self, job, index):
        """In the middle of free steps."""
        step = self.step()
        self.allow(step + 50)
        job.pump_while(lambda: self.step() < step + 2)
        job.kill(index)
        job.lose(index)

    def freeze(self, job, index, hang=False):
        """SIGSTOP. With `hang` the others are known to wait for it when their agents tell them."""
        step = self.step()
        self.allow(step + 50)
        job.pump_while(lambda: self.step() < step + 2)
        job.kill(index, signal.SIGSTOP)
        job.current = [i for i in job.current if i != index]
        if hang:
            job.pump_while(lambda: not Journal(self.together).waits_for_seconds(0.5))
        for i in job.current:
            job.members[i].send("lost", generation=job.generation)

    def undisturbed(self):
        """The reference: one plain process without an agent."""
        subprocess.run([python(), str(TRAIN), str(self.alone), *SHAPE], env={**os.environ, **ENVIRONMENT}, check=True, timeout=120)
        return weights(self.alone)

    def check_weights(self, job):
        self.allow(10**9)
        self.assertEqual(set(job.wait_end()), {0}, job.logs())
        self.compare_weights(job.logs)

    def compare_weights(self, logs):
        found = weights(self.together)
        self.assertTrue(found, logs())
        answer = subprocess.run([python(), "-c", COMPARE, *self.undisturbed(), *found], env={**os.environ, **ENVIRONMENT}, check=True, capture_output=True, text=True)
        self.assertLess(float(answer.stdout), 1e-9)

    def check(self, job):
        self.check_weights(job)
        journal = Journal(self.together)
        self.assertEqual(journal.problems(STEPS, EPOCHS, SAMPLES), [], job.logs())
        for end in journal.ends:
            self.assertEqual(end, [STEPS, STEPS, EPOCHS])


class Elastic(Case):
    def test_resizes_kills_and_a_frozen_worker_change_nothing(self):
        job = self.job("--step-seconds", "0.02")
        self.resize(job, [0], "Start")
        self.resize(job, [0, 1, 2, 3], "Grow")
        self.kill(job, 3)
        self.resize(job, [0, 1, 2], "Replace")
        self.resize(job, [0, 1, 2, 3], "Grow")
        self.resize(job, [1, 2], "Shrink")  # the first member, which holds the store, leaves
        self.resize(job, [1, 2, 3], "Grow")
        self.freeze(job, 2)
        self.resize(job, [1, 3], "Replace")
        job.kill(2)  # by its agent, when the grace is over
        self.kill(job, 1)  # the first member again
        self.resize(job, [1, 3], "Replace")
        self.resize(job, [3], "Shrink")
        self.check(job)

    def test_the_first_round_may_come_without_notice_and_with_a_port_that_nobody_hosts(self):
        job = self.job(notice_fresh=False)
        # As with injectLattice: the addon leaves a program alone that uses the library.
        paths = os.pathsep.join([str(HERE.parent / "codeflare_elastic/autopatch"), ENVIRONMENT["PYTHONPATH"]])
        job.environment = {**ENVIRONMENT, "LATTICE_AUTOPATCH": "torch", "PYTHONPATH": paths}
        self.resize(job, [0, 1], "Start", host=False)
        self.resize(job, [0, 1, 2], "Grow")
        self.check(job)
        self.assertNotIn("LATTICE_AUTOPATCH", job.logs())

    def test_everybody_killed_at_once_continues_from_the_newest_saved_step(self):
        job = self.job("--save-every", "0", "--save-seconds", "0.3")  # a slow disk
        self.resize(job, [0, 1], "Start")
        self.train_until_saved(job, 20)
        for member in job.members.values():
            member.process.kill()
        job.pump(lambda: not any(member.alive for member in job.members.values()))
        saved = max(m["step"] for _, _, m in job.log if m["type"] == "saved")
        job.current = []
        self.resize(job, [0, 1], "Replace")
        self.assertGreater(job.members[0].last["running"]["step"], saved)
        self.check_weights(job)

    def test_a_process_that_nothing_wakes_saves_its_state_and_is_replaced(self):
        job = self.job("--deaf", "--save-every", "1000")
        self.resize(job, [0, 1], "Start")
        self.freeze(job, 1, hang=True)
        step = job.members[0].last["ready"]["step"]
        job.generation += 1
        job.members[0].send("notice", generation=job.generation, reason="Replace", stay=True, graceSeconds=2)
        job.pump(lambda: not job.members[0].alive, what="replacement")
        self.assertEqual(job.members[0].exit, -signal.SIGKILL)
        job.kill(1)
        job.pump(lambda: not job.members[1].alive)
        job.current = []
        self.resize(job, [0], "Replace")
        self.assertGreater(job.members[0].last["ready"]["step"], step)
        self.check(job)


if __name__ == "__main__":
    unittest.main()
