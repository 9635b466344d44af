#!/usr/bin/env python3
"""Prints "passed failed skipped" for JUnit files that ctest wrote; names what failed on standard error.

ctest knows programs only; this counts the tests inside them from the last lines that GoogleTest and unittest print. A program
that says nothing of the kind counts as one test. A program that a later file has again counts as that file says.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree


def number(pattern, text):
    found = re.findall(pattern, text)
    return int(found[-1]) if found else None


def inner_counts(output):
    """(passed, failed, skipped) as the program itself reports them, or None."""
    passed = number(r"\[  PASSED  \] (\d+) tests?\.", output)
    if passed is not None:
        failed = number(r"\[  FAILED  \] (\d+) tests?, listed below", output) or 0
        skipped = number(r"\[  SKIPPED \] (\d+) tests?, listed below", output) or 0
        return passed, failed, skipped
    ran = number(r"(?m)^Ran (\d+) tests? in ", output)
    if ran is not None:
        failed = (number(r"failures=(\d+)", output) or 0) + (number(r"errors=(\d+)", output) or 0)
        skipped = number(r"skipped=(\d+)", output) or 0
        return ran - failed - skipped, failed, skipped
    return None


def counts_of(case):
    status = case.get("status")
    inner = inner_counts(case.findtext("system-out") or "")
    if status == "run" and case.find("failure") is None:
        # ctest's verdict counts: numbers in the output may be those of a program that the test ran.
        passed, failed, skipped = inner or (1, 0, 0)
        return passed + failed, 0, skipped
    if status == "disabled":
        return 0, 0, 1
    if status == "notrun":
        # Also reported for a missing program, which does not count as a skip.
        skip = case.find("skipped")
        return (0, 0, 1) if skip is not None and skip.get("message", "").startswith("SKIP_") else (0, 1, 0)
    # A leak or a crash after the last test fails the program although every test in it passed.
    passed, failed, skipped = inner or (0, 0, 0)
    return passed, max(failed, 1), skipped


def cases_of(path):
    return {case.get("name"): counts_of(case) for case in ElementTree.parse(path).getroot().iter("testcase")}


def main(first, *again):
    try:
        programs = cases_of(first)
        for path in again:
            later = cases_of(path)
            for name in sorted(later):
                print(f"{name}: failed, then {'failed' if later[name][1] else 'passed'} alone", file=sys.stderr)
            programs.update(later)
    except (OSError, ElementTree.ParseError):
        return 0, 1, 0
    total = (0, 0, 0)
    for name, counts in programs.items():
        if counts[1]:
            print(f"{name}: {counts[1]} failed", file=sys.stderr)
        total = tuple(map(sum, zip(total, counts)))
    return total


if __name__ == "__main__":
    print(*main(*sys.argv[1:]))
