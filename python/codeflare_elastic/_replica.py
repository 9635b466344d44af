"""The model as the training loop calls it: DistributedDataParallel around the same module, made anew with every group."""

import types

import torch
from torch.nn.parallel import DistributedDataParallel

from ._group import is_failure_of_group


class Replica(torch.nn.Module):
    """Calls the module itself while there is one worker, and in evaluation: neither needs the group."""

    def __init__(self, module, options, on_failure, is_broken):
        super().__init__()
        self.module = module
        self.training = module.training
        self._options = options
        # Not as a submodule: its parameters are those of `module`.
        object.__setattr__(self, "_parallel", None)
        object.__setattr__(self, "_on_failure", on_failure)
        object.__setattr__(self, "_is_broken", is_broken)

    def parallelize(self, world):
        object.__setattr__(self, "_parallel", DistributedDataParallel(self.module, **self._options) if world > 1 else None)

    def release(self):
        object.__setattr__(self, "_parallel", None)

    def forward(self, *args, **kwargs):
        if self._parallel is None or not self.training or not torch.is_grad_enabled() or self._is_broken():
            return self.module(*args, **kwargs)
        try:
            return self._parallel(*args, **kwargs)
        except RuntimeError as error:
            if not is_failure_of_group(error):
                raise
            # The step will not count; its result only has to have the right shape.
            self._on_failure(error)
            return self.module(*args, **kwargs)


def guard_optimizer(optimizer, allowed):
    """`optimizer.step()` does nothing while `allowed()` is false. Learning-rate schedulers look for a bound method with their marks."""
    original = optimizer.step

    def step(self, *args, **kwargs):
        return original(*args, **kwargs) if allowed() else None

    step.__dict__.update(getattr(original, "__dict__", {}))
    step.__wrapped__ = original
    optimizer.step = types.MethodType(step, optimizer)


def guard_scheduler(scheduler, allowed):
    """By a class of its own: a scheduler's state is its attributes."""
    kind = type(scheduler)

    def step(self, *args, **kwargs):
        return kind.step(self, *args, **kwargs) if allowed() else None

    scheduler.__class__ = type(kind.__name__, (kind,), {"step": step, "__module__": kind.__module__, "__doc__": kind.__doc__})
