#!/usr/bin/env python3
"""The library with real torch under real agents, which meet in a real etcd: the proof of elastic_torch_test.py once more."""

import signal
import sys
import unittest

sys.dont_write_bytecode = True

import elastic_torch_test  # noqa: E402
from elastic_torch_test import ENVIRONMENT, EPOCHS, SAMPLES, SHAPE, STEPS, TRAIN, Case  # noqa: E402
from journal import Journal  # noqa: E402
from real_agents import UID, Agents, free_port, wait_for  # noqa: E402
from scripted_agent import python  # noqa: E402

del elastic_torch_test
PROGRAM = None


class UnderAgents(Case):
    def setUp(self):
        super().setUp()
        command = [python(), str(TRAIN), str(self.together), *SHAPE, "--gate", str(self.gate), "--step-seconds", "0.02"]
        self.agents = Agents(self.scratch, PROGRAM, command, ENVIRONMENT)
        self.addCleanup(self.agents.stop)

    def change(self, indices, reason):
        """Until the new group has committed a step: an agent learns only then that its workers are more than plain processes."""
        self.agents.start_missing(indices)
        self.agents.write(indices, reason)
        wait_for(lambda: self.allow(self.step() + 2) or self.has_stepped(), f"a step of generation {self.agents.generation}", describe=self.agents.stacks)

    def has_stepped(self):
        return any(self.agents.generation in generations for generations in Journal(self.together).committed.values())

    def disturb(self, index, number):
        step = self.step()
        self.allow(step + 100)
        wait_for(lambda: self.step() >= step + 2, "steps", describe=self.agents.stacks)
        self.agents.kill_worker(index, number)

    def test_resizes_kills_and_a_frozen_worker_change_nothing(self):
        self.change([0], "Start")
        self.change([0, 1, 2, 3], "Grow")
        self.disturb(3, signal.SIGKILL)
        self.agents.wait_failed(3)
        self.change([0, 1, 2], "Replace")
        self.change([1, 2], "Shrink")
        self.change([1, 2, 3], "Grow")
        self.disturb(1, signal.SIGKILL)
        self.agents.wait_failed(1)
        self.change([1, 2, 3], "Replace")
        self.disturb(2, signal.SIGSTOP)
        self.agents.wait_failed(1, 3)  # one of them finds the stall
        self.change([1, 3], "Replace")
        self.allow(10**9)
        self.assertEqual(set(self.agents.finish()), {0}, self.agents.logs())
        journal = Journal(self.together)
        self.assertEqual(journal.problems(STEPS, EPOCHS, SAMPLES), [], self.agents.logs())
        self.compare_weights(self.agents.logs)

    def test_a_job_that_cannot_save_trains_on_and_its_document_says_why_and_what_remains(self):
        nobody = f"job_id={UID},namespace=default,ckpt_service_endpoint=127.0.0.1,ckpt_service_port={free_port()}"
        self.agents.environment = {**ENVIRONMENT, "LATTICE_CHECKPOINT_TYPE": "remote", "LATTICE_CHECKPOINT_CONFIG": nobody, "LATTICE_SAVE_EVERY": "0"}
        self.change([0, 1], "Start")

        def told(members):
            self.allow(self.step() + 1)
            return "remainingSamples" in members[0] and "unsaved" in members[0]

        self.agents.wait(told, "unsaved, and what remains")
        document = self.agents.members()[0]
        self.assertIn("service: ", document["unsaved"])
        self.assertLess(document["remainingSamples"], EPOCHS * SAMPLES)
        self.assertNotIn("unsaved", self.agents.members()[1], "it does not save at the service")
        self.allow(10**9)
        self.assertEqual(set(self.agents.finish()), {0}, self.agents.logs())
        self.compare_weights(self.agents.logs)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
