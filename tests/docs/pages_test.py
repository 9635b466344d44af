#!/usr/bin/env python3
"""Pages of docs/ that need no program to be checked: size, index, shell blocks, and tables that repeat what the source says."""

import pathlib
import re
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(ROOT / "tools"))

import api_doc  # noqa: E402
import reference_doc  # noqa: E402

LINES_MAX = 200
COLUMNS_MAX = 100
# Pages that a test compares with something else, line by line.
GENERATED = {"reference/cli.md", "reference/metrics.md", "reference/conformance-kubectl.md", "reference/rights.md"}
# Pages of one page of decision each: history, left as written.
FOLDERS_LEFT_OUT = ("decisions/", "reference/kinds/", "api/")


def pages():
    for path in sorted(DOCS.rglob("*.md")):
        name = str(path.relative_to(DOCS))
        if not name.startswith(FOLDERS_LEFT_OUT):
            yield name, path.read_text()


def prose(text):
    """(number, line) outside of blocks, tables and lines that are one link."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith(("    ", "|", "<!--")):
            yield number, line


def blocks(text):
    """(number, section, words of the fence) of each block; an indented one, which follows a blank line, has no words."""
    section, fenced, before = "", False, "blank"
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            fenced, before = not fenced, "text"
            if fenced:
                yield number, section, line.strip()[3:].split()
        elif fenced:
            continue
        elif not line.strip():
            before = "block" if before == "block" else "blank"
        elif not line.startswith("    "):
            section = line[3:] if line.startswith("## ") else section
            before = "text"
        elif before == "blank":
            before = "block"
            yield number, section, []


def rows(text, columns):
    """Cells of the tables of a page; backticks of the first cell are dropped."""
    for line in text.split("\n"):
        cells = [cell.strip() for cell in line.strip("|").split(" | ")] if line.startswith("| ") else []
        if len(cells) == columns:
            yield [cells[0].strip("`"), *cells[1:]]


def reasons():
    """{word: enumerator} of the table in queue/status_words.h."""
    text = (ROOT / "src/queue/status_words.h").read_text()
    return {word: name for name, word in re.findall(r"\{Reason::(\w+), \"([^\"]*)\"\}", text) if word}


class Pages(unittest.TestCase):
    def test_no_page_is_long_or_wide(self):
        for name, text in pages():
            if name in GENERATED:
                continue
            lines = text.count("\n")
            self.assertLessEqual(lines, LINES_MAX, f"docs/{name} has {lines} lines: split it")
            for number, line in prose(text):
                self.assertLessEqual(len(line), COLUMNS_MAX, f"docs/{name}:{number} has {len(line)} columns: wrap it")

    def test_architecture_names_files_that_exist(self):
        text = (ROOT / "ARCHITECTURE.md").read_text()
        named = re.findall(r"`((?:src|tests|tools|crds|docs)/[\w./-]+)`", text)
        self.assertGreater(len(named), 40)
        self.assertEqual([path for path in named if not (ROOT / path).exists()], [])
        wide = [number for number, line in prose(text) if len(line) > COLUMNS_MAX]
        self.assertEqual(wide, [], f"ARCHITECTURE.md: wrap these lines at {COLUMNS_MAX} columns")

    def test_the_index_names_every_page(self):
        linked = set(re.findall(r"\]\(([^)#]+)", (DOCS / "README.md").read_text()))
        missing = [name for name, _ in pages() if name not in linked and name != "README.md"]
        self.assertEqual(missing, [], "add these pages to docs/README.md")

    def test_shell_blocks_are_run_or_marked(self):
        runs = Runs()
        self.assertGreater(min(map(len, (runs.pages, runs.consoles, runs.sections))), 1, "no lists of pages in tests/*/CMakeLists.txt")
        self.assertEqual([line for name, text in pages() for line in runs.unmarked(name, text)], [])

    def test_a_block_that_is_neither_is_found(self):
        runs = Runs()
        for block in ("```sh\nls\n```", "```bash\nls\n```", "```\nls\n```", "```console\n$ ls\n```", "    ls\n    ls", "1. x\n\n   ```sh\n   ls\n   ```"):
            self.assertEqual(len(runs.unmarked("planted.md", f"# Page\n\nText:\n\n{block}\n")), 1, block)
        for block in ("```sh norun\nls\n```", "```console norun\n$ ls\n```", "```text\n\n    ls\n```", "- x\n    more"):
            self.assertEqual(runs.unmarked("planted.md", f"# Page\n\nText:\n\n{block}\n"), [], block)
        self.assertEqual(runs.unmarked("run.md", "# Page\n\n## Quick start\n\n    ls\n"), [])
        self.assertEqual(len(runs.unmarked("run.md", "# Page\n\n## Quick start\n\n## Options\n\n    ls\n")), 1)


class Readmes(unittest.TestCase):
    def test_each_folder_of_src_says_what_it_never_does_and_where_to_start(self):
        folders = {path.parent for path in (ROOT / "src").rglob("*.h") if not {"internal", "testing"} & set(path.parts)}
        self.assertGreater(len(folders), 60)
        for folder in sorted(folders):
            text = (folder / "README.md").read_text()
            for words in (r"\b[Nn]ever\b", r"\bStart (with|reading)\b"):
                self.assertRegex(text, words, f"{folder.relative_to(ROOT)}/README.md: add what it never does and where to start")


class Runs:
    """Blocks that tests type, as tests/*/CMakeLists.txt list them."""

    def __init__(self):
        lists = {folder: (ROOT / "tests" / folder / "CMakeLists.txt").read_text() for folder in ("docs", "sdk", "cli")}
        self.pages = {f"{name}.md" for names in re.findall(r"foreach\(page IN ITEMS (.*)\)", lists["docs"]) for name in names.split()}
        self.pages |= set(re.findall(r"page_test\.py \$<TARGET_FILE:codeflare> ([\w/-]+\.md)\)", lists["docs"]))
        self.consoles = set(re.findall(r"/docs/([\w/-]+\.md)\)", lists["cli"]))
        self.sections = {(f"{name}.md", "Quick start") for names in re.findall(r"foreach\(page (.*)\)", lists["sdk"]) for name in names.split()}
        self.sections |= set(re.findall(r"page_test\.py \$<TARGET_FILE:codeflare> ([\w/-]+\.md) \"([^\"]+)\"\)", lists["docs"]))

    def unmarked(self, name, text):
        """"PLACE: what to do" of every block that may hold commands, is run by no test and does not say so."""
        found = []
        for number, section, words in blocks(text):
            if words[1:] == ["norun"] or (name, section) in self.sections:
                continue
            if not words:
                # tests/apiserver/docs types every line of that page.
                if name != "apiserver.md":
                    found.append(f"docs/{name}:{number}: fence this block and name its type; ```sh norun for commands that no test runs")
            elif words[0] in ("bash", "shell"):
                found.append(f"docs/{name}:{number}: write ```sh, or ```sh norun")
            elif (words[0] == "sh" and name not in self.pages) or (words[0] == "console" and name not in self.consoles):
                found.append(f"docs/{name}:{number}: list the page in tests/docs/CMakeLists.txt, or write ```{words[0]} norun")
        return found


class Commands(unittest.TestCase):
    """Commands that pages and examples name have the options that the program has."""

    def options(self):
        """{verb: its options}, those of its nouns included."""
        found = {}
        for words, text in re.findall(r"^## codeflare (.+?)\n(.*?)(?=^## |\Z)", (DOCS / "reference/cli.md").read_text(), re.M | re.S):
            found.setdefault(words.split()[0], {"--help", "-h"}).update(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", text))
        return found

    def typed(self):
        """(page, command) of every code span and block line; a command ends at a pipe, a semicolon or a comment."""
        for name, text in [*pages(), ("../README.md", (ROOT / "README.md").read_text())]:
            if name == "reference/cli.md":
                continue
            text = re.sub(r"\\\n\s*", "", text)
            outside = {number for number, _ in prose(text)}
            code = [line.strip().removeprefix("$ ") for number, line in enumerate(text.split("\n"), 1) if number not in outside]
            code = [line for line in code if line.startswith("codeflare ")]
            for piece in code + re.findall(r"`(codeflare [^`]+)`", text.replace("\n", " ")):
                yield name, re.split(r" -- | # |[|;<>()]", re.sub(r"'[^']*'", "TEXT", piece))[0].split()

    def test_options_exist(self):
        known = self.options()
        wrong = []
        for name, words in self.typed():
            verb = next((word for word in words[1:] if word in known), None)
            if verb is None and len(words) > 1 and re.fullmatch(r"[a-z]+", words[1]) and words[1] not in ("job", "agent", "help"):
                wrong.append((name, "no such command", " ".join(words)))
            for word in words[1:] if verb else ():
                option = re.match(r"--[a-z][\w-]*|-[a-zA-Z]$", word.strip("[]`,.'"))
                if option and option[0] not in known[verb]:
                    wrong.append((name, option[0], " ".join(words)))
        self.assertEqual(wrong, [])


class Tables(unittest.TestCase):
    def test_every_reason_has_a_meaning_and_a_cure(self):
        described = {cells[0]: cells for cells in rows((DOCS / "howto/waiting.md").read_text(), 3) if cells[0] not in ("reason", "---")}
        self.assertEqual(sorted(reasons()), sorted(described), "docs/howto/waiting.md and src/queue/status_words.h differ")
        for word, (_, meaning, cure) in described.items():
            self.assertTrue(meaning and cure, word)

    def test_the_table_of_reasons_is_the_enum(self):
        text = (ROOT / "src/model/reason.h").read_text()
        names = re.findall(r"^  (\w+),", text.partition("enum class Reason")[2].partition("};")[0], re.M)
        self.assertEqual([name for name in names if name != "none"], list(reasons().values()))

    def test_exit_codes_are_those_of_the_program(self):
        text = (ROOT / "src/cli/session/console.h").read_text()
        codes = {code for _, code in re.findall(r"\bk(\w+) = (\d+)", text.partition("enum")[2].partition("};")[0])}
        self.assertTrue(codes)
        described = {cells[0] for cells in rows((DOCS / "reference/exit-codes.md").read_text(), 3) if cells[0].isdigit()}
        self.assertEqual(sorted(codes, key=int), sorted(described, key=int))

    def test_kinds_are_those_of_the_definitions(self):
        self.assertEqual(api_doc.differing(api_doc.wanted()), [], "run tools/api_doc.py --all")

    def test_metrics_are_those_of_the_source(self):
        self.assertEqual((ROOT / reference_doc.METRICS).read_text(), reference_doc.metrics_page(), "run ./dev docs")


if __name__ == "__main__":
    unittest.main()
