"""A client of the checkpoint service (docs/checkpoints.md): one part, `state`, which holds a file of _state_file."""

import http.client
import json
import select
import time
import zlib

from . import _state_file

_TIMEOUT_SECONDS = 30
_BUCKET_SECONDS = 1800  # a commit that ends in a bucket
_LOOK_SECONDS = 0.1  # between two looks whether that commit is still wanted
_ASK_SECONDS = 2  # for answers without a checkpoint in them: a group may wait for them
_PART = "state"


class ServiceError(Exception):
    def __init__(self, status, reason, message):
        super().__init__(message or f"status {status}")
        self.status, self.reason = status, reason


def settings(text):
    """{"job_id": ..., "ckpt_service_endpoint": ...} of LATTICE_CHECKPOINT_CONFIG."""
    pairs = (part.partition("=") for part in text.split(",") if part.strip())
    return {key.strip(): value.strip() for key, _, value in pairs}


def about(environment):
    """The common part of every checkpoint of a pod's job."""
    found = {}
    if environment.get("LATTICE_JOB"):
        found["jobName"] = environment["LATTICE_JOB"]
    if environment.get("LATTICE_CHECKPOINT_KEEP"):
        found["keep"] = int(environment["LATTICE_CHECKPOINT_KEEP"])
    if environment.get("LATTICE_CHECKPOINT_TYPE") == "s3":
        found["bucket"] = True
    return found


class NotWanted(Exception):
    """The caller stopped waiting. The service goes on with the copy."""


class Service:
    """`about`: fields of every begin, such as jobName and keep. With `bucket` a save is followed by a copy to the bucket."""

    def __init__(self, host, port, namespace, job, token_file=None, about=None):
        self._where = host, port
        self._base = f"/v1/jobs/{namespace}/{job}"
        self._token_file, self._about = token_file, about or {}
        self.has_bucket = bool(self._about.get("bucket"))

    def latest(self):
        """The document of the newest committed checkpoint, or None."""
        path = "/latest?bucket=true" if self.has_bucket else "/latest"
        try:
            return json.loads(self._call("GET", path, timeout=_ASK_SECONDS))
        except ServiceError as error:
            if error.status == 404:
                return None
            raise

    def load(self, id_):
        return self._call("GET", f"/checkpoints/{id_}/parts/{_PART}", whole=True)

    def save(self, generation, world, meta, tree, blobs):
        """The id of the committed checkpoint."""
        size, parts = _state_file.pieces(meta, tree, blobs)
        crc = 0
        for chunk in _state_file.stream(parts):
            crc = zlib.crc32(chunk, crc)
        position = {"epoch": meta["epoch"], "offset": meta["offset"]}
        begin = {**self._about, "generation": generation, "step": meta["step"], "worldSize": world, "bytes": size, "metadata": position}
        document = json.loads(self._call("POST", "/checkpoints", json.dumps(begin).encode()))
        path = f"/checkpoints/{document['id']}"
        if document.get("state") != "COMMITTED":
            self._call("PUT", f"{path}/parts/{_PART}?offset=0&crc32={crc:08x}", _state_file.stream(parts), size)
            self._call("POST", f"{path}/commit", json.dumps({"parts": [{"name": _PART, "size": size}]}).encode())
        return document["id"]

    def copy(self, id_, is_wanted=lambda: True):
        """Returns when the bucket has the committed checkpoint. Raises NotWanted soon after `is_wanted()` has turned false."""
        until = time.monotonic() + _BUCKET_SECONDS

        def wait(socket):
            answered = select.poll()
            answered.register(socket, select.POLLIN)
            while not answered.poll(_LOOK_SECONDS * 1000):
                if not is_wanted():
                    raise NotWanted
                if time.monotonic() > until:
                    raise TimeoutError(f"the bucket did not have the checkpoint after {_BUCKET_SECONDS} s")

        self._call("POST", f"/checkpoints/{id_}/commit", b'{"bucket": true}', timeout=_ASK_SECONDS, wait=wait)

    def _call(self, method, path, body=None, size=None, whole=False, timeout=_TIMEOUT_SECONDS, wait=lambda socket: None):
        headers = {"Content-Type": "application/json"} if size is None else {"Content-Type": "application/octet-stream"}
        if body is not None:
            headers["Content-Length"] = str(len(body) if size is None else size)
        if self._token_file:
            # Tokens rotate.
            with open(self._token_file) as file:
                headers["Authorization"] = "Bearer " + file.read().strip()
        connection = http.client.HTTPConnection(*self._where, timeout=timeout)
        try:
            connection.request(method, self._base + path, body=body, headers=headers)
            wait(connection.sock)
            answer = connection.getresponse()
            data = bytearray(answer.read()) if whole else answer.read()
        except http.client.HTTPException as error:
            raise OSError(f"{type(error).__name__}: {error}") from None
        finally:
            connection.close()
        if answer.status >= 300:
            raise _error(answer.status, bytes(data))
        return data


def _error(status, data):
    try:
        found = json.loads(data)
        return ServiceError(status, found.get("reason", ""), found.get("message", ""))
    except (ValueError, AttributeError):
        return ServiceError(status, "", data[:200].decode("utf-8", "replace"))
