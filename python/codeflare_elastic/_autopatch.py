"""The addon: an unmodified DistributedDataParallel program is saved at optimizer steps and resumed in the middle of an epoch.

It follows what programs construct: models by DistributedDataParallel, optimizers, learning-rate schedulers, and the DataLoader over a
DistributedSampler during whose loop optimizers step. A restarted program passes complete epochs without a batch and continues in the next.
"""

import functools
import importlib.abc
import importlib.util
import os
import signal
import socket
import sys
import threading
import time
import types

from ._log import log, log_once
from ._remaining import consumed_after, remaining


_followers = []


def stand_down():
    """The program uses the library itself, which does more."""
    for follower in _followers:
        follower.stand_down()


def install():
    """Patches torch as soon as the program imports it."""
    sys.meta_path.insert(0, _AfterTorch())


class _AfterTorch(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec("torch")
        if spec is None or spec.loader is None:
            return spec
        original = spec.loader.exec_module

        def exec_module(module):
            original(module)
            try:
                patch(Follower(dict(os.environ)))
            except Exception as error:  # an unknown torch must not keep a program from running
                log(f"LATTICE_AUTOPATCH: torch is left alone: {type(error).__name__}: {error}")

        spec.loader.exec_module = exec_module
        return spec


def patch(follower):
    _followers.append(follower)
    import torch.optim.lr_scheduler as lr_scheduler
    from torch.nn.parallel import DistributedDataParallel
    from torch.optim import Optimizer
    from torch.utils.data import DataLoader, DistributedSampler

    def before(owner, name, function):
        original = getattr(owner, name)

        @functools.wraps(original)
        def wrapper(self, *args, **kwargs):
            function(self, *args, **kwargs)
            return original(self, *args, **kwargs)

        setattr(owner, name, wrapper)

    def after(owner, name, function):
        original = getattr(owner, name)

        @functools.wraps(original)
        def wrapper(self, *args, **kwargs):
            original(self, *args, **kwargs)
            function(self)

        setattr(owner, name, wrapper)

    before(DistributedDataParallel, "__init__", lambda self, module, *args, **kwargs: follower.add_model(module))
    after(Optimizer, "__init__", follower.add_optimizer)
    after(getattr(lr_scheduler, "LRScheduler", None) or lr_scheduler._LRScheduler, "__init__", follower.add_scheduler)
    iterate = DataLoader.__iter__
    DataLoader.__iter__ = lambda self: follower.iterate(self, iterate)
    draw = DistributedSampler.__iter__
    DistributedSampler.__iter__ = lambda self: follower.draw(self, draw)


class Follower:
    def __init__(self, environment):
        self._environment = environment
        self.models, self.optimizers, self.schedulers, self.loaders = [], [], [], []
        self.step = 0
        self.where = None  # {"loader", "iteration", "consumed"} after the last optimizer step
        self._iterations = {}  # index of a loader -> loops begun
        self._now = None  # the loop in progress: loader, iteration, consumed before it, batches given out
        self._resume, self._asked = None, False
        self._stepping = threading.Lock()
        self._saver, self._saved_at = None, 0.0
        self._every = environment.get("LATTICE_SAVE_EVERY", "1")
        self._off, self._listens = False, False
        self._skips = {}  # id of a sampler -> (consumed, batch)

    def stand_down(self):
        self._off = True
        if self._listens:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

    # -- what a program constructs

    def add_model(self, module):
        if all(module is not known for known in self.models):
            self.models.append(module)

    def add_optimizer(self, optimizer):
        self.optimizers.append(optimizer)
        original = optimizer.step

        def step(self_, *args, **kwargs):
            if self._off:
                return original(*args, **kwargs)
            with self._stepping:
                found = original(*args, **kwargs)
                self._committed(optimizer)
            self._save_if_due()
            return found

        step.__dict__.update(getattr(original, "__dict__", {}))
        step.__wrapped__ = original
        optimizer.step = types.MethodType(step, optimizer)
        if self._saver is None:
            self._start_saving()

    def add_scheduler(self, scheduler):
        self.schedulers.append(scheduler)

    # -- data

    def iterate(self, loader, original):
        from torch.utils.data import DistributedSampler, IterableDataset

        if self._off:
            return original(loader)
        if not isinstance(loader.sampler, DistributedSampler) or loader.batch_size is None or isinstance(loader.dataset, IterableDataset):
            return self._unfollowed(loader, original(loader))
        if all(loader is not known for known in self.loaders):
            self.loaders.append(loader)
        index = next(i for i, known in enumerate(self.loaders) if known is loader)
        iteration = self._iterations.get(index, 0)
        self._iterations[index] = iteration + 1
        self._ask()
        consumed = 0
        if self._resume is not None and self._resume[0]["where"]["loader"] == index:
            where = self._resume[0]["where"]
            if iteration < where["iteration"]:
                return iter(())
            consumed = where["consumed"]
            self._restore()
            if consumed >= len(loader.dataset):
                return iter(())
            self._skips[id(loader.sampler)] = consumed, loader.batch_size
        return self._count(loader, index, iteration, consumed, original(loader))

    def _unfollowed(self, loader, iterator):
        for batch in iterator:
            self._now = ["other", loader]
            yield batch
        self._now = None

    def _count(self, loader, index, iteration, consumed, iterator):
        batches = 0
        for batch in iterator:
            batches += 1
            self._now = [index, iteration, consumed, batches, loader.batch_size, loader.sampler.num_replicas, len(loader.dataset)]
            yield batch
        self._now = None

    def draw(self, sampler, original):
        consumed, batch = self._skips.pop(id(sampler), (0, 0))
        if not consumed:
            return original(sampler)
        import torch

        order = list(range(len(sampler.dataset)))
        if sampler.shuffle:
            generator = torch.Generator()
            generator.manual_seed(sampler.seed + sampler.epoch)
            order = torch.randperm(len(order), generator=generator).tolist()
        return iter(remaining(order, consumed, batch, sampler.num_replicas, sampler.rank))

    def _committed(self, optimizer):
        """With the lock: parameters and position change together."""
        if optimizer is not self.optimizers[-1] and len(self.optimizers) > 1:
            return  # the optimizer that was made last ends a step
        now = self._now
        if now is None or now[0] == "other":
            what = "outside of a loop over a DataLoader" if now is None else "in a loop over a DataLoader without a DistributedSampler or with an iterable dataset"
            log_once(f"LATTICE_AUTOPATCH: an optimizer steps {what}: the position in the data is not followed, nothing is saved")
            self.where = None
            return
        index, iteration, consumed, batches, batch, world, samples = now
        if self.where is not None and self.where["loader"] != index:
            log_once("LATTICE_AUTOPATCH: several DataLoaders train: only the position in the last one is followed")
        self.step += 1
        self.where = {"loader": index, "iteration": iteration, "consumed": consumed_after(consumed, batches, batch, world, samples)}

    # -- state

    def _start_saving(self):
        from . import _saver

        rank = int(self._environment.get("LOCAL_RANK") or 0)
        tiers = _saver.tiers_of(self._environment, None, rank)
        self._saver = _saver.Saver(tiers, lambda step, tier, id_: None)
        if not tiers:
            log_once("LATTICE_AUTOPATCH: neither LATTICE_STATE_DIR nor a checkpoint service is set: nothing is saved")
            return
        if threading.current_thread() is threading.main_thread():
            self._listen_for_notice()

    def _listen_for_notice(self):
        """The main thread may hang in a collective, so a thread of its own learns of SIGTERM."""
        self._listens = True
        reader, writer = socket.socketpair()
        writer.setblocking(False)
        previous = signal.getsignal(signal.SIGTERM)
        signal.signal(signal.SIGTERM, previous if callable(previous) else lambda *_: None)
        signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        os.register_at_fork(after_in_child=lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL))

        def wait():
            owner = writer  # closed with this thread
            while owner.fileno() >= 0:
                if signal.SIGTERM in reader.recv(64):
                    self._leave()

        threading.Thread(target=wait, name="lattice-notice", daemon=True).start()

    def _leave(self):
        with self._stepping:  # never released: no further step
            if self.where is not None:
                meta, tree, blobs = self._state()
                self._saver.wait(10)
                self._saver.write(self._generation(), self._world(), self._is_first(), meta, tree, blobs)
                log(f"LATTICE_AUTOPATCH: step {self.step} was saved, ending")
            os._exit(143)

    def _state(self):
        from . import _tensors, _tree

        value = {name: [one.state_dict() for one in getattr(self, name)] for name in ("models", "optimizers", "schedulers")}
        skipped = []
        tree, blobs = _tree.encode(value, _tensors.to_blob, skipped)
        for path in skipped:
            log_once(f"LATTICE_AUTOPATCH: {path} is not saved")
        return {"step": self.step, "epoch": self.where["iteration"], "offset": self.where["consumed"], "where": self.where}, tree, blobs

    def _save_if_due(self):
        from . import _tensors

        now = time.monotonic()
        if self.where is None or self._saver is None or not self._saver.tiers or self._saver.busy or now - self._saved_at < float(self._every):
            return
        self._saved_at = now
        if self._environment.get("LOCAL_RANK", "0") == "0":
            meta, tree, blobs = self._state()
            self._saver.save(self._generation(), self._world(), self._is_first(), meta, tree, _tensors.clone_blobs(blobs))

    def _generation(self):
        return int(self._environment.get("LATTICE_GENERATION") or 0)

    def _world(self):
        return int(self._environment.get("WORLD_SIZE") or 1)

    def _is_first(self):
        return self._environment.get("RANK", "0") == "0"

    def _ask(self):
        """Once, in the first loop of the program: who has the newest state?"""
        if self._asked:
            return
        self._asked = True
        import torch
        import torch.distributed as dist

        from . import _saver
        from ._group import Group

        found = _saver.newest_of(self._saver.tiers) if self._saver is not None else None
        loaded = None
        if found:
            try:
                loaded = found[1]()
            except (OSError, ValueError) as error:
                log(f"LATTICE_AUTOPATCH: the state of step {found[0]} is not usable: {error}")
        if dist.is_initialized() and dist.get_world_size() > 1:
            on_gpu = dist.get_backend() == "nccl"
            group = Group(dist.get_backend(), torch.device("cuda", torch.cuda.current_device()) if on_gpu else torch.device("cpu"))
            group.rank, group.world = dist.get_rank(), dist.get_world_size()
            claims = [claim[0] for claim in group.gather_numbers([loaded[0]["step"] if loaded else -1])]
            source = claims.index(max(claims))
            if claims[source] < 0:
                return
            if group.rank == source:
                group.send_state(*loaded)
            else:
                loaded = group.receive_state(source)
        self._resume = loaded

    def _restore(self):
        from . import _tensors, _tree

        meta, tree, blobs = self._resume
        self._resume = None
        value = _tree.decode(tree, blobs, _tensors.from_blob)
        for name in ("models", "optimizers", "schedulers"):
            mine = getattr(self, name)
            if len(mine) != len(value[name]):
                log_once(f"LATTICE_AUTOPATCH: {len(value[name])} {name} were saved, the program has {len(mine)}: only the first ones are restored")
            for one, state in zip(mine, value[name]):
                one.load_state_dict(state)
        self.step, self.where = meta["step"], meta["where"]
        log(f"LATTICE_AUTOPATCH: continuing after step {self.step}")
