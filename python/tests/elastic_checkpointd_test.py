#!/usr/bin/env python3
"""The library's client against a real `codeflare checkpointd`."""

import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from codeflare_elastic import _saver, _tree  # noqa: E402
from codeflare_elastic._service import Service, ServiceError  # noqa: E402

PROGRAM = None
PATIENCE_SECONDS = 30


def state(step, size=3 << 20):
    return {"step": step, "epoch": 1, "offset": 12}, ["x", 0], [_tree.Blob("uint8", (size,), os.urandom(size))]


class Checkpointd(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        with socket.create_server(("127.0.0.1", 0)) as server:
            self.port = server.getsockname()[1]
        command = [PROGRAM, "checkpointd", "--data", str(self.folder / "data"), "--listen", f"127.0.0.1:{self.port}"]
        with open(self.folder / "log", "wb") as output:
            self.process = subprocess.Popen(command, stdout=output, stderr=output)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)
        self.wait_until_it_listens()
        self.token = self.folder / "token"
        key = ["--key-file", str(self.folder / "data/key"), "--namespace", "default", "--uid", "1111-2222"]
        answer = subprocess.run([PROGRAM, "checkpoint", "token", *key], capture_output=True, text=True, check=True)
        self.token.write_text(answer.stdout)

    def wait_until_it_listens(self):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                self.assertLess(time.monotonic(), deadline, (self.folder / "log").read_text())
                time.sleep(0.02)

    def service(self, job="1111-2222"):
        return Service("127.0.0.1", self.port, "default", job, str(self.token))

    def test_what_was_saved_is_the_newest_and_whole(self):
        remote = _saver.Remote(self.service())
        self.assertIsNone(remote.newest())
        for step in (7, 9):
            meta, tree, blobs = state(step)
            remote.save(1, 2, meta, tree, blobs)
        step, load = remote.newest()
        found, _, parts = load()
        self.assertEqual((step, found, bytes(parts[0].data)), (9, meta, blobs[0].data))

    def test_saving_again_changes_nothing_and_old_generations_are_rejected(self):
        service = self.service()
        about = state(7)
        self.assertEqual(service.save(5, 2, *about), service.save(5, 2, *about))
        with self.assertRaises(ServiceError) as caught:
            service.save(4, 2, *state(8))
        self.assertEqual((caught.exception.status, caught.exception.reason), (409, "OldGeneration"))
        self.assertEqual(service.latest()["step"], 7)

    def test_another_jobs_checkpoints_are_out_of_reach(self):
        with self.assertRaises(ServiceError) as caught:
            self.service("3333-4444").latest()
        self.assertEqual(caught.exception.status, 403)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
