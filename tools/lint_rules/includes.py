"""Includes: layers, cycles, spelling, order, and where third-party headers may appear."""

import re
import tomllib

RULES = ("layer", "cycle", "include-path", "own-header", "pragma-once", "heavy-header", "asio", "internal", "std-include")

_HEAVY = re.compile(
    r"(?:boost/(?:asio|beast|json|url)\b|openssl/|CLI/|CLI11|pybind11/|fmt/|spdlog/|nlohmann/|re2/"
    r"|sqlite3(?:ext)?\.h|yaml\.h|zlib\.h|zconf\.h|snappy)"
)
_ASIO = re.compile(r"boost/(?:asio|beast)\b")
_ASIO_HOME = re.compile(r"src/(?:base/(?:.+/)?internal|net/internal)/")
_PRAGMA_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once\b", re.M)

# Includes that the precompiled headers would hide: names of the standard library by the headers that bring them. It is complete: a name
# that a header uses and that is not here is a finding too, or the build could prove headers that do not compile without the prelude.
_CONTAINERS = ("array", "functional", "map", "memory", "optional", "set", "span", "string", "string_view", "variant", "vector")
_STANDARD = tuple(
    (headers[0], frozenset(headers), names.split())
    for headers, names in (
        (
            ("algorithm",),
            "min max clamp find fill_n copy_n ranges::sort ranges::find ranges::find_if ranges::any_of ranges::all_of ranges::none_of"
            " ranges::copy ranges::transform ranges::equal ranges::lexicographical_compare",
        ),
        (("array",), "array"),
        (("chrono",), "chrono"),
        (("compare",), "partial_ordering weak_ordering strong_ordering"),
        (("concepts",), "same_as integral signed_integral unsigned_integral floating_point convertible_to derived_from invocable"),
        (("condition_variable",), "condition_variable"),
        (("coroutine",), "coroutine_handle suspend_always suspend_never noop_coroutine"),
        (("cstddef", *_CONTAINERS), "size_t ptrdiff_t byte nullptr_t"),
        (("cstddef",), "max_align_t"),
        (("cstdint",), "int8_t int16_t int32_t int64_t intptr_t uint8_t uint16_t uint32_t uint64_t uintptr_t"),
        (("cstdlib",), "atoi"),
        (("deque",), "deque"),
        (("expected",), "expected unexpected"),
        (("filesystem",), "filesystem"),
        (("fstream",), "ifstream ofstream"),
        (("functional",), "function move_only_function reference_wrapper greater"),
        (("functional", "map", "set"), "less"),
        (("functional", "unordered_map", "unordered_set"), "equal_to"),
        (("functional", "string", "string_view", "memory", "optional", "variant", "unordered_map", "unordered_set"), "hash"),
        (("initializer_list", *_CONTAINERS), "initializer_list"),
        (("iterator", *_CONTAINERS), "next prev istreambuf_iterator make_move_iterator back_inserter"),
        (("limits",), "numeric_limits"),
        (("list",), "list"),
        (("map",), "map multimap"),
        (
            ("memory",),
            "unique_ptr shared_ptr weak_ptr make_unique make_shared make_unique_for_overwrite enable_shared_from_this"
            " uninitialized_default_construct_n",
        ),
        (("memory_resource",), "pmr"),
        (("mutex",), "mutex lock_guard unique_lock scoped_lock"),
        (("optional",), "optional nullopt nullopt_t"),
        (("ostream", "iosfwd", "iostream", "sstream", "fstream"), "ostream"),
        (("ratio", "chrono"), "ratio nano micro milli"),
        (("set",), "set multiset"),
        (("source_location",), "source_location"),
        (("span",), "span"),
        (("string",), "string u32string to_string"),
        (("string_view", "string"), "string_view u32string_view"),
        (("thread",), "thread jthread this_thread"),
        (("tuple",), "tuple tie make_tuple apply tuple_size_v tuple_element_t"),
        (
            ("type_traits",),
            "is_void_v is_same_v is_constructible_v is_enum_v is_integral_v is_signed_v decay_t remove_cvref_t remove_reference_t"
            " conditional_t underlying_type_t invoke_result_t true_type false_type",
        ),
        (("tuple", "array", "utility", "variant"), "get"),
        (("unordered_map",), "unordered_map"),
        (("unordered_set",), "unordered_set"),
        (("utility", *_CONTAINERS), "move forward exchange pair unreachable as_const swap in_place in_place_t index_sequence"),
        (("variant",), "variant visit monostate get_if holds_alternative"),
        (("vector", "string", "deque", "map", "set", "list", "unordered_map", "unordered_set"), "erase_if"),
        (("vector",), "vector"),
    )
)
_BY_NAME = {name: (advice, headers) for advice, headers, names in _STANDARD for name in names}
# The names below `ranges` count one by one; all others by what is directly below std.
_STANDARD_NAME = re.compile(r"\bstd::((?:ranges::)?\w+)")


class Layers:
    """The allowed includes: the folders of src/, and by `inside` the sub-folders of some of them."""

    def __init__(self, table):
        self.level = {folder: level for level, folders in enumerate(table["layers"]) for folder in folders}
        self.sideways = table.get("sideways", {})
        self.only = table.get("only", {})
        self.never = table.get("never", {})
        self.inside = {folder: Layers(parts) for folder, parts in table.get("inside", {}).items()}

    def owner(self, file):
        """The scope of an internal file: its folder, or its sub-folder where those have layers."""
        return f"{file.area}/{file.part}" if file.area in self.inside else file.area

    def objection(self, user, used):
        """Why folder `user` may not include folder `used`, or None."""
        if user == used:
            return None
        for folder in (user, used):
            if folder not in self.level:
                return f"folder '{folder}' is in no layer (add it to tools/layers.toml)"
        if used in self.never.get(user, ()):
            return f"{user} never includes {used} (see tools/layers.toml; move the shared part below both)"
        if user in self.only and used not in self.only[user]:
            return f"{user} includes only {', '.join(self.only[user])}, not {used} (pass values in instead)"
        if self.level[used] > self.level[user]:
            return f"{user} is below {used} (turn the dependency round, or move the shared part down)"
        if self.level[used] == self.level[user] and used not in self.sideways.get(user, ()):
            return f"{user} and {used} are neighbours in one layer (move the shared part down, or list it under [sideways])"
        return None


