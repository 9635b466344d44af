"""Rules that need clang: formatting, and headers that compile alone. Both remember, by content, what was right before."""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

RULES = ("format", "header-alone")

_FORMAT = "clang-format-19"
_FORMAT_AT_ONCE = 64
_COMPILER = "clang++-19"
_FLAGS = [_COMPILER, "-std=c++23", "-O0", "-Wno-pragma-once-outside-header", "-Isrc", "-I."]
# An object file is of no use here, but ccache keeps only those, and with it fresh clones need not compile again.
_COMPILE = [*_FLAGS, "-c", "-x", "c++"]
# The header before every file of the build; its standard part stands before headers here too.
_PRELUDE = "cmake/prelude.h"
_PRELUDE_STD = "cmake/prelude_std.h"
_CCACHE = str(pathlib.Path(__file__).resolve().parent.parent / "ccache")
_FIRST_INCLUDE = re.compile(r'^#include [<"]([^>"]+)[>"]', re.M)
_WORD = re.compile(r"\w+")
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
        list(pool.map(lambda job: job(), list(_check_format(tree, tree.cpp, report, cache))))
        if left := list(_headers_left(tree, report, cache)):
            prelude = _precompile(tree, cache_folder)
            list(pool.map(lambda one: _compile_one(tree, *one, report, cache, prelude), left))
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


def _headers_left(tree, report, cache):
    """Yields the headers that nothing has proven yet, each with its key in the cache."""
    identity = _tool_identity(_COMPILER)
    prelude = tree.files[_PRELUDE_STD].data if _PRELUDE_STD in tree.files else b""
    hidden = _hidden_names(tree)
    for file in (f for f in tree.cpp if f.is_header):
        if identity is None:
            report.add(file, 1, "header-alone", f"{_COMPILER} is missing (run ./dev setup)")
            continue
        if _proven_by_source(tree, file, hidden):
            continue
        # Whether it compiles depends on everything of ours that it includes, directly or not.
        parts = [part for path in sorted(tree.closure(file.path)) for part in (path, tree.files[path].data)]
        key = _key("header", identity, *_COMPILE, prelude, file.path, file.data, *parts)
        if not cache.has(key):
            yield file, key


# A declaration at the level of namespaces, which is not indented: a macro, a type, or what stands before parentheses or a value.
_DECLARED = re.compile(
    r"^#define (\w+)"
    r"|^(?:class|struct|enum class|enum|concept|using) (?:\[\[\w+\]\] )?(\w+)"
    r"|^(?!namespace|template|using|static_assert)[\w\[][^(=\n]*[ &*](\w+)(?:\(| =)",
    re.M,
)


def _hidden_names(tree):
    """Our headers in the build's prelude, each with the names that it declares outside of classes."""
    paths = [path for path in tree.closure(_PRELUDE) if path.startswith("src/")] if _PRELUDE in tree.files else []
    return {path: {name for found in _DECLARED.findall(tree.files[path].code) for name in found if name} for path in paths}


def _proven_by_source(tree, file, hidden):
    """Whether the build itself compiles the header alone: its own source file includes it before anything else.

    But for the prelude, whose headers come before. The rule std-include looks for names that its standard headers would hide, in a few
    milliseconds instead of two seconds of a compiler for each header. Ours would hide a name of theirs in a header that does not
    include them: such a header is compiled here, for the name may be another's; and so are they themselves."""
    if file.path in hidden:
        return False
    words, reached = set(_WORD.findall(file.code)), tree.closure(file.path)
    if any(path not in reached and names & words for path, names in hidden.items()):
        return False
    source = tree.files.get(file.path.removesuffix(".h") + ".cc")
    first = _FIRST_INCLUDE.search(source.text) if source else None
    return first is not None and first[1] == file.path.removeprefix("src/")


def _precompile(tree, cache_folder):
    """The arguments that put the standard part of the build's prelude before a header: three quarters of what the others take is spent on standard headers.
    The rule std-include finds what that could hide, as above. None of them where there is no prelude, or none that compiles."""
    if _PRELUDE_STD not in tree.files:
        return []
    cache_folder.mkdir(parents=True, exist_ok=True)
    # Relative where it can be, and with a .sum of its text: equal in every checkout, so that they share ccache's results.
    pch = os.path.relpath(cache_folder / "prelude.pch", tree.root)
    ours = f"{pch}.{os.getpid()}"
    language = ["-x", "c++-header", _PRELUDE_STD]
    text = subprocess.run([*_FLAGS, "-E", "-P", *language], cwd=tree.root, capture_output=True)
    made = subprocess.run([*_FLAGS, *language, "-o", ours], cwd=tree.root, capture_output=True)
    if text.returncode != 0 or made.returncode != 0:
        return []
    (tree.root / f"{ours}.sum").write_text(hashlib.sha256(text.stdout).hexdigest())
    for name in (".sum", ""):
        os.replace(tree.root / (ours + name), tree.root / (pch + name))
    return ["-include-pch", pch]


def _compile_one(tree, file, key, report, cache, prelude):
    cached = [_CCACHE] if shutil.which("ccache") else []
    with tempfile.TemporaryDirectory() as scratch:
        command = [*cached, *_COMPILE, *prelude, file.path, "-MD", "-MF", f"{scratch}/unused.d", "-o", f"{scratch}/unused.o"]
        run = subprocess.run(command, cwd=tree.root, capture_output=True, text=True)
    if run.returncode == 0:
        cache.put(key)
        return
    place = _PLACE.search(run.stderr)
    line, why = 1, run.stderr.strip().split("\n")[0]
    if place:
        line, why = (int(place[2]), place[3]) if place[1] == file.path else (1, f"{place[1]}:{place[2]}: {place[3]}")
    report.add(file, line, "header-alone", f"does not compile alone: {why} (include what it uses)")
