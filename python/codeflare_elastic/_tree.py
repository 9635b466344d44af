"""State as JSON plus blobs: nested dicts, lists and tuples, in which tensors are numbers of blobs. Nothing is pickled."""

from collections import namedtuple

# dtype: the name of an element's type; data: the elements, contiguous; source: whatever owns the memory.
Blob = namedtuple("Blob", "dtype shape data source")
Blob.__new__.__defaults__ = (None,)

_SCALARS = (str, int, float, bool, type(None))


class Unsupported(TypeError):
    pass


def encode(value, to_blob, skipped=None):
    """(tree, blobs). `to_blob` answers a Blob, or None for values that it does not know.

    Paths of values with other types go to `skipped`; without that list they raise Unsupported.
    """
    blobs = []

    def walk(found, path):
        if isinstance(found, _SCALARS):
            return found
        if isinstance(found, (bytes, bytearray)):
            return add(Blob("bytes", (len(found),), bytes(found)))
        if isinstance(found, dict):
            return ["d", *items(((walk_key(key, path), child, f"{path}.{key}") for key, child in found.items()), pairs=True)]
        if isinstance(found, (list, tuple)):
            return ["t" if isinstance(found, tuple) else "l", *items((None, child, f"{path}[{i}]") for i, child in enumerate(found))]
        blob = to_blob(found)
        if blob is None:
            raise Unsupported(f"{path or 'state'} has type {type(found).__name__}: only numbers, texts, tensors, lists and dicts are saved")
        return add(blob)

    def add(blob):
        blobs.append(blob)
        return ["x", len(blobs) - 1]

    def walk_key(key, path):
        if not isinstance(key, _SCALARS):
            raise Unsupported(f"a key of {path or 'state'} has type {type(key).__name__}")
        return key

    def items(children, pairs=False):
        for key, child, path in children:
            try:
                tree = walk(child, path)
            except Unsupported:
                # A list without one of its elements would be another list.
                if skipped is None or not pairs:
                    raise
                skipped.append(path.lstrip("."))
                continue
            yield [key, tree] if pairs else tree

    return walk(value, ""), blobs


def decode(tree, blobs, from_blob):
    def walk(found):
        if not isinstance(found, list):
            return found
        kind, rest = found[0], found[1:]
        if kind == "d":
            return {key: walk(child) for key, child in rest}
        if kind == "l":
            return [walk(child) for child in rest]
        if kind == "t":
            return tuple(walk(child) for child in rest)
        if kind == "x":
            blob = blobs[rest[0]]
            return bytes(blob.data) if blob.dtype == "bytes" else from_blob(blob)
        raise ValueError(f"unknown mark {kind!r} in a saved state")

    return walk(tree)
