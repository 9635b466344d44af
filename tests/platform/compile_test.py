#!/usr/bin/env python3
"""compile_test.py PROGRAM: `codeflare compile` without a cluster. Mistakes have their sentences; golden/*.yaml become golden/*.golden.

With WRITE=1 the golden files are written anew: read the difference before you commit it."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True

from mistakes import APPLICATION, LIMITS, MISTAKES  # noqa: E402

PROGRAM = sys.argv.pop(1)
ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = pathlib.Path(__file__).parent / "golden"


ENVIRONMENT = {**os.environ, "CODEFLARE_PROGRAM_IMAGE": "codeflare:test"}


def compile_text(text, *options):
    return subprocess.run([PROGRAM, "compile", "-", *options], input=text, capture_output=True, text=True, check=False, env=ENVIRONMENT)


def made(kind, name, spec, namespace="default"):
    return {"apiVersion": "codeflare.dev/v1alpha1", "kind": kind, "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def documents(objects):
    return "\n---\n".join(json.dumps(each) for each in objects)


class Compile(unittest.TestCase):
    maxDiff = None

    def test_every_mistake_has_its_sentence_with_file_document_and_field(self):
        for run, application, sentence in MISTAKES:
            objects = [
                made("Run", "r", {"application": {"name": "app"}, "size": "xs", **run}),
                made("Application", "app", {**APPLICATION, **application}),
                made("Application", "app", APPLICATION, "elsewhere"),
                made("DataSet", "small", {"inline": {"a": "b"}}),
                made("DataSet", "private", {"inline": {"a": "b"}}, "elsewhere"),
                made("RunPolicy", "limits", {"limits": {"values": LIMITS}}),
            ]
            done = compile_text(documents(objects))
            with self.subTest(sentence):
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertEqual(done.stdout, "")
                self.assertIn(f"error: standard input: document 1, Run default/r: {sentence}", done.stderr)

    def test_the_template_of_a_platform_compiles_with_a_run(self):
        template = (ROOT / "examples/my_platform/templates/count-words.yaml").read_text()
        secret = made("PlatformRepoSecret", "git", {"repo": "github.com/org", "secret": {"name": "s", "namespace": "n"}})
        run = made("Run", "r", {"application": {"name": "count-words"}})
        done = compile_text(template + "\n---\n" + documents([secret, run]), "--explain")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("RunSizeConfiguration my-platform", done.stdout)
        done = compile_text(documents([run, made("Application", "count-words", APPLICATION), made("Image", "i", {"imag": "debian"})]))
        self.assertIn("spec.imag: unknown field; did you mean image?", done.stderr)
        self.assertEqual(done.returncode, 2)

    def test_runs_become_what_the_golden_files_say(self):
        sources = sorted(GOLDEN.glob("*.yaml"))
        self.assertGreater(len(sources), 0)
        for source in sources:
            done = subprocess.run([PROGRAM, "compile", str(source)], capture_output=True, text=True, check=False, env=ENVIRONMENT)
            told = subprocess.run([PROGRAM, "compile", "--explain", str(source)], capture_output=True, text=True, check=False,
                                  env=ENVIRONMENT)
            text = done.stdout + "# --explain\n" + told.stdout
            golden = source.with_suffix(".golden")
            if os.environ.get("WRITE"):
                golden.write_text(text)
            with self.subTest(source.name):
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(text, golden.read_text())


if __name__ == "__main__":
    unittest.main()
