"""The file of one saved state.

    magic "CFSTATE1" | length of the header, 8 bytes | header, JSON | blobs, each at a multiple of 64 | CRC-32, 4 bytes

Numbers are little-endian. A file has its name only when it is whole: it is written under another one and renamed.
"""

import json
import mmap
import os
import struct
import zlib

from ._tree import Blob

MAGIC = b"CFSTATE1"
_ALIGN = 64
_HEADER_MAX = 1 << 30


class Damaged(ValueError):
    pass


def pieces(meta, tree, blobs):
    """(size of the file, its parts in order, the checksum excluded)."""
    begins, end = [], 0
    for blob in blobs:
        begins.append(end)
        end += -(-memoryview(blob.data).nbytes // _ALIGN) * _ALIGN
    header = {
        "meta": meta,
        "tree": tree,
        "blobs": [{"dtype": blob.dtype, "shape": list(blob.shape), "begin": begin, "size": memoryview(blob.data).nbytes} for blob, begin in zip(blobs, begins)],
    }
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(len(MAGIC) + 8 + len(text)) % _ALIGN)
    parts = [MAGIC + struct.pack("<Q", len(text)) + text]
    for blob in blobs:
        data = memoryview(blob.data).cast("B")
        parts.append(data)
        parts.append(b"\0" * (-data.nbytes % _ALIGN))
    return len(parts[0]) + end + 4, parts


def stream(parts, chunk_bytes=8 << 20):
    """The bytes of the file in chunks, the checksum last."""
    crc = 0
    for part in parts:
        view = memoryview(part)
        for begin in range(0, view.nbytes, chunk_bytes):
            chunk = view[begin : begin + chunk_bytes]
            crc = zlib.crc32(chunk, crc)
            yield chunk
    yield struct.pack("<I", crc)


def write(path, meta, tree, blobs, sync):
    """Returns the size. `sync`: the file survives a power cut (for disks; memory needs none)."""
    size, parts = pieces(meta, tree, blobs)
    partial = f"{path}.partial-{os.getpid()}"
    try:
        with open(partial, "wb", buffering=0) as file:
            for chunk in stream(parts):
                _write_all(file, chunk)
            if sync:
                os.fsync(file.fileno())
        os.replace(partial, path)
    except BaseException:
        if os.path.exists(partial):
            os.unlink(partial)
        raise
    if sync:
        folder = os.open(os.path.dirname(path) or ".", os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    return size


def _write_all(file, chunk):
    view = memoryview(chunk)
    while view.nbytes:
        view = view[file.write(view) :]


def _header(data):
    """(header, offset of the blobs). `data` may be the beginning of a file only."""
    if len(data) < len(MAGIC) + 8 or bytes(data[: len(MAGIC)]) != MAGIC:
        raise Damaged("not a saved state")
    length = struct.unpack_from("<Q", data, len(MAGIC))[0]
    begin = len(MAGIC) + 8
    if length > _HEADER_MAX or begin + length > len(data):
        raise Damaged(f"a header of {length} bytes does not fit")
    try:
        header = json.loads(bytes(data[begin : begin + length]))
        header["meta"], header["tree"], header["blobs"]
    except (ValueError, KeyError, TypeError) as error:
        raise Damaged(f"unreadable header: {error}") from None
    return header, begin + length


def parse(data):
    """(meta, tree, blobs) of a whole file's bytes; blobs refer to `data`."""
    view = memoryview(data)
    if view.nbytes < len(MAGIC) + 12:
        raise Damaged(f"{view.nbytes} bytes are too few for a saved state")
    crc = 0
    for begin in range(0, view.nbytes - 4, 8 << 20):
        crc = zlib.crc32(view[begin : min(begin + (8 << 20), view.nbytes - 4)], crc)
    if crc != struct.unpack("<I", view[-4:])[0]:
        raise Damaged("the checksum differs")
    header, base = _header(view)
    blobs = []
    for found in header["blobs"]:
        begin, end = base + found["begin"], base + found["begin"] + found["size"]
        if found["begin"] < 0 or found["size"] < 0 or end > view.nbytes - 4:
            raise Damaged(f"a blob of {found['size']} bytes at {begin} does not fit")
        blobs.append(Blob(found["dtype"], tuple(found["shape"]), view[begin:end], data))
    return header["meta"], header["tree"], blobs


def read(path):
    with open(path, "rb") as file:
        return parse(bytearray(file.read()))


def peek(path):
    """The meta value alone; the rest of the file is not verified."""
    with open(path, "rb") as file:
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _header(data)[0]["meta"]
