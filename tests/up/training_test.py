#!/usr/bin/env python3
"""Real torch (Debian's python3-torch) on `codeflare up`: torchrun trains on two pods that find each other by a headless service."""

import re
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True

import up_test  # noqa: E402
from pod_case import JOBS, SERVICES, PodCase, job, job_is_complete, labelled, service, with_volume  # noqa: E402
from up_test import pod  # noqa: E402

PYTHON = "/usr/bin/python3"  # Debian's, which sees Debian's packages
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
PATIENCE_SECONDS = 500

# Each rank has data about half of the weights only: both know all four when gradients were averaged.
TRAIN = """import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(rank)
inputs = torch.randn(64, 4)
inputs[:, 2 - 2 * rank : 4 - 2 * rank] = 0
targets = inputs @ torch.tensor([[1.0], [2.0], [3.0], [4.0]])
model = DistributedDataParallel(torch.nn.Linear(4, 1, bias=False))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(300):
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(model(inputs), targets).backward()
    optimizer.step()
print("rank", rank, "of", dist.get_world_size(), *("%.2f" % weight for weight in model.module.weight.flatten().tolist()), flush=True)
dist.destroy_process_group()
"""

# torchrun as a module; output goes to a file and from there to the log, because torch 1.13 reads its default of "0" as nothing with Python 3.11. The name of the first pod is there when that pod is.
RUN = f"""until getent hosts train-0.train; do sleep 0.2; done
exec {PYTHON} -m torch.distributed.run --nnodes 2 --nproc_per_node 1 --redirects 1 --tee 1 --node_rank $JOB_COMPLETION_INDEX \
  --master_addr train-0.train --master_port 29500 /code/train.py"""


class Training(PodCase):
    def test_two_pods_train_together(self):
        self.start("--cpus", "4", "--memory", "8Gi")
        self.cluster.post(CONFIG_MAPS, {"metadata": {"name": "code"}, "data": {"train.py": TRAIN}})
        self.cluster.post(SERVICES, service("train", headless=True))
        body = with_volume(labelled("train", pod("train", RUN, subdomain="train")), {"configMap": {"name": "code"}}, "/code")
        self.cluster.post(JOBS, job("train", body, completionMode="Indexed", completions=2, parallelism=2))
        try:
            self.cluster.wait_for(JOBS + "/train", job_is_complete, PATIENCE_SECONDS)
        finally:
            logs = self.logs()
            print(*logs.values(), sep="\n", file=sys.stderr)
        said = sorted(line for log in logs.values() for line in re.findall(r"rank \d of .*", log))
        self.assertEqual(said, [f"rank {rank} of 2 1.00 2.00 3.00 4.00" for rank in range(2)])


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    if subprocess.run([PYTHON, "-c", "import torch"], stdin=subprocess.DEVNULL).returncode != 0:
        sys.exit("python3-torch is missing: `./dev test --all` installs it")
    unittest.main()
