"""Batches of a dataset in one order for all workers, from the position that was committed last."""

import torch
from torch.utils.data import DataLoader

from ._position import Batching, Position, share_of_step, shares_of_epoch


class _Shares:
    """The batch sampler of one round and epoch: this worker's indices of each step that is left."""

    def __init__(self, loader, epoch, offset):
        self._batching, self._order = loader.batching, loader.order(epoch)
        self._where = offset, loader.run.world_size, loader.run.rank

    def __iter__(self):
        for found in shares_of_epoch(self._batching, *self._where):
            yield self._order[found.begin : found.end].tolist()

    def __len__(self):
        return sum(1 for _ in shares_of_epoch(self._batching, *self._where))


class Loader:
    """Made by `Run.loader`. Asking for a batch commits the step before; between the two the group may change.

    `indices` and `position` belong to the batch that was given out last.
    """

    def __init__(self, run, dataset, batching, shuffle, seed, options):
        self.run, self.dataset, self.batching = run, dataset, batching
        self._shuffle, self._seed, self._options = shuffle, seed, options
        self._order, self._order_epoch = None, None
        self._batches, self._round = None, None
        self.epoch = -1  # of the program's own loop
        self.indices, self.position = [], Position()

    def order(self, epoch):
        if self._order_epoch != epoch:
            if self._shuffle:
                generator = torch.Generator()
                generator.manual_seed((self._seed * 1_000_003 + epoch) % (1 << 63))
                self._order = torch.randperm(self.batching.samples, generator=generator)
            else:
                self._order = torch.arange(self.batching.samples)
            self._order_epoch = epoch
        return self._order

    def __len__(self):
        """Steps of a whole epoch with the present number of workers."""
        return sum(1 for _ in shares_of_epoch(self.batching, 0, self.run.world_size, 0))

    def __iter__(self):
        self.run._end_step()
        self.epoch = max(self.epoch + 1, self.run._epoch_wanted)
        self.run._enter_epoch(self.epoch)
        self._batches = None
        return self

    def __next__(self):
        run = self.run
        run._end_step()
        if run.position.epoch == self.epoch and self._ends():
            raise StopIteration
        run._begin_step()  # may form another group and take its state
        if run.position.epoch > self.epoch:
            run._skip_until_epoch()
            raise StopIteration
        if self._ends():
            run._cancel_step()
            raise StopIteration
        batch = self._fetch()
        self.position = run.position
        found = share_of_step(self.batching, self.position.offset, run.world_size, run.rank)
        self.indices = self.order(self.epoch)[found.begin : found.end].tolist()
        run._share(found)
        return batch

    def _ends(self):
        return self.batching.ends(self.run.position.offset, self.run.world_size)

    def _fetch(self):
        where = self.run._rounds, self.run.position
        if self._batches is None or self._round != where:
            shares = _Shares(self, self.epoch, self.run.position.offset)
            self._batches = iter(DataLoader(self.dataset, batch_sampler=shares, **self._options))
        batch = next(self._batches)
        share = share_of_step(self.batching, where[1].offset, self.run.world_size, self.run.rank)
        self._round = where[0], where[1].after(share.step_samples)
        return batch


def make_loader(run, dataset, batch_size, per_worker, shuffle, drop_last, seed, options):
    for name in ("sampler", "batch_sampler"):
        if name in options:
            raise TypeError(f"loader() has no argument {name}: the library decides which worker gets which samples")
    batching = Batching(len(dataset), batch_size, per_worker, drop_last)
    return Loader(run, dataset, batching, shuffle, seed, options)
