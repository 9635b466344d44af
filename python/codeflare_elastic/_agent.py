"""The connection to the agent: a Unix socket with one JSON object a line (docs/decisions/0014)."""

import os
import socket
import threading

from . import _messages
from ._log import log


class Agent:
    """Sends from any thread; a thread of its own reads. `on_message` and `on_close` are called on that thread."""

    def __init__(self, path, on_message, on_close):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.connect(path)
        self._sending = threading.Lock()
        self._on_message, self._on_close = on_message, on_close
        self._thread = threading.Thread(target=self._read, name="lattice-agent", daemon=True)

    def start(self, local_rank):
        self._thread.start()
        self.send("hello", version=_messages.VERSION, pid=os.getpid(), localRank=local_rank)

    def send(self, type_, **fields):
        """An agent that is gone is reported by `on_close`, not here."""
        with self._sending:
            try:
                self._socket.sendall(_messages.pack(type_, **fields))
            except OSError:
                pass

    def _read(self):
        lines = _messages.Lines()
        try:
            while True:
                data = self._socket.recv(65536)
                if not data:
                    break
                for line in lines.feed(data):
                    try:
                        message = _messages.parse(line)
                    except _messages.BadMessage as error:
                        log(f"ignoring a line of the agent: {error}")
                        continue
                    if message:
                        self._on_message(message)
        except (OSError, _messages.BadMessage) as error:
            log(f"connection to the agent: {error}")
        finally:
            self._on_close()


class NoAgent:
    """A process on its own: nobody asks for anything."""

    def start(self, local_rank):
        pass

    def send(self, type_, **fields):
        pass
