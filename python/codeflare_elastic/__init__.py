"""Elastic training with torch: workers come and go between two steps, and no step and no sample is lost.

    import codeflare_elastic as elastic

    run = elastic.join(model, optimizer, scheduler)
    loader = run.loader(dataset, batch_size=64)
    for epoch in run.epochs(10):
        for inputs, targets in loader:
            optimizer.zero_grad()
            run.backward(criterion(run.model(inputs), targets))
            optimizer.step()
        scheduler.step()

Under `codeflare agent` the group is formed anew at every resize, in the same process. Without an agent the same program is one
plain process. See docs/training-library.md.
"""

import os

__all__ = ["join"]


def join(
    model,
    optimizer=(),
    scheduler=(),
    *,
    extra=None,
    values=None,
    backend=None,
    seed=0,
    ddp=None,
    save_every="auto",
    save_dir=None,
):
    """Joins the group that the agent forms, and returns a `Run` whose state is that of the member furthest ahead.

    optimizer, scheduler: one, or a list.    extra: {name: object with state_dict and load_state_dict}, such as a GradScaler.
    values: dict of your own that is saved with the state.    backend: default nccl for models on GPUs, gloo otherwise.
    ddp: options of DistributedDataParallel.    save_every: seconds, "auto" (by the measured cost) or None.    save_dir: folder for saved states.
    """
    from . import _autopatch
    from ._run import Run

    _autopatch.stand_down()

    def several(found):
        return list(found) if isinstance(found, (list, tuple)) else [found]

    return Run(
        model,
        several(optimizer),
        several(scheduler),
        dict(extra or {}),
        values if values is not None else {},
        backend,
        seed,
        dict(ddp or {}),
        save_every,
        save_dir,
        dict(os.environ),
    )
