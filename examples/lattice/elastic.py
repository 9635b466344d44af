"""A training loop whose group may grow, shrink and lose members: python3 examples/lattice/elastic.py

Alone it is one plain process. In a TrainingJob with injectLattice it is as many workers as the cluster has room for.
"""

import torch

import codeflare_elastic as elastic

torch.manual_seed(0)
inputs = torch.randn(4096, 32)
targets = torch.sin(inputs @ torch.randn(32, 4))
dataset = torch.utils.data.TensorDataset(inputs, targets)

model = torch.nn.Sequential(torch.nn.Linear(32, 128), torch.nn.ReLU(), torch.nn.Linear(128, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10, gamma=0.5)

run = elastic.join(model, optimizer, scheduler)
loader = run.loader(dataset, batch_size=64)
for epoch in run.epochs(20):
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(run.model(x), y)
        run.backward(loss)
        optimizer.step()
        run.report(loss=loss)
    scheduler.step()
    if run.rank == 0:
        print(f"epoch {epoch}: step {run.step}, {run.world_size} workers, loss {loss.item():.4f}", flush=True)
