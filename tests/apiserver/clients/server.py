"""A `codeflare apiserver` in a folder of its own, for tests that talk to it through a client library."""

import contextlib
import re
import signal
import subprocess
import tempfile
import time
from pathlib import Path

PATIENCE_SECONDS = 60


def eventually(claim, what, seconds=PATIENCE_SECONDS):
    """Waits for a condition of another process; there is nothing to subscribe to."""
    deadline = time.monotonic() + seconds
    while True:
        result = claim()
        if result:
            return result
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what() if callable(what) else what}")
        time.sleep(0.05)


class Server:
    def __init__(self, program, folder, *arguments):
        self.program = Path(program).resolve()
        self.folder = Path(folder)
        self.data = self.folder / "data"
        self.log = self.folder / "server.log"
        self.kubeconfig = str(self.data / "admin.kubeconfig")
        self.arguments = arguments
        self.port = 0
        self.start()

    def start(self):
        """The first start takes a free port, every later one the same port: clients come back to where they were."""
        command = [self.program, "apiserver", "--data-dir", self.data, "--listen", f"127.0.0.1:{self.port}", *self.arguments]
        with self.log.open("a") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        line = self.process.stdout.readline()
        ready = re.fullmatch(r"ready https://127\.0\.0\.1:(\d+) in \d+ ms\n", line)
        if not ready:
            self.end(signal.SIGKILL)
            raise AssertionError(f"the server did not start: {line!r}\n{self.log.read_text()[-2000:]}")
        self.port = int(ready[1])
        self.url = f"https://127.0.0.1:{self.port}"

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        try:
            code = self.process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"still there {PATIENCE_SECONDS} s after {number.name}") from None
        finally:
            self.process.stdout.close()
        return code

    def restart(self, number=signal.SIGTERM):
        self.end(number)
        self.start()


@contextlib.contextmanager
def running(program, *arguments):
    """A server on fresh data; at the end it must stop when asked to, cleanly."""
    with tempfile.TemporaryDirectory(prefix="codeflare-clients-") as folder:
        server = Server(program, folder, *arguments)
        try:
            yield server
        except BaseException:
            server.end(signal.SIGKILL)
            print(server.log.read_text()[-4000:])
            raise
        code = server.end()
        if code != 0:
            raise AssertionError(f"SIGTERM: exit code {code}\n{server.log.read_text()[-4000:]}")
