"""Plain text: length, line ends, tabs, spaces, paths of one machine, marker words."""

import re

RULES = ("long-file", "crlf", "tab", "trailing-space", "final-newline", "home-path", "marker")

_CODE = (".h", ".cc", ".py", ".sh", ".cmake", ".js")
_LINES_MAX = 800
_TEST_LINES_MAX = 1000
_PRODUCT = ("src/", "examples/", "python/")
# /home/me is nobody's: examples and simulated file systems use it.
_HOME = re.compile(r"(?<![\w.:/-])/(?:root/|work/|home/(?!me\b)\w)")
# In halves, so that nobody who searches for markers finds this line.
_MARKER = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|X" r"XX)\b")


def check(tree, report):
    for file in tree.files.values():
        _check_length(file, report)
        _check_lines(file, report)


def _check_length(file, report):
    lines = file.text.count("\n")
    allowed = _TEST_LINES_MAX if file.is_test else _LINES_MAX
    is_code = file.path.endswith(_CODE) or "." not in file.name
    if lines > allowed and is_code and "generated" not in file.text.partition("\n")[0].lower():
        report.add(file, allowed + 1, "long-file", f"{lines} lines, {allowed} are allowed (it holds two ideas: split it)")


def _check_lines(file, report):
    if file.text and not file.text.endswith("\n"):
        report.add(file, file.text.count("\n") + 1, "final-newline", "no newline at the end (add one)")
    product = file.path.startswith(_PRODUCT)
    for number, line in enumerate(file.text.split("\n"), 1):
        if line.endswith("\r"):
            report.add(file, number, "crlf", "Windows line end (use a plain newline)")
            line = line[:-1]
        if "\t" in line:
            report.add(file, number, "tab", "tab (use spaces)")
        if line != line.rstrip():
            report.add(file, number, "trailing-space", "space at the end of the line (remove it)")
        if not product:
            continue
        if match := _HOME.search(line):
            report.add(file, number, "home-path", f"{match.group()}... is one machine's path (take it as a parameter; an invented home is /home/me)")
        if match := _MARKER.search(line):
            report.add(file, number, "marker", f"{match.group()} (do it now, or open an issue)")
