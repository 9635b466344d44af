#!/usr/bin/env python3
"""dead_fields_test.py PROGRAM: every field of the Platform's schemas changes what some golden file compiles to.

A field is left out (or, where that is not allowed, changed) in each golden file that has it, until the output of `codeflare compile` differs."""

import concurrent.futures
import copy
import json
import os
import pathlib
import subprocess
import sys
import unittest

import yaml

sys.dont_write_bytecode = True

PROGRAM = sys.argv.pop(1)
HERE = pathlib.Path(__file__).parent
GOLDEN = HERE / "golden"
CRDS = HERE.parents[1] / "crds"
KINDS = {"Application": "applications", "DataSet": "datasets", "Run": "runs", "RunPolicy": "runpolicies", "RunSizeConfiguration": "runsizeconfigurations"}
# For people's eyes.
EYES = {"Application.description", "Application.tags", "Application.parameters.description", "DataSet.description"}
ENVIRONMENT = {**os.environ, "CODEFLARE_PROGRAM_IMAGE": "codeflare:test"}


def schema_of(kind):
    """The schema of the spec."""
    definition = yaml.safe_load((CRDS / f"codeflare.dev_{KINDS[kind]}.yaml").read_text())
    return definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]


def leaves(schema, path=()):
    """Paths of all fields that hold no other fields; a map's values are under *."""
    if schema.get("type") == "array":
        schema = schema["items"]
    for name, each in schema.get("properties", {}).items():
        below = list(leaves(each, (*path, name)))
        yield from below or [(*path, name)]
    extra = schema.get("additionalProperties")
    if isinstance(extra, dict) and extra.get("properties"):
        yield from leaves(extra, (*path, "*"))


def holders(value, path):
    """The objects in `value` that hold the last field of the path."""
    if isinstance(value, list):
        for each in value:
            yield from holders(each, path)
    elif isinstance(value, dict) and len(path) == 1:
        if path[0] in value:
            yield value
    elif isinstance(value, dict):
        for each in value.values() if path[0] == "*" else [value[path[0]]] if path[0] in value else []:
            yield from holders(each, path[1:])


def changed(value, how):
    """Another value of the same kind, or None."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + (1 if how == "more" else -1)
    if isinstance(value, str):
        return value + "x"
    return value[:-1] if isinstance(value, list) else None


def compiled(objects, *options):
    text = "\n---\n".join(json.dumps(each) for each in objects)
    told = subprocess.run([PROGRAM, "compile", "-", *options], input=text, capture_output=True, text=True, check=False, env=ENVIRONMENT)
    return told.returncode, told.stdout, told.stderr


def variants(objects, kind, path):
    """The objects with the field left out, and with other values."""
    for how in ("remove", "more", "less"):
        made = copy.deepcopy(objects)
        touched = False
        for each in made:
            for holder in list(holders(each.get("spec", {}), path)) if each["kind"] == kind else []:
                value = holder.pop(path[-1])
                if how != "remove" and changed(value, how) is not None:
                    holder[path[-1]] = changed(value, how)
                touched = True
        if touched:
            yield made


class DeadFields(unittest.TestCase):
    def test_every_field_changes_something(self):
        golden = {path.name: list(yaml.safe_load_all(path.read_text())) for path in sorted(GOLDEN.glob("*.yaml"))}
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            before = {options: dict(zip(golden, pool.map(lambda objects: compiled(objects, *options), golden.values()))) for options in ((), ("--explain",))}
            fields = [(kind, path) for kind in KINDS for path in leaves(schema_of(kind)) if ".".join((kind, *path)) not in EYES]

            def is_alive(field):
                return any(compiled(each, *options) != before[options][name] for name, objects in golden.items() for each in variants(objects, *field)
                           for options in ((), ("--explain",)))
            dead = [".".join((kind, *path)) for (kind, path), alive in zip(fields, pool.map(is_alive, fields)) if not alive]
        self.assertGreater(len(fields), 80)
        self.assertEqual(dead, [], "no golden file shows an effect of these fields")
        self.assertGreaterEqual(len(golden), 40)


if __name__ == "__main__":
    unittest.main()
