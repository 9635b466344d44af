"""Reads matrix.txt: the commands, the exit codes they should have, and which kubectl knows them."""

import re
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
LINE = re.compile(r"(?P<name>[a-z0-9-]+)(?P<options>( [a-z0-9.-]+=[0-9.]+)*):\s+(?P<command>\S.*)")


class MatrixError(Exception):
    pass


def version_of(text):
    """(1, 34) of "v1.34.4" or "1.34"."""
    match = re.match(r"v?(\d+)\.(\d+)", text)
    if not match:
        raise MatrixError(f"no version: {text!r}")
    return int(match[1]), int(match[2])


@dataclass(frozen=True)
class Case:
    name: str
    command: str
    since: tuple
    exits: tuple  # of (newest kubectl it holds for, or None for all, exit code), the oldest kubectl first

    def known_to(self, version):
        return version >= self.since

    def exit_code(self, version):
        return next(code for newest, code in self.exits if newest is None or version <= newest)


def parse_case(line, number):
    match = LINE.fullmatch(line)
    if not match:
        raise MatrixError(f"line {number}: expected 'name options: command', got {line!r}")
    since, exits, default = (1, 0), [], 0
    for option in match["options"].split():
        key, _, value = option.partition("=")
        if key == "since":
            since = version_of(value)
        elif key == "exit":
            default = int(value)
        elif key.startswith("exit-"):
            exits.append((version_of(key.removeprefix("exit-")), int(value)))
        else:
            raise MatrixError(f"line {number}: unknown option {key!r}")
    return Case(match["name"], match["command"], since, (*sorted(exits), (None, default)))


def read(path=HERE / "matrix.txt"):
    lines = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith(" ") and lines:
            lines[-1] = (lines[-1][0], f"{lines[-1][1]} {line.strip()}")
        elif line and not line.startswith("#"):
            lines.append((number, line))
    cases = [parse_case(line, number) for number, line in lines]
    names = [case.name for case in cases]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise MatrixError(f"named twice: {', '.join(sorted(twice))}")
    return cases
