"""A run whose result can be compared: float64, every sample index and commit in a file of its own for each process."""

import argparse
import os
import time

import torch

import codeflare_elastic as elastic

parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--samples", type=int, default=331)
parser.add_argument("--batch", type=int, default=12)
parser.add_argument("--width", type=int, default=16)
parser.add_argument("--step-seconds", type=float, default=0.0)
parser.add_argument("--save-every", default="auto")
parser.add_argument("--save-seconds", type=float, default=0.0, help="what saving takes longer")
parser.add_argument("--gate", help="file with the step that may be taken last")
parser.add_argument("--deaf", action="store_true", help="shutting sockets down wakes nobody")
options = parser.parse_args()

torch.manual_seed(7)
torch.set_num_threads(1)
inputs = torch.randn(options.samples, 8, dtype=torch.float64)
targets = torch.sin(inputs @ torch.randn(8, 2, dtype=torch.float64))
dataset = torch.utils.data.TensorDataset(inputs, targets)
model = torch.nn.Sequential(torch.nn.Linear(8, options.width), torch.nn.Tanh(), torch.nn.Linear(options.width, 2)).double()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.7)
if os.environ.get("MEMBER", "0") != "0":
    with torch.no_grad():
        model[0].weight.add_(1.0)  # only the first worker's start may count

if options.deaf:
    import codeflare_elastic._group

    codeflare_elastic._group.Group.wake = lambda self: 0
if options.save_seconds:
    import codeflare_elastic._state_file as state_file

    write = state_file.write
    state_file.write = lambda *words: (time.sleep(options.save_seconds), write(*words))[1]
run = elastic.join(model, optimizer, scheduler, values={"seen": 0}, seed=3, save_every=options.save_every)
loader = run.loader(dataset, batch_size=options.batch)
process = f"{os.uname().nodename}-{os.getpid()}"  # pods have process ids of their own
journal = os.open(os.path.join(options.folder, f"journal-{process}"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)


def note(*words):
    os.write(journal, (" ".join(map(str, words)) + "\n").encode())


def wait_for_gate():
    while options.gate and run.step >= int(open(options.gate).read() or 0):
        time.sleep(0.005)


run.on_commit = lambda position: note("commit", run.generation, position.step, time.time())
for epoch in run.epochs(options.epochs):
    for x, y in loader:
        wait_for_gate()
        note("fetch", run.generation, run.step + 1, epoch, *loader.indices)
        if options.step_seconds:
            time.sleep(options.step_seconds)
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(run.model(x), y)
        run.backward(loss)
        optimizer.step()
        run.values["seen"] += 1
        run.report(loss=loss)
    scheduler.step()
note("end", run.step, run.values["seen"], scheduler.last_epoch)
final = os.path.join(options.folder, f"weights-{process}")
torch.save(model.state_dict(), final + ".partial")
os.rename(final + ".partial", final)
