"""A usual DistributedDataParallel program; it knows nothing of being saved. Its dataset tells indices for the journal."""

import os
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

torch.set_num_threads(1)
dist.init_process_group("gloo")


class Points(Dataset):
    def __len__(self):
        return 240

    def __getitem__(self, i):
        return torch.tensor([i / 240.0, 1.0]), torch.tensor([i / 120.0]), i


torch.manual_seed(1)
model = DistributedDataParallel(torch.nn.Linear(2, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
sampler = DistributedSampler(Points())
loader = DataLoader(Points(), batch_size=4, sampler=sampler)
journal = os.open(os.path.join(sys.argv[1], f"journal-{os.getpid()}"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
first = next(model.parameters())
for epoch in range(4):
    sampler.set_epoch(epoch)
    for x, y, i in loader:
        step = int(optimizer.state[first]["step"]) + 1 if first in optimizer.state and optimizer.state[first] else 1
        os.write(journal, f"fetch {os.environ['LIFE']} {step} {epoch} {' '.join(map(str, i.tolist()))}\n".encode())
        time.sleep(0.01)
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
    scheduler.step()
print("end", scheduler.last_epoch, "%.6f" % optimizer.param_groups[0]["lr"], flush=True)
dist.destroy_process_group()
