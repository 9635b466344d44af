#!/usr/bin/env python3
"""Checks of the charts without Helm: copies of definitions, versions, values with their schema, use and description."""

import json
import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "platform/charts/core"
CHARTS = [ROOT / "platform", *sorted((ROOT / "platform/charts").iterdir()), ROOT / "helm/lattice-operator",
          ROOT / "watsonx_ai", *sorted((ROOT / "watsonx_ai/charts").iterdir())]
# Parents of values that people fill as they like: labels, requests ...
FREE = {"resources", "podAnnotations", "podLabels", "nodeSelector", "priorityClasses", "sizes"}


def values_of(path):
    """{dotted path: text} of the leaves of our own values files: two blanks per level, flow maps on one line."""
    leaves, stack = {}, []
    for line in path.read_text().splitlines():
        match = re.match(r"^( *)([\w.-]+):(?: (.*))?$", line)
        if not match or line.lstrip().startswith("#"):
            continue
        depth = len(match[1]) // 2
        stack = stack[:depth] + [match[2]]
        if not FREE.intersection(stack[:-1]):
            leaves[".".join(stack)] = match[3]
    parents = {name.rsplit(".", 1)[0] for name in leaves if "." in name}
    leaves = {name: text for name, text in leaves.items() if text is not None or name not in parents}
    for name, text in list(leaves.items()):
        if text and text.startswith("{") and text != "{}" and name.split(".")[-1] not in FREE:
            del leaves[name]
            for part in re.findall(r"(\w+): (\{[^}]*\}|[^,}]+)", text[1:-1]):
                leaves[f"{name}.{part[0]}"] = part[1]
    return leaves


def schema_leaves(schema, prefix=""):
    for name, about in schema.get("properties", {}).items():
        if "properties" in about and name not in FREE:
            yield from schema_leaves(about, f"{prefix}{name}.")
        else:
            yield prefix + name


class Files(unittest.TestCase):
    maxDiff = None

    def test_definitions_of_the_charts_are_those_of_crds(self):
        check = subprocess.run([ROOT / "tools/chart_crds.py", "--check"], capture_output=True, text=True)
        self.assertEqual((check.returncode, check.stdout), (0, ""))

    def test_every_chart_has_the_version_of_the_file_version(self):
        version = (ROOT / "VERSION").read_text().strip()
        for chart in CHARTS:
            text = (chart / "Chart.yaml").read_text()
            self.assertEqual(set(re.findall(r"^ *version: (\S+)$", text, re.M)), {version}, chart)
            self.assertIn(f'appVersion: "{version}"', text, chart)

    def test_no_chart_needs_helm_dependency_build(self):
        for chart in CHARTS:
            self.assertNotIn("repository:", (chart / "Chart.yaml").read_text(), chart)

    def test_schemas_list_every_value_and_nothing_else(self):
        for chart in (CORE, ROOT / "platform/charts/defaults", ROOT / "platform/charts/s3", ROOT / "helm/lattice-operator"):
            schema = json.loads((chart / "values.schema.json").read_text())
            self.assertIs(schema["additionalProperties"], False, chart)
            listed = set(schema_leaves(schema)) - {"global"}
            self.assertEqual(listed, set(values_of(chart / "values.yaml")), chart)

    def test_every_value_is_used(self):
        for chart in (CORE, ROOT / "platform/charts/defaults", ROOT / "platform/charts/s3", ROOT / "helm/lattice-operator"):
            templates = "".join(file.read_text() for file in (chart / "templates").iterdir())
            for name in set(values_of(chart / "values.yaml")) - {"enabled"}:
                self.assertRegex(templates, rf"\.Values\.{re.escape(name)}\b", f"{chart}: {name} is in no template")

    def test_every_value_is_in_the_table_of_the_documentation(self):
        text = (ROOT / "docs/reference/chart-values.md").read_text()
        rows = {match[1]: match[2] for match in re.finditer(r"^\| `([\w.]+)` \| `?([^|`]*)`? \|", text, re.M)}
        wanted = {f"core.{name}": value for name, value in values_of(CORE / "values.yaml").items()}
        wanted |= {f"defaults.{name}": value for name, value in values_of(ROOT / "platform/charts/defaults/values.yaml").items()}
        wanted |= {f"s3.{name}": value for name, value in values_of(ROOT / "platform/charts/s3/values.yaml").items()}
        wanted |= {name: value for name, value in values_of(ROOT / "platform/values.yaml").items() if name.startswith("global.")}
        wanted |= values_of(ROOT / "helm/lattice-operator/values.yaml")
        self.assertEqual(set(rows), set(wanted))
        for name, value in wanted.items():
            default = (value or "").strip('"')
            self.assertEqual(rows[name].strip(), default, f"default of {name} in docs/reference/chart-values.md")


if __name__ == "__main__":
    unittest.main()
