#!/usr/bin/env python3
"""Writes tables of the fields of our kinds from their CustomResourceDefinitions (crds/*.yaml).

api_doc.py DEFINITION PAGE: the page of one kind.
api_doc.py --all [--check]: docs/api/trainingjob.md and a page for each kind in docs/reference/kinds. With --check nothing is
written; pages that differ fail.
"""

import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
KINDS = Path("docs/reference/kinds")
TRAININGJOB = (Path("crds/breezeml.ai_trainingjobs.yaml"), Path("docs/api/trainingjob.md"))
INT32 = (-2147483648, 2147483647)


def type_of(field):
    if field.get("x-kubernetes-int-or-string"):
        return "integer or string"
    kind = field.get("type", "any")
    if kind == "array":
        return f"list of {type_of(field.get('items', {}))}"
    values = field.get("additionalProperties")
    return f"map of {type_of(values)}" if isinstance(values, dict) else kind


def facts_of(field, required):
    if required:
        yield "required"
    if "default" in field:
        yield f"default {str(field['default']).lower() if isinstance(field['default'], bool) else field['default']}"
    if field.get("minimum", INT32[0]) not in INT32:
        yield f"at least {field['minimum']}"
    if field.get("maximum", INT32[1]) not in INT32:
        yield f"at most {field['maximum']}"
    if "maxItems" in field:
        yield f"at most {field['maxItems']} entries"
    if "enum" in field:
        yield "one of " + ", ".join(str(value) or '""' for value in field["enum"])


def rows(schema, path):
    required = schema.get("required", [])
    for name, field in sorted(schema.get("properties", {}).items()):
        where = f"{path}.{name}" if path else name
        meaning = field.get("description", "").replace("|", "\\|")
        facts = ", ".join(facts_of(field, name in required)).replace("|", "\\|")
        yield f"| `{where}` | {type_of(field)} | {meaning} | {facts} |"
        yield from below(field, where)


def below(field, where):
    """Rows of the fields inside of objects, lists and maps."""
    yield from rows(field, where)
    if "items" in field:
        yield from below(field["items"], where + "[]")
    if isinstance(field.get("additionalProperties"), dict):
        yield from below(field["additionalProperties"], where + ".KEY")


def section(schema, part):
    lines = [*rows(schema["properties"].get(part, {}), part)]
    return [f"### {part}", "", "| field | type | meaning | values |", "|---|---|---|---|", *lines, ""] if lines else []


def page(definition, made_by):
    spec = definition["spec"]
    names = spec["names"]
    short = "".join(f", `{name}`" for name in names.get("shortNames", []))
    lines = [f"# {names['kind']}", "", made_by, "", f"`kubectl get {names['plural']}`{short}. Scope: {spec['scope'].lower()}.", ""]
    seen = []
    for version in spec["versions"]:
        schema = version["schema"]["openAPIV3Schema"]
        lines += [f"## {spec['group']}/{version['name']}", ""]
        if schema in seen:
            lines += [f"The fields are those of {spec['group']}/{spec['versions'][seen.index(schema)]['name']}.", ""]
            continue
        seen.append(schema)
        if "description" in schema:
            lines += [schema["description"], ""]
        lines += [line for part in ("spec", "status") for line in section(schema, part)]
    return "\n".join(lines).rstrip() + "\n"


def definitions():
    for path in sorted((ROOT / "crds").glob("*.yaml")):
        for document in yaml.safe_load_all(path.read_text()):
            if document["kind"] == "CustomResourceDefinition":
                yield path, document


def wanted():
    """The text of every page."""
    pages, index = {}, []
    for path, definition in definitions():
        if path == ROOT / TRAININGJOB[0]:
            pages[TRAININGJOB[1]] = trainingjob_page(definition)
        name = f"{definition['metadata']['name']}.md"
        pages[KINDS / name] = page(definition, f"Made by `tools/api_doc.py --all` from crds/{path.name}.")
        spec = definition["spec"]
        about = spec["versions"][0]["schema"]["openAPIV3Schema"].get("description", "")
        index.append(f"| [{spec['names']['kind']}]({name}) | `{spec['group']}` | {about} |")
    head = ["# Kinds", "", "Made by `tools/api_doc.py --all`. `kubectl explain KIND` shows the same fields.", ""]
    pages[KINDS / "README.md"] = "\n".join([*head, "| kind | group | purpose |", "|---|---|---|", *index]) + "\n"
    return pages


def trainingjob_page(definition):
    return page(definition, f"Made by `make api doc` from {TRAININGJOB[0].name}.")


def differing(pages):
    """Paths of pages that are missing, stale or of no kind."""
    stale = [path for path, text in pages.items() if not (ROOT / path).exists() or (ROOT / path).read_text() != text]
    return stale + [path.relative_to(ROOT) for path in (ROOT / KINDS).glob("*.md") if path.relative_to(ROOT) not in pages]


def write(pages):
    for path, text in pages.items():
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(text)


def main(words):
    if words[:1] == ["--all"]:
        pages = wanted()
        if words[1:] == ["--check"]:
            stale = differing(pages)
            for path in stale:
                print(f"{path} differs from crds/: run tools/api_doc.py --all")
            return 1 if stale else 0
        write(pages)
        return 0
    definition, target = Path(words[0]), Path(words[1])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(page(yaml.safe_load(definition.read_text()), f"Made by `make api doc` from {definition.name}."))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
