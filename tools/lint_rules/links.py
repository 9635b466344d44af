"""Links of Markdown pages: the file exists, and so does the heading behind the `#`."""

import posixpath
import re

RULES = ("broken-link",)

_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(<?([^)\s>]+)>?\)")
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")
_CODE_SPAN = re.compile(r"`[^`]*`")
_ELSEWHERE = re.compile(r"^[a-z][a-z0-9+.-]*:|^//", re.I)


def check(tree, report):
    pages = [file for file in tree.files.values() if file.path.endswith(".md")]
    anchors = {}
    for file in pages:
        for number, line in _prose_lines(file):
            for target in _LINK.findall(_CODE_SPAN.sub("", line)):
                if not _ELSEWHERE.match(target):
                    _check_link(tree, report, anchors, file, number, target)


def _check_link(tree, report, anchors, file, number, target):
    path, _, anchor = target.partition("#")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(file.path), path)) if path else file.path
    if not (tree.root / path).exists():
        report.add(file, number, "broken-link", f"{target}: there is no {path} (name a file of this repository)")
    elif anchor and path in tree.files and anchor not in anchors.setdefault(path, _anchors(tree.files[path])):
        report.add(file, number, "broken-link", f"{target}: {path} has no heading '{anchor}' (name one of its headings)")


def _prose_lines(file):
    fenced = False
    for number, line in enumerate(file.text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line


def _anchors(file):
    """Headings as GitHub turns them into anchors; a repeated one gets a number."""
    found, counts = set(), {}
    for _, line in _prose_lines(file):
        if match := _HEADING.match(line):
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", match[1]).replace("`", "").lower()
            anchor = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
            count = counts.get(anchor, 0)
            counts[anchor] = count + 1
            found.add(f"{anchor}-{count}" if count else anchor)
    return found
