#!/usr/bin/env python3
"""Checks the rules of this repository that a compiler does not: `file:line: rule: message (what to do instead)`.

A finding can be excused where it stands, or on the line above, by a comment `lint: allow(rule) reason`; the reason is required.
"""

import argparse
import pathlib
import sys

sys.dont_write_bytecode = True

from lint_rules import calls, compiled, folders, includes, links, prose, source, text  # noqa: E402

EXCUSABLE = frozenset(includes.RULES + calls.RULES + text.RULES) - {"crlf", "final-newline"}


def lint(root, cache, clang=True):
    """(number of files, sorted findings (path, line, rule, message)) of the checkout at `root`."""
    tree = source.Tree(root.resolve())
    report = source.Report()
    includes.check(tree, report)
    folders.check(tree, report)
    calls.check(tree, report)
    text.check(tree, report)
    links.check(tree, report)
    prose.check(tree, report, whole=False)
    if clang:
        compiled.check(tree, report, cache)
    report.check_allows(tree, EXCUSABLE)
    return len(tree.files), sorted(report.findings)


def lint_prose(root):
    """As lint(), of the words of every file."""
    tree = source.Tree(root.resolve())
    report = source.Report()
    prose.check(tree, report, whole=True)
    return len(tree.files), sorted(report.findings)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--cache", type=pathlib.Path, help="where to remember what passed (default: ROOT/build/lint)")
    parser.add_argument("--no-clang", action="store_true", help="leave out formatting and compiling headers")
    parser.add_argument("--prose", action="store_true", help="check the words of the whole tree, and nothing else")
    options = parser.parse_args()

    if options.prose:
        files, findings = lint_prose(options.root)
    else:
        files, findings = lint(options.root, options.cache or options.root / "build" / "lint", not options.no_clang)
    for path, line, rule, message in findings:
        print(f"{path}:{line}: {rule}: {message}")
    print(f"lint: {files} files, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
