"""Cycles of includes between folders: every folder below src/, with its internal/ as a part of it."""

import collections
import tomllib

RULES = ("folder-cycle",)

_TABLE = "tools/layers.toml"


def check(tree, report):
    groups = tomllib.loads((tree.root / _TABLE).read_text()).get("together", [])
    edges = _edges(tree)
    for group in groups:
        _check_group(tree, group, edges, report)
        allowed = set(group["folders"])
        edges = {edge: uses for edge, uses in edges.items() if not allowed.issuperset(edge)}
    while ring := _shortest_cycle(edges):
        rarest = min(zip(ring, ring[1:]), key=lambda edge: (len(edges[edge]), edge))
        file, include = edges[rarest][0]
        report.add(file, include.line, "folder-cycle", _message(ring, edges, file))
        del edges[rarest]


def _folder(file):
    """`net` for src/net/internal/socket.h, `node/wire` for src/node/wire/frame.h."""
    parts = file.path.split("/")[1:-1]
    return "/".join(parts[:parts.index("internal")] if "internal" in parts else parts)


def _counts(file):
    """Tests and what only they use are programs of their own."""
    return file.path.startswith("src/") and not (file.is_test or file.is_fuzzer or "/testing/" in file.path)


def _edges(tree):
    """(folder, folder that it includes) → [(file, include)]"""
    found = collections.defaultdict(list)
    for file in filter(_counts, tree.cpp):
        for include, used in tree.edges[file.path]:
            edge = (_folder(file), _folder(used))
            if _counts(used) and edge[0] != edge[1]:
                found[edge].append((file, include))
    return dict(found)


def _ring(following, start):
    """The folders on the shortest way from `start` back to it, both ends included; None: there is no way."""
    way, todo = {}, collections.deque([start])
    while todo:
        folder = todo.popleft()
        for used in sorted(following[folder]):
            if used == start:
                ring = [start]
                while folder != start:
                    ring.append(folder)
                    folder = way[folder]
                return [start, *reversed(ring)]
            if used not in way:
                way[used] = folder
                todo.append(used)
    return None


def _following(edges):
    following = collections.defaultdict(set)
    for user, used in edges:
        following[user].add(used)
    return following


def _shortest_cycle(edges):
    following = _following(edges)
    rings = (_ring(following, folder) for folder in sorted(following.copy()))
    return min(filter(None, rings), key=lambda ring: (len(ring), ring), default=None)


def _message(ring, edges, file):
    uses = []
    for edge in zip(ring, ring[1:]):
        user, include = edges[edge][0]
        count = f" (one of {len(edges[edge])})" if len(edges[edge]) > 1 else ""
        uses.append(f"{user.path}:{include.line} includes {include.target}{count}")
    return (
        f"folders {' → '.join(ring)}: {', '.join(uses)} (move what {file.name} needs to a folder below both, or {file.name} itself;"
        f" a cycle that has to stay goes to [[together]] in {_TABLE})"
    )


def _check_group(tree, group, edges, report):
    """An exception has a reason, and a cycle that it allows."""
    table, folders = tree.files[_TABLE], set(group["folders"])
    text = table.text.split("\n")
    line = next((n for n, row in enumerate(text, 1) if row.startswith("folders") and all(f'"{f}"' in row for f in folders)), 1)
    if not group.get("reason", "").strip():
        report.add(table, line, "folder-cycle", f"{', '.join(sorted(folders))} without a reason (write one)")
    present = {_folder(file) for file in filter(_counts, tree.cpp)}
    following = _following(edge for edge in edges if folders.issuperset(edge))
    if folders <= present and (alone := sorted(f for f in folders if _ring(following, f) is None)):
        report.add(table, line, "folder-cycle", f"{', '.join(alone)} is in no cycle (remove it from [[together]])")
