"""Lines between a worker and its agent (docs/decisions/0014). Pure."""

import json
import math

VERSION = 1
_LINE_MAX = 1 << 20
# type -> fields that a worker needs
_FROM_AGENT = {
    "notice": ("generation", "reason", "stay"),
    "host": ("generation",),
    "round": ("generation", "rank", "worldSize", "masterAddress", "masterPort"),
    "save": (),
    "lost": ("generation",),
}


class BadMessage(ValueError):
    pass


def pack(type_, **fields):
    """One line. Numbers that JSON lacks are left out."""
    known = {key: value for key, value in fields.items() if not (isinstance(value, float) and not math.isfinite(value)) and value is not None}
    return json.dumps({"type": type_, **known}, separators=(",", ":")).encode() + b"\n"


def parse(line):
    """A message as a dict; None for types that a later version may have added."""
    try:
        found = json.loads(line)
    except ValueError as error:
        raise BadMessage(f"not JSON: {error}") from None
    if not isinstance(found, dict) or not isinstance(found.get("type"), str):
        raise BadMessage("a message is an object with a type")
    needed = _FROM_AGENT.get(found["type"])
    if needed is None:
        return None
    missing = [field for field in needed if field not in found]
    if missing:
        raise BadMessage(f"{found['type']} without {', '.join(missing)}")
    return found


class Lines:
    """Bytes in, whole lines out."""

    def __init__(self):
        self._rest = b""

    def feed(self, data):
        *whole, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > _LINE_MAX:
            raise BadMessage(f"a line of more than {_LINE_MAX} bytes")
        return [line for line in whole if line.strip()]
