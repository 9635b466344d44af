"""What needs clang: formatting, and headers that compile alone. Both remember, by content, what was right before."""

import concurrent.futures
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile

RULES = ("format", "header-alone")

_FORMAT = "clang-format-19"
_FORMAT_AT_ONCE = 64
_COMPILER = "clang++-19"
# An object file is of no use here, but ccache keeps only those, and with it fresh clones need not compile again.
_COMPILE = [_COMPILER, "-std=c++23", "-O0", "-c", "-Wno-pragma-once-outside-header", "-Isrc", "-I.", "-x", "c++"]
_FIRST_INCLUDE = re.compile(r'^#include [<"]([^>"]+)[>"]', re.M)
_PLACE = re.compile(r"^(.+?):(\d+):\d+: (?:fatal )?error: (.*)$", re.M)


class Cache:
    """Keys of checks that passed. Only keys asked for in this run survive it."""

    def __init__(self, path):
        self._path = path
        self._kept = set()
        try:
            self._known = set(json.loads(path.read_text()))
        except (OSError, ValueError):
            self._known = set()

    def has(self, key):
        if key in self._known:
            self._kept.add(key)
            return True
        return False

    def put(self, key):
        self._kept.add(key)

    def save(self):
        if self._kept == self._known:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        scratch = self._path.with_suffix(f".{os.getpid()}")
        scratch.write_text(json.dumps(sorted(self._kept)))
        scratch.replace(self._path)


def _key(*parts):
    digest = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode()
        digest.update(b"%d:" % len(data) + data)
    return digest.hexdigest()


def _tool_identity(name):
    """Something that changes when the tool is replaced; None if it is not installed."""
    path = shutil.which(name)
    if path is None:
        return None
    status = os.stat(path)
    return f"{name} {status.st_size} {status.st_mtime_ns}"


def check(tree, report, cache_folder):
    cache = Cache(cache_folder / "passed.json")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for check_one, files in ((_check_format, tree.cpp), (_check_header, [f for f in tree.cpp if f.is_header])):
            list(pool.map(lambda job: job(), list(check_one(tree, files, report, cache))))
    cache.save()


def _check_format(tree, files, report, cache):
    """Yields the jobs that are left to do."""
    style = tree.root / ".clang-format"
    identity = _tool_identity(_FORMAT)
    common = (identity or "", style.read_bytes() if style.exists() else b"")
    left = []
    for file in files:
        if identity is None:
            report.add(file, 1, "format", f"{_FORMAT} is missing (run ./dev setup)")
        elif not cache.has(key := _key("format", *common, file.path, file.data)):
            left.append((file, key))
    # Starting clang-format takes several times as long as a file does.
    for first in range(0, len(left), _FORMAT_AT_ONCE):
        yield lambda some=left[first : first + _FORMAT_AT_ONCE]: _format_some(tree, some, report, cache)


def _format_some(tree, some, report, cache):
    """`some`: files, each with its key in the cache."""
    command = [_FORMAT, "--dry-run", "-Werror", *(file.path for file, _ in some)]
    run = subprocess.run(command, cwd=tree.root, capture_output=True, text=True)
    wrong = {}
    for place in _PLACE.finditer(run.stderr):
        wrong.setdefault(place[1], int(place[2]))
    for file, key in some:
        if file.path in wrong:
            report.add(file, wrong[file.path], "format", "not formatted by clang-format (run ./dev fmt)")
        elif run.returncode == 0 or wrong:
            cache.put(key)
        else:
            report.add(file, 1, "format", f"{_FORMAT} failed: {run.stderr.strip() or run.returncode}")


def _check_header(tree, files, report, cache):
    identity = _tool_identity(_COMPILER)
    for file in files:
        if identity is None:
            report.add(file, 1, "header-alone", f"{_COMPILER} is missing (run ./dev setup)")
            continue
        if _proven_by_source(tree, file):
            continue
        # Whether it compiles depends on everything of ours that it includes, directly or not.
        parts = [part for path in sorted(tree.closure(file.path)) for part in (path, tree.files[path].data)]
        key = _key("header", identity, *_COMPILE, file.path, file.data, *parts)
        if not cache.has(key):
            yield lambda file=file, key=key: _compile_one(tree, file, report, cache, key)


def _proven_by_source(tree, file):
    """Whether the build itself compiles the header alone: its own source file includes it before anything else.

    But for the prelude, whose headers come before: what they would hide is looked for by the rule std-include, in a few
    milliseconds instead of a compiler for each of these headers."""
    source = tree.files.get(file.path.removesuffix(".h") + ".cc")
    first = _FIRST_INCLUDE.search(source.text) if source else None
    return first is not None and first[1] == file.path.removeprefix("src/")


def _compile_one(tree, file, report, cache, key):
    cached = ["ccache"] if shutil.which("ccache") else []
    with tempfile.TemporaryDirectory() as scratch:
        command = [*cached, *_COMPILE, file.path, "-o", f"{scratch}/unused.o"]
        run = subprocess.run(command, cwd=tree.root, capture_output=True, text=True)
    if run.returncode == 0:
        cache.put(key)
        return
    place = _PLACE.search(run.stderr)
    line, why = 1, run.stderr.strip().split("\n")[0]
    if place:
        line, why = (int(place[2]), place[3]) if place[1] == file.path else (1, f"{place[1]}:{place[2]}: {place[3]}")
    report.add(file, line, "header-alone", f"does not compile alone: {why} (include what it uses)")
