"""The files of a checkout as the rules see them."""

import dataclasses
import functools
import os
import pathlib
import re
import subprocess

CPP = (".h", ".cc")
TEXT = CPP + (".py", ".sh", ".cmake", ".txt", ".toml", ".yaml", ".yml", ".json", ".md", ".js", ".css", ".html")

# Comments, strings and characters; a quote after a digit separates thousands.
_TOKEN = re.compile(
    r"""
    (?P<raw>\b(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)")
  | (?P<string>"(?:\\.|[^"\\\n])*")
  | (?P<character>(?<![0-9A-Za-z_])(?:u8|[uUL])?'(?:\\.|[^'\\\n])+')
  | (?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)
    """,
    re.S | re.X,
)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(<[^>\n]+>|"[^"\n]+")', re.M)
_ALLOW = re.compile(r"lint:\s*allow\(([\w-]*)\)[ \t]*([^\n]*)")
# Input of tests, kept as it is: the seeds of fuzzers and everything below a folder testdata.
_DATA = re.compile(r"^tests/fuzz/[^/]+/|/testdata/")
_NOT_NEWLINE = re.compile(r"[^\n]")


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


@dataclasses.dataclass(frozen=True)
class Include:
    line: int
    target: str
    quoted: bool


@dataclasses.dataclass
class Allow:
    line: int  # where the comment is
    covers: frozenset  # the lines that it excuses
    rule: str
    reason: str
    used: bool = False


class File:
    """One text file, read once. `path` is relative to the root, with slashes."""

    def __init__(self, root, path):
        self.path = path
        self.data = (root / path).read_bytes()
        self.text = self.data.decode("utf-8", errors="replace")

    @property
    def name(self):
        return self.path.rpartition("/")[2]

    @property
    def is_cpp(self):
        return self.path.endswith(CPP)

    @property
    def is_header(self):
        return self.path.endswith(".h")

    @property
    def is_test(self):
        return self.path.startswith("tests/") or pathlib.PurePath(self.name).stem.endswith("_test")

    @property
    def is_fuzzer(self):
        return self.name.endswith("_fuzz.cc")

    @property
    def is_internal(self):
        return "/internal/" in self.path

    @property
    def area(self):
        """The folder that owns the file: `net` for src/net/..., otherwise the first folder."""
        parts = self.path.split("/")
        return parts[1] if parts[0] == "src" and len(parts) > 2 else parts[0]

    @property
    def part(self):
        """The sub-folder of its area: `wire` for src/node/wire/frame.h; "." for a file directly in the area."""
        parts = self.path.split("/")
        return parts[2] if parts[0] == "src" and len(parts) > 3 else "."

    @functools.cached_property
    def code(self):
        """The text with comments and the inside of strings blanked; every line keeps its number and columns."""

        def blank(match):
            token = match.group()
            if match["comment"] is not None:
                return _NOT_NEWLINE.sub(" ", token)
            return token[0] + _NOT_NEWLINE.sub(" ", token[1:-1]) + token[-1]

        return _TOKEN.sub(blank, self.text)

    @functools.cached_property
    def includes(self):
        def drop_comment(match):
            return match.group() if match["comment"] is None else _NOT_NEWLINE.sub(" ", match.group())

        text = _TOKEN.sub(drop_comment, self.text)
        return [
            Include(line_of(text, m.start(1)), m[1][1:-1], m[1][0] == '"') for m in _INCLUDE.finditer(text)
        ]

    @functools.cached_property
    def allows(self):
        if "lint:" not in self.text:
            return []
        if not self.is_cpp:
            return [
                Allow(line, frozenset([line]), m[1], m[2].strip())
                for line, text in enumerate(self.text.split("\n"), 1)
                if (m := re.search(r"#.*?" + _ALLOW.pattern, text))
            ]
        found = []
        code_lines = self.code.split("\n")
        for token in _TOKEN.finditer(self.text):
            if token["comment"] is None or not (m := _ALLOW.search(token.group())):
                continue
            line = line_of(self.text, token.start() + m.start())
            covers = {line}
            if not code_lines[line - 1].strip():
                following = (i for i in range(line, len(code_lines)) if code_lines[i].strip())
                covers.add(next(following, line) + 1)
            found.append(Allow(line, frozenset(covers), m[1], m[2].removesuffix("*/").strip()))
        return found


class Tree:
    """All text files of a checkout that are tracked or about to be."""

    def __init__(self, root):
        self.root = root
        self.files = {}
        for path in _paths(root):
            if not _DATA.search(path) and _is_text(root, path):
                self.files[path] = File(root, path)

    @property
    def cpp(self):
        return [f for f in self.files.values() if f.is_cpp]

    def resolve(self, target):
        """The file that `#include "target"` names, or None."""
        return self.files.get("src/" + target) or self.files.get(target)

    @functools.cached_property
    def edges(self):
        """path → [(include, included file)] for every project include that exists."""
        return {
            f.path: [(i, to) for i in f.includes if i.quoted and (to := self.resolve(i.target))] for f in self.cpp
        }

    def closure(self, path):
        """The paths of everything of ours that `path` includes, directly or not, without itself."""
        seen, todo = set(), [path]
        while todo:
            for _, to in self.edges[todo.pop()]:
                if to.path not in seen:
                    seen.add(to.path)
                    todo.append(to.path)
        return seen - {path}


def _paths(root):
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=root, capture_output=True, check=True, text=True,
        ).stdout
        top = subprocess.run(
            ["git", "rev-parse", "--show-prefix"], cwd=root, capture_output=True, check=True, text=True
        ).stdout.strip()
        if not top:
            return sorted(p for p in set(listed.split("\0")) if p and (root / p).is_file())
    except (OSError, subprocess.CalledProcessError):
        pass
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [d for d in folders if d not in ("build", ".git", ".cache", "__pycache__")]
        found += [(pathlib.Path(folder) / name).relative_to(root).as_posix() for name in names]
    return sorted(found)


def _is_text(root, path):
    if path.endswith(TEXT):
        return True
    if "." in path.rpartition("/")[2]:
        return False
    with open(root / path, "rb") as file:
        return file.read(2) == b"#!"


class Report:
    """Collects findings and honours `lint: allow(rule) reason`."""

    def __init__(self):
        self.findings = set()

    def add(self, file, line, rule, message):
        for allow in file.allows:
            if allow.rule == rule and allow.reason and line in allow.covers:
                allow.used = True
                return
        self.findings.add((file.path, line, rule, message))

    def check_allows(self, tree, excusable):
        for file in tree.files.values():
            for allow in file.allows:
                if allow.rule not in excusable:
                    why = f"no rule '{allow.rule}' that can be excused (one of: {', '.join(sorted(excusable))})"
                elif not allow.reason:
                    why = f"allow({allow.rule}) without a reason (write one behind it)"
                elif not allow.used:
                    why = f"allow({allow.rule}) excuses nothing (remove it)"
                else:
                    continue
                self.findings.add((file.path, allow.line, "allow", why))
