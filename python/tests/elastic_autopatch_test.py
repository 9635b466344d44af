#!/usr/bin/env python3
"""LATTICE_AUTOPATCH=torch with real torch: an unmodified program is stopped with notice, resized, killed and resumed in mid-epoch."""

import collections
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "elastic"), str(HERE.parent)]

from codeflare_elastic._remaining import consumed_after, remaining  # noqa: E402
from journal import Journal  # noqa: E402
from scripted_agent import abort_all, python  # noqa: E402

PATIENCE_SECONDS = 90
SAMPLES, EPOCHS = 240, 4
PATHS = os.pathsep.join([str(HERE.parent / "codeflare_elastic/autopatch"), str(HERE.parent)])


class Remaining(unittest.TestCase):
    def test_every_index_that_is_left_comes_once_and_ranks_have_equal_batches(self):
        order = list(range(100))
        for consumed in range(0, 97):
            for batch, world in ((4, 2), (4, 3), (1, 4), (7, 3)):
                shares = [remaining(order, consumed, batch, world, rank) for rank in range(world)]
                self.assertEqual(len({-(-len(one) // batch) for one in shares}), 1)
                if (100 - consumed) % (batch * world) == 0 or (100 - consumed) % (batch * world) >= world:
                    self.assertEqual(sorted(i for one in shares for i in one), order[consumed:])

    def test_steps_of_another_world_are_a_prefix_of_the_order(self):
        order = list(range(100))
        shares = [remaining(order, 12, 4, 3, rank) for rank in range(3)]
        used = {i for one in shares for i in one[: 2 * 4]}
        self.assertEqual(used, set(range(12, consumed_after(12, 2, 4, 3, 100))))


class Unmodified(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.life, self.workers = 0, {}
        self.addCleanup(lambda: [self.end(worker) for worker in self.workers.values()])

    def end(self, worker):
        if worker.poll() is None:
            worker.kill()
        worker.wait()

    def start(self, members):
        """As an agent starts plain processes: torchrun's environment, a folder per pod that outlives them."""
        self.life += 1
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
        for rank, member in enumerate(members):
            state = self.scratch / f"state-{member}"
            state.mkdir(exist_ok=True)
            variables = {"RANK": rank, "WORLD_SIZE": len(members), "LOCAL_RANK": 0, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "LIFE": self.life}
            variables.update(LATTICE_AUTOPATCH="torch", LATTICE_STATE_DIR=state, PYTHONPATH=PATHS, PYTHONDONTWRITEBYTECODE=1, PYTHONFAULTHANDLER=1, GLOO_SOCKET_IFNAME="lo")
            with open(self.scratch / f"log-{member}", "ab") as output:
                command = [python(), str(HERE / "elastic/unmodified.py"), str(self.scratch)]
                self.workers[member] = subprocess.Popen(command, env={**os.environ, **{k: str(v) for k, v in variables.items()}}, stdout=output, stderr=output)

    def stacks(self):
        """The logs with the Python stacks of all threads; the workers end."""
        abort_all(worker for worker in self.workers.values() if worker.poll() is None)
        return self.logs(20000)

    def wait(self, member):
        try:
            return self.workers[member].wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            return self.fail(f"worker {member} does not end within {PATIENCE_SECONDS} s\n{self.stacks()}")

    def logs(self, size=3000):
        return "\n".join(f"--- {path.name}\n{path.read_text(errors='replace')[-size:]}" for path in sorted(self.scratch.glob("log-*")))

    def newest(self):
        """(life, step) that was begun last."""
        return max(Journal(self.scratch).fetched, default=(0, 0))

    def wait_for_steps(self, count):
        deadline = time.monotonic() + PATIENCE_SECONDS
        begun = None
        while True:
            life, step = self.newest()
            if life == self.life:
                begun = step if begun is None else begun
                if step >= begun + count:
                    return
            if time.monotonic() > deadline:
                self.fail(f"{count} steps of life {self.life} not within {PATIENCE_SECONDS} s\n{self.stacks()}")
            time.sleep(0.02)

    def notice(self, members, codes=(143,)):
        for member in members:
            self.workers[member].send_signal(signal.SIGTERM)
        for member in members:
            self.assertIn(self.wait(member), codes, self.logs())

    def test_no_index_is_committed_twice_or_missing(self):
        self.start([0, 1])
        self.wait_for_steps(10)
        self.notice([0, 1])
        self.start([0, 1, 2])
        self.wait_for_steps(25)  # into the next epoch
        self.workers[0].kill()
        self.workers[0].wait()
        # The lost peer may end the program with an error before the notice comes, or while the interpreter ends (-15).
        self.notice([1, 2], codes=(143, 1, -signal.SIGTERM))
        self.start([1, 2])
        for member in (1, 2):
            self.assertEqual(self.wait(member), 0, self.logs())
        self.check()

    def check(self):
        fetched = Journal(self.scratch).fetched
        lives = {}
        for life, step in fetched:
            lives[step] = max(life, lives.get(step, 0))
        self.assertEqual(sorted(lives), list(range(1, len(lives) + 1)), self.logs())
        self.assertEqual(set(lives.values()), {1, 2, 3})
        seen = collections.defaultdict(collections.Counter)
        for step, life in lives.items():
            for epoch, indices in fetched[life, step]:
                seen[epoch].update(indices)
        for epoch in range(EPOCHS):
            self.assertEqual({i: n for i, n in seen[epoch].items() if n != 1}, {}, f"epoch {epoch}\n{self.logs()}")
            self.assertEqual(len(seen[epoch]), SAMPLES, f"epoch {epoch}")
        self.assertIn("end 4 0.000625", (self.scratch / "log-1").read_text())


if __name__ == "__main__":
    unittest.main()
