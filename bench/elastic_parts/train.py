"""One loop, twice: with codeflare_elastic, or as a plain DistributedDataParallel program. Every step adds a line "time world pid"."""

import argparse
import os
import time

import torch

parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("--plain", action="store_true")
parser.add_argument("--seconds", type=float, default=600.0)
options = parser.parse_args()

torch.set_num_threads(1)
torch.manual_seed(0)
WIDTH, BATCH = 256, 64
inputs = torch.randn(4096, WIDTH)
dataset = torch.utils.data.TensorDataset(inputs, inputs.roll(1, 1))
model = torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.Tanh(), torch.nn.Linear(WIDTH, WIDTH))
optimizer = torch.optim.Adam(model.parameters())
journal = os.open(os.path.join(options.folder, f"steps-{os.getpid()}"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
end = time.time() + options.seconds


def note(world):
    now = time.time()
    os.write(journal, f"{now} {world} {os.getpid()}\n".encode())
    return now < end


def plain():
    import torch.distributed as dist

    dist.init_process_group("gloo")
    world = dist.get_world_size()
    ddp = torch.nn.parallel.DistributedDataParallel(model)
    sampler = torch.utils.data.DistributedSampler(dataset)
    loader = torch.utils.data.DataLoader(dataset, batch_size=BATCH // world, sampler=sampler)
    for epoch in range(10**6):
        sampler.set_epoch(epoch)
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(ddp(x), y).backward()
            optimizer.step()
            if not note(world):
                os._exit(0)


def elastic():
    import codeflare_elastic

    run = codeflare_elastic.join(model, optimizer)
    loader = run.loader(dataset, batch_size=BATCH)
    for _ in run.epochs(10**6):
        for x, y in loader:
            optimizer.zero_grad()
            run.backward(torch.nn.functional.mse_loss(run.model(x), y))
            optimizer.step()
            if run.intact and not note(run.world_size):
                os._exit(0)


plain() if options.plain else elastic()
