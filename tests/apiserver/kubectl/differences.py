"""Compares two recordings, and the differences with those that docs/reference/conformance-kubectl.md lists one by one."""

import difflib
import re

from normalise import normalise


def lines_of(result, recording):
    lines = [f"exit code {result['exit']}"]
    lines += normalise(result["stdout"], recording)
    return lines + [f"stderr: {line}" for line in normalise(result["stderr"], recording)]


def compare(theirs, ours):
    """{case: lines that only one has}, `-` for theirs and `+` for ours; only cases that differ."""
    found = {}
    counterpart = {result["name"]: result for result in ours["cases"]}
    for result in theirs["cases"]:
        left = lines_of(result, theirs)
        other = counterpart.get(result["name"])
        right = lines_of(other, ours) if other else ["not run"]
        changes = [line for line in difflib.ndiff(left, right) if line[0] in "-+"]
        if changes:
            found[result["name"]] = [line.rstrip() for line in changes]
    return found


def listed(path):
    """{case: lines} of the sections `### case` with a diff block in the document."""
    known = {}
    for match in re.finditer(r"^### `?([a-z0-9-]+)`?\n(.*?)^```diff\n(.*?)^```$", path.read_text(), re.MULTILINE | re.DOTALL):
        known[match[1]] = match[3].splitlines()
    return known


def judge(found, known, show):
    """Prints what is new, changed or no longer there; true when the document says exactly what is."""
    good = True
    for name, lines in found.items():
        if known.get(name) == lines:
            continue
        good = False
        show(f"{name}: {'differs in another way than listed' if name in known else 'differs'}")
        for line in lines:
            show(f"    {line}")
    for name in known:
        if name not in found:
            good = False
            show(f"{name}: listed as a difference, but there is none")
    return good
