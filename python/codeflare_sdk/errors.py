"""Failures, as exceptions.

Every error of this package is a `CodeflareError` with `code`, `reason`, `object` and `hint`, and also what the SDK 0.12 raised
in the same place: FileNotFoundError, FileExistsError, PermissionError, TimeoutError or ValueError.
"""

from __future__ import annotations


class CodeflareError(Exception):
    """A request that failed.

    code: what may be done about it ("not_found", "permission_denied", "unavailable", ...)
    reason: the server's own word ("NotFound", "Forbidden"), or ""
    object: the object that it is about ("rayclusters/demo"), or ""
    hint: what to do, or ""
    """

    code: str
    reason: str
    object: str
    hint: str

    def __init__(self, message: str, code: str = "internal", reason: str = "", object: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.reason = reason
        self.object = object
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


class NotFoundError(CodeflareError, FileNotFoundError):
    """The object does not exist."""


class AlreadyExistsError(CodeflareError, FileExistsError):
    """The name is taken."""


class NotAllowedError(CodeflareError, PermissionError):
    """Not logged in, or without the right."""


class TimeUpError(CodeflareError, TimeoutError):
    """The time of a wait is up; nothing was undone."""


class InvalidError(CodeflareError, ValueError):
    """The request itself is wrong."""


class UnreachableError(CodeflareError, ConnectionError):
    """The server does not answer."""


_CLASSES: dict[str, type[CodeflareError]] = {
    "not_found": NotFoundError,
    "already_exists": AlreadyExistsError,
    "unauthenticated": NotAllowedError,
    "permission_denied": NotAllowedError,
    "deadline_exceeded": TimeUpError,
    "invalid_argument": InvalidError,
    "unavailable": UnreachableError,
}

_HINTS = {
    "unauthenticated": "log in with TokenAuthentication(...).login() or `codeflare login`",
    "permission_denied": "ask the administrator for the missing right",
}


def from_call(code: str, message: str, reason: str, kind: str, name: str, status: int) -> CodeflareError:
    """The exception for a failed call of `_core`."""
    del status
    about = f"{kind}/{name}" if kind and name else name
    hint = _HINTS.get(code, "")
    if not hint and not reason and "\n" not in message:
        # Sentences of `_core` itself: what is wrong; what to do.
        problem, mark, fix = message.partition("; ")
        message, hint = (problem, fix) if mark else (message, "")
    return _CLASSES.get(code, CodeflareError)(message, code, reason, about, hint)
