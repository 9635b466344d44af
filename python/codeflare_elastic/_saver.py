"""Saving beside training: memory, disk, checkpoint service, its bucket. A thread writes what the main thread has copied."""

import os
import threading
import time

from . import _service, _state_file
from ._log import log

_NAME = "state"
_BUCKET_SECONDS = 10  # that an end waits for the bucket
_REPORT_SECONDS = 1
_BEHIND = "the checkpoint service still copies the newest saves to the bucket"


class Folder:
    """One file: the newest state that was saved here."""

    def __init__(self, tier, path, sync):
        self.tier, self._path, self._sync = tier, os.path.join(path, _NAME), sync
        os.makedirs(path, exist_ok=True)

    def newest(self):
        """(step, how to load it) or None."""
        try:
            meta = _state_file.peek(self._path)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            log(f"{self._path}: {error}")
            return None
        return meta["step"], lambda: _state_file.read(self._path)

    def save(self, generation, world, meta, tree, blobs):
        _state_file.write(self._path, {**meta, "generation": generation}, tree, blobs, self._sync)


class Silent(Exception):
    """A tier that cannot say what it has."""


class Remote:
    tier = "service"

    def __init__(self, service):
        self._service = service

    def newest(self):
        try:
            document = self._service.latest()
        except (OSError, ValueError, _service.ServiceError) as error:
            raise Silent(f"checkpoint service: {error}") from None
        if document is None:
            return None
        return document["step"], lambda: _state_file.parse(self._service.load(document["id"]))

    def save(self, generation, world, meta, tree, blobs):
        return self._service.save(generation, world, meta, tree, blobs)

    @property
    def has_bucket(self):
        return self._service.has_bucket

    def copy(self, id_, is_wanted):
        self._service.copy(id_, is_wanted)


def tiers_of(environment, save_dir, local_rank):
    """By the variables of a pod. Workers of one pod share its folders, so one of them saves there."""
    found = []
    if environment.get("LATTICE_STATE_DIR"):
        found.append(Folder("memory", environment["LATTICE_STATE_DIR"], sync=False))
    kind = environment.get("LATTICE_CHECKPOINT_TYPE", "remote")
    config = _service.settings(environment.get("LATTICE_CHECKPOINT_CONFIG", ""))
    disk = save_dir or (config.get("root") if kind == "local" else None)
    if disk:
        found.append(Folder("disk", disk, sync=True))
    if kind in ("remote", "s3") and config.get("ckpt_service_endpoint"):
        port = int(config.get("ckpt_service_port", "5555"))
        service = _service.Service(
            config["ckpt_service_endpoint"],
            port,
            config.get("namespace", "default"),
            config.get("job_id", ""),
            environment.get("LATTICE_CHECKPOINT_TOKEN_FILE"),
            about=_service.about(environment),
        )
        found.append(Remote(service))
    return found


def newest_of(tiers, expected=0, patience_seconds=0.0, is_wanted=lambda: True, pause_seconds=1.0):
    """(step, how to load it) of the furthest tier; the first of equals. None when nothing was saved.

    `expected`: a step that is known to be saved. As long as less is found and a tier is silent, that tier is asked again, for
    `patience_seconds` and while `is_wanted()`; then Silent is raised. A tier that answers is believed.
    """
    until = time.monotonic() + patience_seconds
    while True:
        best, silent = None, None
        for tier in tiers:
            try:
                found = tier.newest()
            except Silent as error:
                silent = error
                continue
            if found and (best is None or found[0] > best[0]):
                best = found
        if silent is None or (best[0] if best else 0) >= expected:
            if silent:
                log(f"{silent}; training continues without it")
            return best
        if not is_wanted() or time.monotonic() >= until:
            raise silent
        time.sleep(pause_seconds)


