#!/usr/bin/env python3
"""Real torch (Debian's python3-torch) by `codeflare submit job --script`: two replicas train together in pods of their own."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

PYTHON = "/usr/bin/python3"  # Debian's, which sees Debian's packages
PATIENCE_SECONDS = 400

# Each rank has data about half of the weights only: both know all four when gradients were averaged.
TRAIN = """import os, sys
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(rank)
inputs = torch.randn(64, 4)
inputs[:, 2 - 2 * rank : 4 - 2 * rank] = 0
targets = inputs @ torch.tensor([[1.0], [2.0], [3.0], [4.0]])
model = DistributedDataParallel(torch.nn.Linear(4, 1, bias=False))
optimizer = torch.optim.SGD(model.parameters(), lr=float(sys.argv[1]))
losses = []
for step in range(300):
    if step == 10 and len(sys.argv) > 2 and rank == 1 and os.environ.get("TORCHELASTIC_RESTART_COUNT") == "0":
        os._exit(int(sys.argv[2]))
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(inputs), targets)
    losses.append(loss.item())
    loss.backward()
    optimizer.step()
print("rank", rank, "of", dist.get_world_size(), "loss falls", losses[-1] < losses[0],
      *("%.2f" % weight for weight in model.module.weight.flatten().tolist()), flush=True)
dist.destroy_process_group()
"""
TRAINED = [f"rank {rank} of 2 loss falls True 1.00 2.00 3.00 4.00" for rank in range(2)]


class Ddp(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        home = pathlib.Path(scratch.name)
        left_out = ("KUBECONFIG", "XDG_STATE_HOME", "KUBERNETES_SERVICE_HOST", "CODEFLARE_IMAGE")
        self.environment = {**{k: v for k, v in os.environ.items() if k not in left_out}, "HOME": scratch.name}
        self.work = home / "work"
        self.work.mkdir()
        (self.work / "train.py").write_text(TRAIN)
        self.type("up", "--detach", "--listen", "127.0.0.1:0", "--cpus", "4", "--memory", "8Gi")
        self.addCleanup(self.type, "down", code=None)

    def type(self, *words, code=0):
        run = subprocess.run([PROGRAM, *words], cwd=self.work, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                             timeout=PATIENCE_SECONDS)
        print("$ codeflare", *words, run.stdout, run.stderr, sep="\n", file=sys.stderr)
        if code is not None:
            self.assertEqual(run.returncode, code)
        return run

    def submit(self, name, *words, code=0):
        options = ["-j", "2x1", "--cpu", "1", "--memMB", "2000", "-f"]
        return self.type("submit", "job", name, "--script", "train.py", *options, *words, code=code)

    def test_two_replicas_train_together(self):
        run = self.submit("train", "--", "0.1")
        said = sorted(re.findall(r"rank \d of .*", run.stdout))
        self.assertEqual(said, TRAINED)
        self.assertEqual({line[:3] for line in run.stdout.splitlines() if "rank" in line}, {"[0]", "[1]"})
        # A replica that fails once is started anew, within its retries.
        run = self.submit("again", "--max-retries", "1", "--", "0.1", "3")
        self.assertEqual(sorted(re.findall(r"rank \d of .*", run.stdout)), TRAINED)
        # Without, the job fails with that replica.
        run = self.submit("never", "--", "0.1", "3", code=1)
        info = json.loads(self.type("status", "job", "never", "-o", "json").stdout)
        self.assertEqual((info["status"], info["replicas"]), ("Failed", 2))
        self.assertIn("replica ", info["message"])
        # One that runs is cancelled.
        self.type("submit", "job", "stopped", "--script", "train.py", "-j", "2x1", "--cpu", "1", "--", "0.1")
        self.type("wait", "job", "stopped", "--for", "running")
        self.assertIn("Stopped", self.type("cancel", "job", "stopped").stdout)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    if subprocess.run([PYTHON, "-c", "import torch"], stdin=subprocess.DEVNULL).returncode != 0:
        sys.exit("python3-torch is missing: `./dev test --all` installs it")
    unittest.main()
