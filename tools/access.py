#!/usr/bin/env python3
"""Writes what follows from the rights that the controllers declare (src/controllers/*/access.h): the rules and roles of the chart and the table in docs/reference/rights.md.

access.py PROGRAM [--check]: PROGRAM is codeflare. With --check nothing is written; files that differ fail.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHART = Path("platform/charts/core/access")
# The parts that helm/lattice-operator needs: the queue of TrainingJobs and nothing that AppWrappers hold.
LATTICE = Path("helm/lattice-operator/access")
LATTICE_PARTS = {"leader", "events", "queue", "quota", "bind", "crds", "run", "platform", "trainingjob", "dispatch", "fences", "scale", "scale-placeholder", "scale-provisioning", "scale-machineset", "usage", "release", "free-pods"}
DOCS = Path("docs/reference/rights.md")
BEGIN, END = "<!-- rights: made by tools/access.py -->", "<!-- end of rights -->"
HEAD = "# Made by tools/access.py from src/controllers/*/access.h.\n"


def words(values):
    return "[" + ", ".join(json.dumps(value) for value in values) + "]"


def rule_lines(rules, indent=""):
    lines = []
    for rule in rules:
        for i, (key, values) in enumerate(rule.items()):
            lines.append(f"{indent}{'- ' if i == 0 else '  '}{key}: {words(values)}")
    return "\n".join(lines) + "\n"


def role_text(role):
    labels = "".join(f"    {key}: {json.dumps(value)}\n" for key, value in role["metadata"]["labels"].items())
    return f"name: {role['metadata']['name']}\nlabels:" + (f"\n{labels}" if labels else " {}\n") + "rules:\n" + rule_lines(role["rules"], "  ")


def table(parts):
    lines = ["| needed | rights | for what |", "|---|---|---|"]
    for part in parts:
        for right in part["rights"]:
            group = f" of `{right['group']}`" if right["group"] else ""
            resources = ", ".join(f"`{one}`" for one in right["resources"].split())
            name = f" named `{right['name']}`" if "name" in right else ""
            lines.append(f"| {part['when']} | {', '.join(right['verbs'].split())} on {resources}{group}{name} | {right['why']} |")
    return "\n".join(lines) + "\n"


def wanted(access):
    """The text of every file."""
    files = {CHART / f"{part['name']}.yaml": HEAD + rule_lines(part["rules"]) for part in access["controller"]}
    for part in access["controller"]:
        if part["name"] in LATTICE_PARTS:
            files[LATTICE / f"{part['name']}.yaml"] = HEAD + rule_lines(part["rules"])
    for entry in access["roles"]:
        files[CHART / "roles" / f"{entry['role']['metadata']['name']}.yaml"] = HEAD + f"# {entry['about']}\n" + role_text(entry["role"])
    docs = (ROOT / DOCS).read_text()
    before, _, rest = docs.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        sys.exit(f"access: {DOCS} has no lines '{BEGIN}' and '{END}'")
    files[DOCS] = f"{before}{BEGIN}\n{table(access['controller'])}{END}{after}"
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    access = json.loads(subprocess.check_output([options.program, "access"], text=True))
    files = wanted(access)
    here = {path.relative_to(ROOT) for chart in (CHART, LATTICE) for path in (ROOT / chart).rglob("*.yaml")}
    stale = [path for path, text in files.items() if not (ROOT / path).is_file() or (ROOT / path).read_text() != text]
    extra = sorted(here - set(files))
    if options.check:
        for path in stale + extra:
            print(f"access: {path} does not follow from the rights: run tools/access.py PROGRAM")
        sys.exit(1 if stale or extra else 0)
    for path in stale:
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(files[path])
    for path in extra:
        (ROOT / path).unlink()
    print(f"access: {len(stale)} files written, {len(extra)} removed")


if __name__ == "__main__":
    main()
