#!/usr/bin/env python3
"""Writes the generated pages of docs/reference: cli.md from the help of the program, metrics.md from the source, kinds/ from crds/.

reference_doc.py PROGRAM [--check|--check-list]: `./dev docs` runs it. With --check nothing is written; pages that differ fail.
--check-list asks the program once: whether cli.md has its list of commands and a heading for each.
"""

import concurrent.futures
import os
import re
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import api_doc  # noqa: E402

ROOT = api_doc.ROOT
CLI = Path("docs/reference/cli.md")
METRICS = Path("docs/reference/metrics.md")

# Lines of lists of commands: "  add      Map an image name to local files", "  create raycluster --help".
COMMAND = re.compile(r"^  ([a-z][a-z-]*)(?:,\S+)*(?:  +\S.*)?$|^  [a-z]+ ([a-z]+) --help$")
NO_COMMANDS = ("Options", "Arguments", "Positionals", "Examples", "Example")
METRIC = re.compile(r"\b(counter|count|gauge|histogram)s?\(\s*(\"[a-z_0-9]+\")\s*,\s*((?:\"(?:[^\"\\]|\\.)*\"\s*)+)(?:,\s*\{((?:\s*\"\w+\",?)+)\s*\})?")
LITERAL = re.compile(r"\"((?:[^\"\\]|\\.)*)\"")
PARTS = (("src/apiserver", "API server"), ("src/checkpoint", "Checkpoint service"), ("src/controllers", "Controllers"), ("src/kube", "Client"),
         ("src/runtime", "Runtime of controllers"), ("src/base", "Process"))


def help_of(program, words):
    # Neither the width of a terminal nor settings of the caller may show.
    environment = {"PATH": os.environ.get("PATH", ""), "HOME": "/nonexistent", "COLUMNS": "100"}
    run = subprocess.run([program, *words, "--help"], stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment, timeout=60)
    if run.returncode != 0:
        sys.exit(f"reference: 'codeflare {' '.join(words)} --help' exits with {run.returncode}: {run.stderr}")
    return run.stdout.rstrip() + "\n"


def commands_in(text):
    """Names in the lists of commands of a help text; options begin with a dash, and other sections have other titles."""
    listing, names = False, []
    for line in text.split("\n"):
        if line and not line.startswith(" "):
            listing = line.rstrip(":") not in NO_COMMANDS and not line.startswith(("Usage", "usage"))
        elif listing and (match := COMMAND.match(line)) and match[1] != "help":
            names.append(match[1] or match[2])
    return names


def pages_of(program):
    """(words, help) of the program, its commands and what is below them, in the order of the help."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        def texts(commands):
            return dict(zip(commands, pool.map(lambda words: help_of(program, words), commands)))

        top = texts([()])
        verbs = texts([(name,) for name in commands_in(top[()])])
        nouns = texts([(*words, name) for words, text in verbs.items() for name in commands_in(text)])
    yield from top.items()
    for words, text in verbs.items():
        yield words, text
        yield from ((noun, text) for noun, text in nouns.items() if noun[:1] == words)


def cli_page(program):
    lines = ["# Commands", "", "Made by `./dev docs` from the program's own help. [Command line](../cli.md) is the overview.", ""]
    for words, text in pages_of(program):
        lines += [f"## {' '.join(('codeflare', *words))}", "", "```text", text.rstrip(), "```", ""]
    return "\n".join(lines).rstrip() + "\n"


def metrics_in(folder):
    """{name: (type, labels, help)} of what the source below the folder registers."""
    found = {}
    for path in sorted((ROOT / folder).rglob("*")):
        if path.suffix not in (".cc", ".h") or path.stem.endswith("_test") or "testing" in path.parts:
            continue
        text = re.sub(r"^\s*//.*$", "", path.read_text(), flags=re.M)
        for kind, name, about, labels in METRIC.findall(text):
            kind = "counter" if kind == "count" else kind
            found[LITERAL.findall(name)[0]] = (kind, ", ".join(LITERAL.findall(labels)), "".join(LITERAL.findall(about)))
    return found


def metrics_page():
    lines = ["# Metrics", "", "Made by `./dev docs` from the source. Prometheus text format:", "",
             "| program | address |", "|---|---|",
             "| `codeflare controller` | `--health-address`, default `0.0.0.0:8081`, path `/metrics` |",
             "| `codeflare apiserver`, `codeflare up` | the address of the API server, path `/metrics`, with credentials |",
             "| `codeflare checkpointd` | its own address, path `/metrics` |", ""]
    for folder, title in parts():
        rows = [f"| `{name}` | {kind} | {labels} | {about} |" for name, (kind, labels, about) in sorted(metrics_in(folder).items())]
        if rows:
            lines += [f"## {title}", "", "| metric | type | labels | meaning |", "|---|---|---|---|", *rows, ""]
    return "\n".join(lines).rstrip() + "\n"


def parts():
    """Folders of src/ with their titles: those of PARTS in that order, then all others."""
    yield from PARTS
    known = {folder for folder, _ in PARTS}
    for path in sorted((ROOT / "src").iterdir()):
        folder = f"src/{path.name}"
        if path.is_dir() and folder not in known:
            yield folder, path.name.capitalize()


def list_is_current(program):
    text, top = (ROOT / CLI).read_text(), help_of(program, [])
    return top in text and all(f"\n## codeflare {name}\n" in text for name in commands_in(top))


def main():
    program, check = str(Path(sys.argv[1]).resolve()), sys.argv[2:]
    if check == ["--check-list"]:
        stale = [] if list_is_current(program) else [CLI]
    else:
        pages = {CLI: cli_page(program), METRICS: metrics_page(), **api_doc.wanted()}
        stale = api_doc.differing(pages)
    if check:
        for path in stale:
            print(f"{path} is out of date: run ./dev docs")
        return 1 if stale else 0
    api_doc.write(pages)
    return 0


if __name__ == "__main__":
    sys.exit(main())
