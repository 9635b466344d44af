"""Calls that go on in a thread of their own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from ._call import call
from .errors import CodeflareError

Self = TypeVar("Self", bound="Background")


class Background:
    """A call in a thread. Leaving the block ends it, and so does the end of the program."""

    def __init__(self, what: str, observer: Callable[[Any], None], **arguments: Any) -> None:
        self._left = threading.Event()
        self._error: CodeflareError | None = None
        self._thread = threading.Thread(target=self._run, args=(what, observer, arguments), name=f"codeflare {what}")

    def __enter__(self: Self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()
        self._thread.join()

    def leave(self) -> None:
        """Asks the call to end, without waiting for it."""
        self._left.set()

    def check(self) -> None:
        """Raises the error that ended the call, if one did."""
        if self._error is not None:
            raise self._error

    def ended(self) -> None:
        """Called in the thread when the call is over."""

    def _stopped(self) -> bool:
        return self._left.is_set() or not threading.main_thread().is_alive()

    def _run(self, what: str, observer: Callable[[Any], None], arguments: dict[str, Any]) -> None:
        try:
            call(what, observer=observer, stopped=self._stopped, **arguments)
        except CodeflareError as error:
            self._error = error
        self.ended()


class Tunnel(Background):
    """A port of a cluster's head on loopback: `dashboard.serve`, or `client.serve` for Ray clients."""

    def __init__(self, what: str = "dashboard.serve", **arguments: Any) -> None:
        self._known = threading.Event()
        self._url = ""
        super().__init__(what, self._opened, **arguments)

    def _opened(self, url: str) -> None:
        self._url = url
        self._known.set()

    def ended(self) -> None:
        self._known.set()

    def alive(self) -> bool:
        return self._thread.is_alive()

    def url(self) -> str:
        """Where the port is; raises the error when there is none."""
        self._known.wait()
        self.check()
        return self._url
