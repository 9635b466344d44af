"""The process group of one round: formed, used, left."""

import datetime
import gc
import json
import os
import re
import threading

import torch
import torch.distributed as dist

from . import _sockets
from ._log import log
from ._tensors import memory_of
from ._tree import Blob

_FORM_SECONDS = 120
_AGREE_SECONDS = 2.0
_CHUNK_BYTES = 32 << 20
_FAILURE = re.compile(r"gloo|nccl|connection (?:closed|reset|refused)|broken pipe|socket|process ?group|tcpstore|store|timed out|aborted", re.I)


def is_failure_of_group(error):
    """Errors of collectives are RuntimeErrors in every version; the text tells them from errors of the model."""
    return isinstance(error, RuntimeError) and bool(_FAILURE.search(str(error)))


class Group:
    """One object per round. `wake` may be called from any thread, everything else from the main thread."""

    def __init__(self, backend, device):
        self.backend, self.device = backend, device
        self.rank, self.world, self.generation = 0, 1, 0
        self._before = set(_sockets.open_sockets().values())
        self._store = None
        self._addresses, self._ports = set(), set()
        self._lock = threading.Lock()
        self._closed = False

    def listen(self, port=0):
        """Opens the store that the others will connect to; returns its port."""
        self._store = dist.TCPStore("127.0.0.1", port, None, True, datetime.timedelta(seconds=_FORM_SECONDS), False)
        self._ports.add(self._store.port)
        return self._store.port

    def form(self, order):
        self.generation, self.rank, self.world = order["generation"], order["rank"], order["worldSize"]
        address, port = order["masterAddress"], order["masterPort"]
        with self._lock:
            self._addresses = _sockets.resolve([address, *order.get("peers", ())])
            self._ports.add(port)
        self._where = address, port
        if self.world == 1:
            store = dist.HashStore()
        else:
            _choose_interface(self.backend, address)
            if self.rank == 0 and self._store is None:
                self.listen(port)  # the agent chose the port before it knew of the library
            store = self._store or self._connect(_FORM_SECONDS)
            store = dist.PrefixStore(f"round-{self.generation}", store)
        dist.init_process_group(self.backend, store=store, rank=self.rank, world_size=self.world, timeout=datetime.timedelta(minutes=30))

    def form_by_environment(self):
        """As torchrun and others set it: no agent, so nobody can resize."""
        dist.init_process_group(self.backend, init_method="env://")
        self.rank, self.world = dist.get_rank(), dist.get_world_size()

    def _connect(self, seconds):
        address, port = self._where
        return dist.TCPStore(address, port, None, False, datetime.timedelta(seconds=seconds), False)

    def wake(self):
        """Every collective of this group fails now. Returns the number of sockets that were shut down."""
        with self._lock:
            return 0 if self._closed else _sockets.shut_down(self._addresses, self._ports, self._before)

    def close(self, broken):
        if broken:
            self.wake()  # else pending collectives would hold up the end of the group
        if dist.is_initialized():
            dist.destroy_process_group()
        self._store = None
        gc.collect()
        if self.world > 1:
            self.wake()
        with self._lock:
            self._closed = True

    def agree(self, generation, vote, patience_seconds=_AGREE_SECONDS):
        """The step after which all members leave: the largest vote. None if somebody does not vote in time.

        Runs on a thread of its own, over a connection of its own: the group's store has one user at a time.
        """
        try:
            store = self._connect(max(1, patience_seconds))
            store.set_timeout(datetime.timedelta(seconds=patience_seconds))
            prefix = f"leave-{self.generation}-{generation}"
            store.set(f"{prefix}-{self.rank}", str(vote))
            votes = [int(store.get(f"{prefix}-{rank}")) for rank in range(self.world)]
            # The first member's process holds the store: it stays until everybody has read.
            readers = store.add(f"{prefix}-read", 1)
            if self.rank == 0 and readers < self.world:
                store.wait([f"{prefix}-all"])
            elif readers == self.world:
                store.set(f"{prefix}-all", "1")
            return max(votes)
        except (RuntimeError, ValueError) as error:
            log(f"members could not agree on a step to leave: {str(error).splitlines()[0]}")
            return None

    # -- collectives of the library itself

    def gather_numbers(self, numbers):
        """The list of every rank's numbers, by rank."""
        if self.world == 1:
            return [list(numbers)]
        mine = torch.tensor(numbers, dtype=torch.int64, device=self.device)
        found = [torch.empty_like(mine) for _ in range(self.world)]
        dist.all_gather(found, mine)
        return [one.tolist() for one in found]

    def send_state(self, meta, tree, blobs):
        described = [[blob.dtype, list(blob.shape), memoryview(blob.data).nbytes] for blob in blobs]
        header = json.dumps([meta, tree, described]).encode()
        payload = torch.empty(sum(size for _, _, size in described), dtype=torch.uint8)
        memory, begin = memory_of(payload), 0
        for blob, (_, _, size) in zip(blobs, described):
            memory[begin : begin + size] = memoryview(blob.data).cast("B")
            begin += size
        sizes = torch.tensor([len(header), payload.numel()], dtype=torch.int64, device=self.device)
        dist.broadcast(sizes, self.rank)
        self._broadcast(torch.frombuffer(bytearray(header), dtype=torch.uint8), self.rank)
        self._broadcast(payload, self.rank)

    def receive_state(self, source):
        sizes = torch.zeros(2, dtype=torch.int64, device=self.device)
        dist.broadcast(sizes, source)
        header, payload = (torch.empty(size, dtype=torch.uint8) for size in sizes.tolist())
        self._broadcast(header, source)
        self._broadcast(payload, source)
        meta, tree, described = json.loads(bytes(memory_of(header)))
        data, blobs, begin = memory_of(payload), [], 0
        for dtype, shape, size in described:
            blobs.append(Blob(dtype, tuple(shape), data[begin : begin + size], payload))
            begin += size
        return meta, tree, blobs

    def _broadcast(self, flat, source):
        for begin in range(0, flat.numel(), _CHUNK_BYTES):
            part = flat[begin : begin + _CHUNK_BYTES]
            if self.device.type == "cpu":
                dist.broadcast(part, source)
            else:
                on_device = part.to(self.device)
                dist.broadcast(on_device, source)
                part.copy_(on_device)


def _choose_interface(backend, address):
    """gloo listens where the host's name resolves to, which need not be where the others are."""
    if backend != "gloo" or os.environ.get("GLOO_SOCKET_IFNAME"):
        return
    own = _sockets.own_address(address)
    name = own and _sockets.interface_of(own)
    if name:
        os.environ["GLOO_SOCKET_IFNAME"] = name