def check(tree, report):
    layers = Layers(tomllib.loads((tree.root / "tools" / "layers.toml").read_text()))
    for file in tree.cpp:
        _check_spelling(tree, file, report)
        _check_layers(tree, file, layers, report)
        _check_third_party(file, report)
    _check_leaks(tree, report)
    _check_cycles(tree, report)
    _check_standard(tree, report)


def _check_spelling(tree, file, report):
    if file.is_header and not _PRAGMA_ONCE.search(file.code):
        report.add(file, 1, "pragma-once", "no #pragma once (add it before the first include)")
    for include in file.includes:
        if include.quoted and ("/" not in include.target or ".." in include.target.split("/")):
            report.add(file, include.line, "include-path", f'"{include.target}" (write our headers as "folder/file.h")')
        elif include.quoted and tree.resolve(include.target) is None:
            report.add(
                file, include.line, "include-path",
                f'"{include.target}" does not exist (quotes are for headers under src/, <> for all others)',
            )
        elif not include.quoted and "/" in include.target and "src/" + include.target in tree.files:
            report.add(file, include.line, "include-path", f"<{include.target}> is ours (include it with quotes)")
    own = file.path.removesuffix(".cc") + ".h"
    if file.path.endswith(".cc") and own in tree.files:
        target = own.removeprefix("src/")
        if not file.includes or file.includes[0].target != target:
            line = file.includes[0].line if file.includes else 1
            report.add(file, line, "own-header", f'the first include is not "{target}" (put the own header first)')


def _check_layers(tree, file, layers, report):
    for include, used in tree.edges[file.path]:
        if not used.path.startswith("src/"):
            if file.path.startswith("src/"):
                report.add(file, include.line, "layer", f"src/ includes {used.path} (move what both need into src/)")
            continue
        if file.path.startswith("src/") and (why := layers.objection(file.area, used.area)):
            report.add(file, include.line, "layer", why)
        if used.area == file.area in layers.inside and not file.is_test and not file.is_fuzzer:
            if why := layers.inside[file.area].objection(file.part, used.part):
                report.add(file, include.line, "layer", f"in src/{file.area}: {why}")
        if used.is_internal and (owner := layers.owner(used)) != layers.owner(file):
            report.add(
                file, include.line, "internal",
                f"{used.path} belongs to {owner} alone (use a public header of {owner}, or make one)",
            )


def _check_third_party(file, report):
    if not file.path.startswith("src/"):
        return
    for include in file.includes:
        if include.quoted:
            continue
        if _ASIO.match(include.target) and not _ASIO_HOME.match(file.path):
            report.add(
                file, include.line, "asio",
                f"<{include.target}> outside internal/ of base and net (use Task, base/env or net::HttpService)",
            )
        elif _HEAVY.match(include.target) and file.is_header and not file.is_internal:
            report.add(
                file, include.line, "heavy-header",
                f"<{include.target}> in a public header (include it in a .cc or internal/ file, forward-declare here)",
            )


def _check_leaks(tree, report):
    """A public header must not reach a heavy header through an internal one either."""
    heavy = {
        f.path: next((i.target for i in f.includes if not i.quoted and _HEAVY.match(i.target)), None) for f in tree.cpp
    }
    for file in tree.cpp:
        if not (file.path.startswith("src/") and file.is_header and not file.is_internal):
            continue
        for include, used in tree.edges[file.path]:
            if not used.is_internal:
                continue
            reached = sorted(p for p in tree.closure(used.path) | {used.path} if heavy[p])
            if reached:
                report.add(
                    file, include.line, "heavy-header",
                    f"brings in <{heavy[reached[0]]}> through {reached[0]} (hide it behind a pointer to a forward-declared type)",
                )


def _check_cycles(tree, report):
    done, path = set(), []

    def visit(file):
        path.append(file.path)
        for include, used in tree.edges[file.path]:
            if used.path in path:
                ring = path[path.index(used.path):] + [used.path]
                report.add(file, include.line, "cycle", " → ".join(ring) + " (split one of them)")
            elif used.path not in done:
                visit(used)
        done.add(path.pop())

    for file in tree.cpp:
        if file.path not in done:
            visit(file)


def _check_standard(tree, report):
    """A header brings the standard headers that it uses, itself or through ours: with the prelude no compiler asks for them."""
    given = {f.path: {i.target for i in f.includes if not i.quoted} for f in tree.cpp}
    for file in tree.cpp:
        if not file.is_header:
            continue
        reached, seen = None, set()
        for use in _STANDARD_NAME.finditer(file.code):
            if use[1] in seen:
                continue
            seen.add(use[1])
            line = file.code.count("\n", 0, use.start()) + 1
            if use[1] not in _BY_NAME:
                report.add(
                    file, line, "std-include",
                    f"{use.group()} is in no standard header that is known here (add it to tools/lint_rules/includes.py)",
                )
                continue
            advice, headers = _BY_NAME[use[1]]
            if headers & given[file.path]:
                continue
            if reached is None:
                reached = set().union(*(given[path] for path in tree.closure(file.path)))
            if not headers & reached:
                report.add(file, line, "std-include", f"{use.group()} without <{advice}> (include it)")