class Saver:
    """`on_saved(step, tier, id)` and `on_unsaved(step, tier, error)` are called on the saving thread.

    A state is unsaved when the last tier that it goes to has failed. Memory does not count: it is lost with the pod.

    With a bucket a state is saved when the disk of the service has it, and saved again, in the tier `bucket`, when the bucket has
    it. Waiting for the bucket ends with the next save or the end: that state is then unsaved in the tier `bucket`.
    """

    def __init__(self, tiers, on_saved, on_unsaved=lambda step, tier, error: None):
        self.tiers, self._on_saved, self._on_unsaved = tiers, on_saved, on_unsaved
        self.remote = [tier for tier in tiers if tier.tier == "service"]
        self._changed = threading.Condition()
        self._job, self._busy = None, False
        self._ended = False  # nobody waits for the bucket any more
        self._copying = None  # (step, id) that the bucket does not have yet
        self._failing = {}  # tier -> reason that was reported
        self._fenced = 0  # generations up to this one may not save at the service
        self._thread = None

    @property
    def busy(self):
        """Not while only the bucket is waited for."""
        return self._busy or self._job is not None

    def save(self, generation, world, first, meta, tree, blobs):
        """Returns at once. The blobs must not change any more. `first`: this worker is the one that saves at the service."""
        with self._changed:
            self._job, self._ended = (generation, world, first, meta, tree, blobs), False
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="lattice-save", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def wait(self, seconds):
        """At the end: until what was saved is written, and a little for the bucket, to which the service goes on copying."""
        with self._changed:
            written = self._changed.wait_for(lambda: not self.busy, seconds)
            copied = written and self._changed.wait_for(lambda: self._copying is None, min(seconds, _BUCKET_SECONDS))
            if written and not copied:
                self._ended = True
                self._changed.wait_for(lambda: self._copying is None, _REPORT_SECONDS)
            return copied

    def _run(self):
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._job is not None)
                job, self._job, self._busy = self._job, None, True
            try:
                self._copying = self.write(*job)
            finally:
                generation, job = job[0], None  # the next save needs the memory
                with self._changed:
                    self._busy = False
                    self._changed.notify_all()
            if self._copying:
                try:
                    self._copy(generation, *self._copying)
                finally:
                    with self._changed:
                        self._copying = None
                        self._changed.notify_all()

    def _copy(self, generation, step, id_):
        try:
            self.remote[0].copy(id_, lambda: self._job is None and not self._ended)
        except _service.NotWanted:
            self._failed("bucket", generation, step, _BEHIND)
            self._on_unsaved(step, "bucket", _BEHIND)
        except (OSError, ValueError, _service.ServiceError) as error:
            self._failed("bucket", generation, step, error)
            self._on_unsaved(step, "bucket", error)
        else:
            self._succeeded("bucket", step, id_)

    def write(self, generation, world, first, meta, tree, blobs, only=None):
        """(step, id) of a checkpoint that belongs into the bucket too, or None."""
        copying = None
        for tier in self.tiers:
            if (only and tier.tier != only) or (tier.tier == "service" and (not first or generation <= self._fenced)):
                continue
            try:
                id_ = tier.save(generation, world, meta, tree, blobs)
            except (OSError, ValueError, _service.ServiceError) as error:
                self._failed(tier.tier, generation, meta["step"], error)
                # Another group trains in place of a rejected one.
                if tier is self.tiers[-1] and tier.tier != "memory" and not _is_fenced(error):
                    self._on_unsaved(meta["step"], tier.tier, error)
                continue
            self._succeeded(tier.tier, meta["step"], id_)
            if tier.tier == "service" and tier.has_bucket:
                copying = meta["step"], id_
        return copying

    def _succeeded(self, tier, step, id_):
        if self._failing.pop(tier, None):
            log(f"saving to {tier} works again, step {step}")
        self._on_saved(step, tier, id_)

    def _failed(self, tier, generation, step, error):
        if _is_fenced(error):
            self._fenced = max(self._fenced, generation)
        if self._failing.get(tier) != str(error):
            self._failing[tier] = str(error)
            log(f"step {step} was not saved to {tier}: {error}; training continues")


def _is_fenced(error):
    return getattr(error, "reason", "") == "OldGeneration"
