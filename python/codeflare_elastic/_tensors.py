"""Tensors as bytes and back, and the state of random generators."""

import ctypes
import random
import sys

import torch

from ._tree import Blob


def to_blob(value):
    """A Blob of a tensor (its memory is shared where it can be) or of a numpy array; None for anything else."""
    if isinstance(value, torch.Tensor):
        return _blob_of_tensor(value)
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)) and not value.dtype.hasobject:
        return Blob(f"numpy:{value.dtype.str}", value.shape, value.tobytes())
    return None


def _blob_of_tensor(tensor):
    tensor = tensor.detach()
    if tensor.layout != torch.strided or tensor.is_quantized:
        return None
    flat = tensor.to("cpu").contiguous()
    return Blob(str(flat.dtype)[len("torch.") :], tuple(tensor.shape), memory_of(flat), flat)


def memory_of(tensor):
    """The bytes of a contiguous tensor on the CPU, shared."""
    size = tensor.numel() * tensor.element_size()
    return memoryview((ctypes.c_char * size).from_address(tensor.data_ptr())).cast("B") if size else memoryview(b"")


def from_blob(blob):
    """A tensor on the CPU that owns its memory, or a numpy array."""
    if blob.dtype.startswith("numpy:"):
        import numpy

        return numpy.frombuffer(bytes(blob.data), dtype=numpy.dtype(blob.dtype[len("numpy:") :])).reshape(blob.shape).copy()
    dtype = getattr(torch, blob.dtype)
    tensor = torch.empty(blob.shape, dtype=dtype)
    view = memoryview(blob.data)
    if view.nbytes != tensor.numel() * tensor.element_size():
        raise ValueError(f"{view.nbytes} bytes for a tensor of shape {list(blob.shape)} and type {blob.dtype}")
    if view.nbytes:
        memory_of(tensor)[:] = view.cast("B")
    return tensor


def clone_blobs(blobs):
    """Blobs that share no memory with anything: the state may change while they are written."""
    found = []
    for blob in blobs:
        if isinstance(blob.source, torch.Tensor):
            found.append(_blob_of_tensor(blob.source.clone()))
        else:
            found.append(blob)
    return found


def random_state():
    """Of the generators of Python, numpy (if loaded) and torch."""
    found = {"python": random.getstate(), "torch": torch.get_rng_state()}
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        found["numpy"] = numpy.random.get_state()
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        found["cuda"] = torch.cuda.get_rng_state()
    return found


def set_random_state(found):
    version, internal, gauss = found["python"]
    random.setstate((version, tuple(internal), gauss))
    torch.set_rng_state(found["torch"])
    numpy = sys.modules.get("numpy")
    if numpy is not None and "numpy" in found:
        numpy.random.set_state(found["numpy"])
    if "cuda" in found and torch.cuda.is_available():
        torch.cuda.set_rng_state(found["cuda"])


def seed_random(*parts):
    """A stream of its own for each combination of `parts`."""
    seed = 0
    for part in parts:
        seed = (seed * 6364136223846793005 + part + 1442695040888963407) % (1 << 63)
    random.seed(seed)
    torch.manual_seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % (1 << 32))
