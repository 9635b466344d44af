#!/usr/bin/env python3
"""A TrainingJob whose image has torchrun (rdzvBackend c10d, no agent of ours) on `codeflare up`: it grows, shrinks and ends. It prints torchrun's
loss at each change: the time without a step and the steps that are made again."""

import os
import pathlib
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
PYTHON_TESTS = pathlib.Path(__file__).resolve().parents[2] / "python" / "tests"
sys.path[:0] = [str(PYTHON_TESTS / "elastic")]

import up_test  # noqa: E402
from scripted_agent import python  # noqa: E402
from trainingjob_test import JOBS, TrainingCase, training_job  # noqa: E402

# Each worker writes "time world step"; the first one saves its step now and then, and all start again from there.
PROGRAM = '''
import os, socket, time
import torch, torch.distributed as dist
folder = os.path.dirname(os.path.abspath(__file__))
saved = os.path.join(folder, "saved")
dist.init_process_group("gloo")
world, rank = dist.get_world_size(), dist.get_rank()
step = int(open(saved).read()) if os.path.exists(saved) else 0
with open(os.path.join(folder, "steps-" + socket.gethostname()), "a", buffering=1) as journal:
    stop = 0.0
    while not stop:
        flag = torch.tensor([float(os.path.exists(os.path.join(folder, "stop")))])
        dist.all_reduce(flag)
        stop = flag.item()
        step += 1
        journal.write(f"{time.time()} {world} {step}\\n")
        if rank == 0 and step % 10 == 0:
            with open(saved + ".new", "w") as partial:
                partial.write(str(step))
            os.replace(saved + ".new", saved)
        time.sleep(0.05)
dist.barrier()
'''


class Torchrun(TrainingCase):
    def start_job(self):
        self.shared = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.shared.chmod(0o777)
        (self.shared / "train.py").write_text(PROGRAM)
        self.start("--cpus", "4", "--allow-host-path", str(self.shared))
        # torchrun reads its bounds at the start of its pod, so the size changes within them.
        job = training_job("spun", 1, 3, cpu="1")
        job["spec"]["desiredSize"] = 1
        job["spec"]["elastic"]["rdzvBackend"] = "c10d"
        pod = job["spec"]["replicaSpecs"]["template"]["spec"]
        pod["volumes"] = [{"name": "shared", "hostPath": {"path": str(self.shared)}}]
        # torch 1.13 under Python 3.11 needs the output in files; everything else comes by PET_ variables.
        command = [python(), "-m", "torch.distributed.run", "--redirects", "1", "--tee", "1", "--log_dir", "/tmp/logs", "/shared/train.py"]
        pod["containers"][0].update(command=command, volumeMounts=[{"name": "shared", "mountPath": "/shared"}],
                                    env=[{"name": "OMP_NUM_THREADS", "value": "1"}])
        self.cluster.post(JOBS, job)

    def steps(self):
        """(time, world, step) of the first worker's program, oldest first."""
        journal = self.shared / "steps-spun-worker-0"
        lines = journal.read_text().splitlines() if journal.exists() else []
        return [(float(when), int(world), int(step)) for when, world, step in (line.split() for line in lines if line.count(" ") == 2)]

    def wait_for_world(self, world, since):
        """Prints what the change cost."""
        until = time.monotonic() + 180
        while not any(each[1] == world and each[0] > since for each in self.steps()):
            status = self.cluster.get(f"{JOBS}/spun").get("status", {})
            self.assertLess(time.monotonic(), until, f"no step of {world} workers: {status}")
            self.assertNotEqual(status.get("stage"), "Completed", status)
            time.sleep(0.5)
        steps = self.steps()
        new = next(at for at, each in enumerate(steps) if each[1] == world and each[0] > since)
        pauses = [after[0] - before[0] for before, after in zip(steps[:new], steps[1 : new + 1]) if after[0] > since]
        lost = steps[new - 1][2] - steps[new][2] + 1 if new else 0
        print(f"torchrun, {steps[new - 1][1] if new else 0} -> {world} workers: {max(pauses, default=0):.1f} s without a step, {max(lost, 0)} steps made again",
              file=sys.stderr)

    def test_torchrun_of_the_image_grows_shrinks_and_ends(self):
        self.start_job()
        self.wait_for_world(1, 0)
        first = self.wait_for_size("spun", 1)
        since = time.time()
        self.change("spun", desiredSize=3)
        self.wait_for_world(3, since)
        grown = self.wait_for_size("spun", 3)
        self.assertEqual(grown["spun-worker-0"], first["spun-worker-0"], "torchrun starts its program anew, not the pod")
        since = time.time()
        self.change("spun", desiredSize=2)
        self.wait_for_world(2, since)
        shrunk = self.wait_for_size("spun", 2)
        self.assertEqual(shrunk["spun-worker-0"], first["spun-worker-0"], "the others meet at worker 0: it is never a victim")
        (self.shared / "stop").touch()
        job = self.cluster.wait_for(f"{JOBS}/spun", lambda job: job.get("status", {}).get("stage") == "Completed", patience=120)
        self.assertEqual(job["status"]["reason"], "Succeeded", job["status"])
        self.assertEqual(job["status"]["restartCounts"].get("user", 0), 0)


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    unittest.main()
