"""Words: sentences of documentation, comments and texts of the program.

Checked in the lines that the working tree and the last commit add; in the whole tree with --prose. Wire words of other systems
that have to stay are in tools/prose_exceptions.txt.
"""

import bisect
import io
import re
import subprocess
import tokenize

from . import source

RULES = ("clause-subject", "plain-word")

_CLAUSE = re.compile(r"^(Who|Whoever|Whatever|What|Those who|Those that)\b")
# (pattern, what to write)
_WORDS = [
    (re.compile(r"\b" + pattern + r"\b", re.I), advice)
    for pattern, advice in (
        (r"heed(?:s|ed|ing)?", "honor, or ignore"),
        (r"dear(?:er|est)?", "expensive"),
        (r"(?:is|are|was|were|be|been|being) told", "reported, or: the log shows"),
        (r"for ever", "indefinitely"),
        (r"(?<!there )(?:is|are|was|were) no(?= (?!longer\b|more\b|other\b)\w)", "is not a"),
        (r"takes? back|took back|taken back", "reclaim, withdraw or release"),
        (r"refus(?:e|es|ed|al|als|ing)", "reject"),
        (r"comes? about", "happen"),
        (r"all the same", "anyway"),
    )
]
_END = re.compile(r"(?<=[.!?:;])\s+|\s+\|\s*|^\s*\|\s*")
_CODE_SPAN = re.compile(r"`[^`]*`")
_LINK = re.compile(r"\]\([^)]*\)")
_BULLET = re.compile(r"^\s*(?:[-*+]|\d+\.|#+|>)\s+")
_WORD = re.compile(r"[A-Za-z]{2,}\s+[A-Za-z]{2,}")
_HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@")
_GENERATED = ("/generated/",)
# Comments of a whole line begin with # in these.
_HASH = (".sh", ".cmake", ".yaml", ".yml", ".toml")


def check(tree, report, whole):
    exceptions = _exceptions(tree)
    added = None if whole else _added_lines(tree.root)
    for file in tree.files.values():
        lines = None if added is None else added.get(file.path)
        if (added is not None and not lines) or any(part in file.path for part in _GENERATED):
            continue
        for line, sentence in _sentences(file):
            if lines is None or line in lines:
                _check_sentence(file, line, sentence, exceptions, report)


def _check_sentence(file, line, sentence, exceptions, report):
    text = sentence.strip()
    for exception in exceptions:
        text = text.replace(exception, "")
    if (match := _CLAUSE.match(text)) and not text.endswith("?"):
        report.add(file, line, "clause-subject", f"a sentence begins with '{match[1]}' (name the thing that acts: subject, verb, object)")
    for pattern, advice in _WORDS:
        if match := pattern.search(text):
            report.add(file, line, "plain-word", f"'{match.group()}' (write: {advice})")


def _exceptions(tree):
    file = tree.files.get("tools/prose_exceptions.txt")
    lines = file.text.split("\n") if file else []
    return [line for line in lines if line and not line.startswith("#")]


def _sentences(file):
    if file.path.endswith(".md"):
        return _markdown(file)
    if file.is_cpp:
        return _cpp(file)
    if file.path.endswith(".py") or file.text.startswith("#!/usr/bin/env python3"):
        return _python(file)
    if file.path.endswith(_HASH) or file.name == "CMakeLists.txt" or file.text.startswith("#!"):
        return _hash(file)
    return iter(())


def _split(numbered):
    """Sentences of a paragraph, given as (line, text) pairs, each with the line it begins in."""
    starts, lines, text = [], [], ""
    for line, part in numbered:
        starts.append(len(text))
        lines.append(line)
        text += part.strip() + " "
    at = 0
    for match in _END.finditer(text):
        yield lines[bisect.bisect_right(starts, at) - 1], text[at:match.start()]
        at = match.end()
    if at < len(text):
        yield lines[bisect.bisect_right(starts, at) - 1], text[at:]


def _markdown(file):
    paragraph, fenced = [], False
    for number, line in enumerate(file.text.split("\n") + [""], 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            line = ""
        text = "" if fenced or line.startswith("    ") else _LINK.sub("]", _CODE_SPAN.sub("`code`", line))
        begins = _BULLET.match(text)
        if not text.strip() or begins:
            yield from _split(paragraph)
            paragraph = []
        if text.strip():
            paragraph.append((number, _BULLET.sub("", text)))


def _cpp(file):
    comment, last = [], 0
    for token in source._TOKEN.finditer(file.text):
        line = source.line_of(file.text, token.start())
        if token["comment"] is not None:
            if line > last + 1:
                yield from _split(comment)
                comment = []
            text = token.group().removeprefix("//").removeprefix("/*").removesuffix("*/")
            comment += [(line + i, part) for i, part in enumerate(text.split("\n"))]
            last = line + text.count("\n")
        elif not file.is_test and (text := token["raw"] or token["string"]) and _WORD.search(text):
            yield from _split([(line, text.strip('"'))])
    yield from _split(comment)


def _python(file):
    """Comments and docstrings. A file that Python cannot read has no sentences: other tools report it."""
    comment, last, begins = [], 0, True
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(file.text).readline))
    except (tokenize.TokenError, SyntaxError):
        return
    for token in tokens:
        line = token.start[0]
        if token.type == tokenize.COMMENT:
            if line > last + 1:
                yield from _split(comment)
                comment = []
            comment.append((line, token.string.lstrip("#")))
            last = line
        elif token.type == tokenize.STRING and begins:
            yield from _paragraphs(line, token.string.strip("rfb\"'").split("\n"))
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            begins = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    yield from _split(comment)


def _hash(file):
    lines = file.text.split("\n")
    yield from _paragraphs(1, [line.lstrip()[1:] if re.match(r"\s*#(?!!)", line) else "" for line in lines])


def _paragraphs(first, lines):
    """Sentences of lines of text; an empty line ends a paragraph."""
    paragraph = []
    for number, line in enumerate([*lines, ""], first):
        if line.strip():
            paragraph.append((number, line))
        else:
            yield from _split(paragraph)
            paragraph = []


def _added_lines(root):
    """path → the lines that the working tree and the last commit add; none without a git history."""
    added, path = {}, None
    try:
        diff = subprocess.run(
            ["git", "diff", "-U0", "-M", "--no-color", "--no-ext-diff", "HEAD~1"], cwd=root, capture_output=True, check=True
        ).stdout.decode("utf-8", errors="replace")
    except (OSError, subprocess.CalledProcessError):
        return added
    for line in diff.split("\n"):
        if line.startswith("+++ "):
            path = line[6:] if line.startswith("+++ b/") else None
        elif path and (match := _HUNK.match(line)):
            first, count = int(match[1]), int(match[2] or 1)
            added.setdefault(path, set()).update(range(first, first + count))
    return added
