#!/usr/bin/env python3
"""Writes a table of the fields of a CustomResourceDefinition: api_doc.py DEFINITION PAGE."""

import sys
from pathlib import Path

import yaml


def rows(schema, path):
    for name, field in sorted(schema.get("properties", {}).items()):
        where = f"{path}.{name}" if path else name
        kind = "integer or string" if field.get("x-kubernetes-int-or-string") else field.get("type", "")
        if kind == "array":
            kind = f"array of {field['items'].get('type', 'object')}"
        facts = [f"at least {field['minimum']}"] if "minimum" in field else []
        facts += [f"default {field['default']}"] if "default" in field else []
        yield f"| `{where}` | {kind} | {field.get('description', '')} | {', '.join(facts)} |"
        yield from rows(field, where)


def main():
    definition = yaml.safe_load(Path(sys.argv[1]).read_text())
    spec = definition["spec"]
    lines = [f"# {spec['names']['kind']}", "", f"Made by `make api doc` from {Path(sys.argv[1]).name}.", ""]
    for version in spec["versions"]:
        schema = version["schema"]["openAPIV3Schema"]
        lines += [f"## {spec['group']}/{version['name']}", "", schema.get("description", ""), ""]
        for part in ("spec", "status"):
            lines += [f"### {part}", "", "| field | type | meaning | values |", "|---|---|---|---|"]
            lines += [*rows(schema["properties"][part], part), ""]
    page = Path(sys.argv[2])
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("\n".join(lines).rstrip() + "\n")


if __name__ == "__main__":
    main()
