"""The parts of a run: the live objects, and a copy of everything that a failed step may have spoiled.

Parameters and optimizers change in `optimizer.step()` alone, which a broken group skips. Buffers, random generators, user values and
further objects may change at any time, so each commit keeps a copy of those. A step that failed is undone by `rewind`.
"""

import copy

import torch

from . import _tensors, _tree
from ._log import log_once
from ._position import Position


class State:
    def __init__(self, model, optimizers, schedulers, extra, values):
        self.model, self.optimizers, self.schedulers, self.extra = model, optimizers, schedulers, extra
        self.values = values
        self.position = Position()
        self.loader = None  # {"samples": ..., "seed": ...} once there is a loader
        self._buffers = [(module._buffers, name) for module in model.modules() for name in module._buffers]
        self._kept = [None] * len(self._buffers)  # (tensor, its version at the commit, copy)
        self.commit(self.position)

    def commit(self, position):
        self.position = position
        self._random = _tensors.random_state()
        for i, (owner, name) in enumerate(self._buffers):
            buffer, kept = owner.get(name), self._kept[i]
            if buffer is None:
                self._kept[i] = None
            elif kept is None or kept[0] is not buffer or kept[1] != buffer._version:
                self._kept[i] = (buffer, buffer._version, buffer.detach().clone())
        self._extra = copy.deepcopy({name: one.state_dict() for name, one in self.extra.items()})
        self._values = copy.deepcopy(self.values)

    def rewind(self):
        """Back to the last commit, after a step that failed."""
        with torch.no_grad():
            for i, (owner, name) in enumerate(self._buffers):
                kept = self._kept[i]
                if kept is not None and (owner.get(name) is not kept[0] or kept[0]._version != kept[1]):
                    kept[0].copy_(kept[2])
                    owner[name] = kept[0]
                    self._kept[i] = (kept[0], kept[0]._version, kept[2])
        for name, one in self.extra.items():
            one.load_state_dict(copy.deepcopy(self._extra[name]))
        self._set_values(copy.deepcopy(self._values))
        _tensors.set_random_state(self._random)
        self.drop_gradients()

    def drop_gradients(self):
        for optimizer in self.optimizers:
            optimizer.zero_grad(set_to_none=True)
        self.model.zero_grad(set_to_none=True)

    def _set_values(self, found):
        self.values.clear()
        self.values.update(found)

    def committed(self):
        """(meta, tree, blobs) of the last commit. Blobs share memory with the live tensors.

        Another thread may call this while the main thread hangs in a collective, provided that the step has not changed parameters.
        """
        model = self.model.state_dict()
        copies = {kept[0].data_ptr(): kept[2] for kept in self._kept if kept is not None and kept[0].numel()}
        for name, tensor in model.items():
            if isinstance(tensor, torch.Tensor) and not isinstance(tensor, torch.nn.Parameter) and tensor.numel():
                kept = copies.get(tensor.data_ptr())
                if kept is not None and kept.shape == tensor.shape and kept.dtype == tensor.dtype:
                    model[name] = kept
        skipped = []
        value = {
            "model": dict(model),
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
            "schedulers": [scheduler.state_dict() for scheduler in self.schedulers],
            "extra": self._extra,
            "values": self._values,
            "random": self._random,
        }
        tree, blobs = _tree.encode(value, _tensors.to_blob, skipped)
        for path in skipped:
            log_once(f"{path} is not saved: only numbers, texts, tensors, lists and dicts are")
        where = self.position
        return {"step": where.step, "epoch": where.epoch, "offset": where.offset, "loader": self.loader}, tree, blobs

    def adopt(self, meta, tree, blobs, with_random):
        """Becomes the state of another worker or of a file. Random generators are one worker's own."""
        value = _tree.decode(tree, blobs, _tensors.from_blob)
        if len(value["optimizers"]) != len(self.optimizers) or len(value["schedulers"]) != len(self.schedulers):
            raise ValueError(
                f"the saved state has {len(value['optimizers'])} optimizers and {len(value['schedulers'])} schedulers, "
                f"this program {len(self.optimizers)} and {len(self.schedulers)}"
            )
        self.model.load_state_dict(value["model"])
        for optimizer, found in zip(self.optimizers, value["optimizers"]):
            optimizer.load_state_dict(found)
        for scheduler, found in zip(self.schedulers, value["schedulers"]):
            scheduler.load_state_dict(found)
        for name, one in self.extra.items():
            if name in value["extra"]:
                one.load_state_dict(value["extra"][name])
        self._set_values(value["values"])
        if with_random:
            _tensors.set_random_state(value["random"])
        self.drop_gradients()
        self.loader = meta["loader"] or self.loader
        self.commit(Position(meta["step"], meta["epoch"], meta["offset"]))
