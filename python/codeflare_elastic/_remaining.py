"""The rest of an epoch for one rank of a DistributedSampler, when another number of workers has begun it. Pure."""


def remaining(order, consumed, batch, world, rank):
    """The indices of `rank`: whole steps of `batch` each, then an even part of the rest.

    Every rank gets the same number of batches, because collectives need everybody. Fewer samples than workers are filled up.
    """
    rest = order[consumed:]
    whole = len(rest) // (batch * world) * batch * world
    tail = rest[whole:]
    if tail and len(tail) < world:
        tail = [*tail, *(rest * world)[: world - len(tail)]]
    return [*rest[:whole][rank::world], *tail[rank::world]]


def consumed_after(consumed, batches, batch, world, samples):
    """Samples of the order that `batches` steps of all ranks have used."""
    return min(samples, consumed + batches * batch * world)
