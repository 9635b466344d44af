"""Where a run is in its data, and which samples of a step belong to which worker. Pure: no torch, no I/O."""

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Position:
    """Committed steps, and the samples of the epoch that those steps consumed. Larger is further."""

    step: int = 0
    epoch: int = 0
    offset: int = 0

    def after(self, samples):
        return Position(self.step + 1, self.epoch, self.offset + samples)

    def remaining(self, epochs, samples):
        """Samples of `epochs` epochs of `samples` each that no step has consumed."""
        return max(0, (epochs - self.epoch) * samples - self.offset)


@dataclass(frozen=True)
class Batching:
    """How the order of an epoch is cut into steps. `batch` counts the samples of all workers, or of each one."""

    samples: int
    batch: int
    per_worker: bool = False
    drop_last: bool = False

    def __post_init__(self):
        if self.samples < 1 or self.batch < 1:
            raise ValueError(f"a loader needs samples and a batch size: {self.samples} samples, batch_size {self.batch}")

    def step_samples(self, offset, world):
        """Samples of the step that begins at `offset`; 0 at the end of the epoch."""
        whole = self.batch * (world if self.per_worker else 1)
        left = max(0, self.samples - offset)
        return 0 if self.drop_last and left < whole else min(whole, left)

    def ends(self, offset, world):
        return self.step_samples(offset, world) == 0


def share(samples, world, rank):
    """The half-open range of a step's samples that `rank` computes. Ranges differ by at most one sample."""
    if not 0 <= rank < world:
        raise ValueError(f"rank {rank} is not in a world of {world}")
    return samples * rank // world, samples * (rank + 1) // world


@dataclass(frozen=True)
class Share:
    """One worker's part of one step: a range of the epoch's order and its weight in the mean of the step."""

    begin: int
    end: int
    step_samples: int
    weight: float  # of this worker's mean, after the group has divided the sum by its size

    @property
    def size(self):
        return self.end - self.begin


def share_of_step(batching, offset, world, rank):
    """A worker without samples computes the step's first sample with weight 0, because collectives need everybody."""
    total = batching.step_samples(offset, world)
    begin, end = share(total, world, rank)
    weight = (end - begin) * world / total
    if begin == end:
        begin, end = 0, 1
    return Share(offset + begin, offset + end, total, weight)


def shares_of_epoch(batching, offset, world, rank):
    """All shares of `rank` from `offset` to the end of the epoch."""
    while not batching.ends(offset, world):
        found = share_of_step(batching, offset, world, rank)
        yield found
        offset += found.step_samples
