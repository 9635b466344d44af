"""One worker's side of an elastic run."""

import atexit
import os
import threading
import time

import torch
import torch.distributed as dist

from . import _control, _saver, _tensors
from ._agent import Agent, NoAgent
from ._control import Control
from ._group import Group, is_failure_of_group
from ._interval import Interval
from ._loader import make_loader
from ._log import log
from ._position import Position
from ._replica import Replica, guard_optimizer, guard_scheduler
from ._state import State
from ._waker import Waker

_SILENCE_SECONDS = 600
_FORM_PATIENCE_SECONDS = 2.0
_SERVICE_PATIENCE_SECONDS = 120.0


class Run:
    """Made by `join`. See docs/training-library.md. `on_commit(position)` is called after each committed step, if set."""

    def __init__(self, model, optimizers, schedulers, extra, values, backend, seed, ddp, save_every, save_dir, environment):
        self._environment, self.seed = environment, seed
        self._device = next((p.device for p in model.parameters()), torch.device("cpu"))
        self._backend = backend or ("nccl" if self._device.type == "cuda" else "gloo")
        self._state = State(model, optimizers, schedulers, extra, values)
        self._fresh = True  # nothing was trained or loaded here yet
        self.model = Replica(model, ddp, self._failed, lambda: self._control.broken)
        self._group, self._hosting = None, None
        self._rounds, self._epoch_wanted, self._skipping = 0, 0, False
        self._epochs = None  # of the whole training, when the program has told
        self._open = None  # the share of the step in progress
        self._first_of_round = True
        self.on_commit = None
        self._loss, self._told, self._told_step, self._step_seconds, self._committed_at = None, 0.0, 0, None, None
        self._told_samples = 0
        self.local_rank = int(environment.get("LATTICE_LOCAL_RANK") or environment.get("LOCAL_RANK") or 0)
        self._control = Control()
        for optimizer in optimizers:
            guard_optimizer(optimizer, self._may_change)
        for scheduler in schedulers:
            guard_scheduler(scheduler, self._may_change)
        tiers = _saver.tiers_of(environment, save_dir, self.local_rank)
        self._saver = _saver.Saver(
            tiers,
            lambda step, tier, id_: self._agent.send("saved", step=step, tier=tier, id=str(id_ or step)),
            lambda step, tier, error: self._agent.send("unsaved", step=step, tier=tier, message=str(error)[:500]),
        )
        mtbf = float(environment.get("LATTICE_MTBF_SECONDS") or 30 * 86400)
        self._interval = Interval(environment.get("LATTICE_SAVE_EVERY") or save_every, time.monotonic(), mtbf)
        self._saved = _saver.newest_of(tiers)
        self._connect()

    # -- what a program uses

    @property
    def rank(self):
        return self._group.rank

    @property
    def world_size(self):
        return self._group.world

    @property
    def generation(self):
        return self._group.generation

    @property
    def position(self):
        return self._state.position

    @property
    def step(self):
        """Committed steps."""
        return self._state.position.step

    @property
    def values(self):
        """A dict of the program's own that is saved and sent with the state: numbers, texts, tensors, lists, dicts."""
        return self._state.values

    @property
    def intact(self):
        """False: the step in progress has failed and will be repeated."""
        return not self._control.broken

    def loader(self, dataset, batch_size, *, per_worker=False, shuffle=True, drop_last=False, seed=None, **options):
        """Batches of this worker. `batch_size` counts the samples of all workers; with per_worker=True of each one.

        Other options are those of torch.utils.data.DataLoader.
        """
        found = make_loader(self, dataset, batch_size, per_worker, shuffle, drop_last, self.seed if seed is None else seed, options)
        known, mine = self._state.loader, {"samples": len(dataset), "seed": self.seed if seed is None else seed}
        if known and known != mine:
            raise ValueError(f"the state was saved with {known['samples']} samples and seed {known['seed']}, this loader has {mine['samples']} and {mine['seed']}")
        self._state.loader = mine
        return found

    def epochs(self, count):
        """The epochs that are left; reports the end of the training after the last one."""
        self._epochs = count
        epoch = self._state.position.epoch
        while epoch < count:
            self._epoch_wanted = epoch
            yield epoch
            epoch = max(epoch + 1, self._state.position.epoch)
        self.finish()

    def backward(self, loss):
        """As `loss.backward()`, for a mean over this worker's samples. Gradients become those of the mean over the whole step."""
        if self._control.broken:
            return
        self._loss = loss.detach()
        weight = self._open.weight if self._open is not None else 1.0
        try:
            (loss if weight == 1.0 else loss * weight).backward()
        except RuntimeError as error:
            if not is_failure_of_group(error):
                raise
            self._failed(error)

    def mean(self, value):
        """The mean of a number over all workers; this worker's own when the group has failed."""
        tensor = torch.as_tensor(value, dtype=torch.float64).detach().to(self._group.device).reshape(1)
        if self._group.world > 1 and not self._control.broken:
            try:
                dist.all_reduce(tensor)
                tensor /= self._group.world
            except RuntimeError as error:
                if not is_failure_of_group(error):
                    raise
                self._failed(error)
        return float(tensor)

    def report(self, loss=None):
        """For the job's status; sent at most once a second."""
        if loss is not None:
            self._loss = loss.detach() if isinstance(loss, torch.Tensor) else loss

    def save(self):
        """Copies the last committed state now; it is written beside training."""
        self._save(time.monotonic())

    def finish(self):
        """The training is complete. Waits until every worker is there, so that nobody ends with the last step in its hands."""
        self._end_step()
        while self._has_agent:
            if self._control.boundary() != _control.GO:
                self._leave()
                continue
            self._control.commit(self.step)
            self.mean(0.0)
            if not self._control.broken:
                break
        self._control.finished = True
        self._agent.send("done", step=self.step)

    # -- steps, called by the loader

    def _enter_epoch(self, epoch):
        position = self._state.position
        if epoch > position.epoch:
            # Work of the program between two epochs belongs to the new one.
            self._state.commit(Position(position.step, epoch, 0))
            self._control.commit(position.step)
        self._skipping = epoch < position.epoch

    def _skip_until_epoch(self):
        """The others are in a later epoch: this program catches up, and what it does on the way is already part of the state."""
        self._cancel_step()
        self._skipping = True

    def _may_change(self):
        if self._skipping or (self._control.broken and not self._control.dirty):
            return False
        self._control.dirty = True
        return True

    def _begin_step(self):
        while self._control.boundary() != _control.GO:
            self._leave()

    def _cancel_step(self):
        self._control.commit(self.step)
        self._open = None

    def _share(self, share):
        self._open = share

    def _end_step(self):
        """Commits the step in progress, if there is one and its group held."""
        share, self._open = self._open, None
        if share is None:
            return
        if self._control.broken and not self._control.dirty:
            return
        self._state.commit(self._state.position.after(share.step_samples))
        self._control.commit(self.step)
        self._fresh = False
        if self.on_commit is not None:
            self.on_commit(self.position)
        now = time.monotonic()
        self._tell(now, share)
        if self._control.take_save() or (not self._saver.busy and self._interval.due(now, self._group.world)):
            self._save(now)

    def _tell(self, now, share):
        if self._first_of_round:
            self._first_of_round = False
            self._agent.send("running", generation=self.generation, step=self.step)
        elif self._committed_at is not None:
            took = now - self._committed_at
            self._step_seconds = took if self._step_seconds is None else 0.9 * self._step_seconds + 0.1 * took
        self._committed_at = now
        self._told_samples += share.step_samples
        if now - self._told >= 1.0 and self._step_seconds is not None:
            rate = self._told_samples / (now - self._told) if self._told else None
            loss = self._loss.mean().item() if isinstance(self._loss, torch.Tensor) else self._loss
            self._agent.send(
                "progress", step=self.step, samplesPerSecond=rate, stepSeconds=self._step_seconds, loss=loss, remainingSamples=self._remaining_samples()
            )
            self._told, self._told_samples = now, 0

    def _remaining_samples(self):
        """None: unknown, because the program has an end of its own."""
        if self._epochs is None or not self._state.loader:
            return None
        return self._state.position.remaining(self._epochs, self._state.loader["samples"])

    def _failed(self, error):
        if not self._has_agent:
            raise error
        if self._control.dirty and self._open is not None:
            raise RuntimeError("the group failed after parameters had changed; call all optimizers after the last backward of a step") from error
        log(f"step {self.step + 1} failed in generation {self.generation}, it will be repeated: {str(error).splitlines()[0][:200]}")
        self._control.fail()

    # -- saving

    def _save(self, began):
        if not self._saver.tiers or (self.local_rank != 0 and self.rank != 0):
            self._interval.last = began
            return
        meta, tree, blobs = self._state.committed()
        blobs = _tensors.clone_blobs(blobs)
        now = time.monotonic()
        self._interval.saved(now, now - began)
        self._saver.save(self.generation, self.world_size, self.rank == 0, meta, tree, blobs)

    def _rescue(self):
        """Called by the waker: the main thread hangs, the parameters are those of the last committed step."""
        generation, world = self._control.group, self._control.world
        self._saver.write(generation, world, False, *self._state.committed(), only="memory")
        log(f"step {self.step} was saved to memory")

    # -- membership

    def _connect(self):
        path = self._environment.get("LATTICE_AGENT_SOCKET")
        self._has_agent = bool(path)
        if not path:
            self._agent = NoAgent()
            self._form_alone()
            return
        self._agent = Agent(path, self._on_message, self._control.close)
        Waker(self._control, lambda: self._group, lambda: self._step_seconds or 0.0, self._rescue).start()
        self._agent.start(self.local_rank)
        atexit.register(self._at_exit)
        self._follow_orders()

    def _form_alone(self):
        self._group = self._new_group()
        if int(self._environment.get("WORLD_SIZE") or 1) > 1:
            self._group.form_by_environment()
        else:
            self._group.form({"generation": 0, "rank": 0, "worldSize": 1, "masterAddress": "127.0.0.1", "masterPort": 0})
        self._share_state()
        self.model.parallelize(self._group.world)
        self._rounds += 1

    def _on_message(self, message):
        if self._control.finished and message["type"] == "notice":
            self._agent.send("done", step=self.step)
            return
        self._vote(self._control.receive(message))
        if message["type"] == "notice" and self._control.forming:
            timer = threading.Timer(_FORM_PATIENCE_SECONDS, self._control.give_up_forming, (message["generation"],))
            timer.daemon = True
            timer.start()

    def _vote(self, vote):
        if vote is not None:
            threading.Thread(target=self._agree, args=vote, name="lattice-vote", daemon=True).start()

    def _agree(self, generation, vote, patience):
        group = self._group
        self._control.agreed(generation, group.agree(generation, vote, patience) if group is not None else None)

    def _leave(self):
        """Out of this group, into the next one."""
        control = self._control
        broken = control.broken
        if control.closed:
            self._end("the agent is gone")
        self._close_group(broken)
        if broken:
            self._state.rewind()
        self._follow_orders()

    def _close_group(self, broken):
        self.model.release()
        if self._group is not None:
            self._group.close(broken)
        self._control.left()
        self._hosting = None

    def _follow_orders(self):
        while True:
            order = self._control.next_order(_SILENCE_SECONDS)
            if order is None:
                self._end("the agent is gone" if self._control.closed else f"no order of the agent for {_SILENCE_SECONDS} s")
            if order["type"] == "notice":
                if not order["stay"]:
                    self._end(None)
                self._agent.send("ready", generation=order["generation"], step=max(self.step, self._saved[0] if self._fresh and self._saved else 0))
            elif order["type"] == "host":
                self._hosting = self._new_group()
                self._agent.send("hosting", generation=order["generation"], port=self._hosting.listen())
            elif self._form(order):
                return

    def _new_group(self):
        return Group(self._backend, self._device if self._backend == "nccl" else torch.device("cpu"))

    def _form(self, order):
        hosted, self._hosting = self._hosting, None
        if not self._control.begin_forming(order["generation"], order["worldSize"]):
            return False
        self._group = hosted or self._new_group()
        try:
            self._group.form(order)
            self._share_state()
            self.model.parallelize(self._group.world)
        except (RuntimeError, ValueError) as error:
            if isinstance(error, ValueError) or not (is_failure_of_group(error) or self._control.broken):
                raise
            log(f"the group of generation {order['generation']} was not formed: {str(error).splitlines()[0][:200]}")
            self._control.fail()
        if not self._control.formed():
            self._close_group(True)
            return False
        self._vote(self._control.late_vote())
        self._rounds += 1
        self._first_of_round, self._committed_at = True, None
        return True

    def _share_state(self):
        """Everybody gets the state of the member that is furthest; a saved state counts as what it was saved at."""
        claims = self._claims()
        if self._saver.remote:
            self._look_for_saved(claims)
            claims = self._claims()
        while True:
            source = max(range(len(claims)), key=lambda rank: (claims[rank][:3], -claims[rank][3], -rank))
            if claims[source][4] == 0:
                break
            if self.rank == source and not self._load_saved():
                self._saved = None
            claims = self._claims()
        needed = any(claim[3] or claim[:3] != claims[source][:3] for claim in claims)
        if not needed or self._group.world == 1:
            return
        if self.rank == source:
            self._group.send_state(*self._state.committed())
        else:
            found = self._group.receive_state(source)
            if self._fresh or claims[self.rank][:3] != claims[source][:3]:
                self._state.adopt(*found, with_random=False)
                if self._fresh:
                    _tensors.seed_random(self.seed, self.generation, self.rank)
                    self._state.commit(self._state.position)
        self._saved, self._fresh = None, False

    def _claims(self):
        """[step, epoch, offset, nothing was trained or loaded here yet, the step is a saved one] of each member."""
        saved = self._saved[0] if self._saved else -1
        position = self._state.position
        return self._group.gather_numbers([max(saved, position.step), position.epoch, position.offset, int(self._fresh), int(saved > position.step)])

    def _look_for_saved(self, claims):
        """Members that are gone may have saved more than those that are left have.

        If nobody has trained yet, all look: a job that has saved never begins anew because the checkpoint service is down.
        """
        expected = int(self._environment.get("LATTICE_SAVED_STEP") or 0)
        try:
            if all(claim[3] for claim in claims):
                self._saved = _saver.newest_of(self._saver.tiers, expected, _SERVICE_PATIENCE_SECONDS, lambda: not self._control.broken)
            elif self.rank == 0:
                found = _saver.newest_of(self._saver.remote)
                self._saved = found if found and found[0] > max(claim[0] for claim in claims) else self._saved
        except _saver.Silent as error:
            if not self._control.broken:
                log(f"step {expected} was saved and cannot be loaded: {error}")
                raise SystemExit(143) from None

    def _load_saved(self):
        try:
            meta, tree, blobs = self._saved[1]()
            self._state.adopt(meta, tree, blobs, with_random=True)
        except Exception as error:
            log(f"the state of step {self._saved[0]} is not usable: {error}")
            return False
        log(f"continuing from step {self.step}, which was saved")
        self._saved, self._fresh = None, False
        return True

    def _end(self, why):
        """By notice, or because nobody is left to answer."""
        if why:
            log(f"{why}; ending after step {self.step}")
        self._close_group(True)
        if self._saver.tiers and not self._fresh and self.local_rank == 0:
            # When all members end, the first one saves for everybody.
            meta, tree, blobs = self._state.committed()
            self._saver.save(self._control.newest, 1, self.rank == 0, meta, tree, blobs)
            self._saver.wait(max(20.0, float(self._environment.get("LATTICE_GRACE_SECONDS") or 0) - 10))
        self._control.finished = True
        self._agent.send("left", step=self.step)
        raise SystemExit(0 if not why else 143)

    def _at_exit(self):
        self._saver.wait(20)
        if dist.is_initialized():
            self.model.release()
            dist.destroy_process_group()
