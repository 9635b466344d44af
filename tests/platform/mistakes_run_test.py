#!/usr/bin/env python3
"""mistakes_run_test.py PROGRAM: the wrong Runs of mistakes.py on `codeflare up`. The schema rejects them, or their status has the sentence of
`codeflare compile`; `codeflare submit run` has the same sentence."""

import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import kubeconfig  # noqa: E402
from mistakes import APPLICATION, FILE, LIMITS, MISTAKES  # noqa: E402

PROGRAM = sys.argv.pop(1)
TYPES = {each["name"]: each.get("type", "string") for each in APPLICATION["parameters"]}
OPTIONS = {"size": "--size", "gpu": "--gpu", "priority": "--priority", "input": "--input", "workers": "--workers", "memory": "--memory"}
USAGE, NOT_FOUND = 2, 3
PATIENCE_SECONDS = 60


def made(kind, name, spec, namespace):
    return {"apiVersion": "codeflare.dev/v1alpha1", "kind": kind, "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def wrong_run(changes, namespace, name="r"):
    return made("Run", name, {"application": {"name": "app"}, "size": "xs", **changes}, namespace)


def application(changes, namespace):
    return made("Application", "app", {**APPLICATION, **changes}, namespace)


def data_set(name, namespace):
    return made("DataSet", name, {"inline": {"a": "b"}}, namespace)


def namespace_object(name):
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def can_be_typed(name, value):
    """Whether `-p` gives the parameter this value: the type of the parameter decides how the text is read."""
    kind = TYPES.get(name, "string")
    if kind in ("string", "list"):
        return name not in TYPES or isinstance(value, str if kind == "string" else list)
    return not (isinstance(value, str) and value.isdigit())


def submit_words(run):
    """The command line for the same Run, or None."""
    spec = dict(run["spec"])
    reference = spec.pop("application")
    parameters = spec.pop("parameters", {})
    words = ["submit", "run", "-n", run["metadata"]["namespace"], "--name", "submitted",
             "-a", f"{reference['namespace']}/{reference['name']}" if "namespace" in reference else reference["name"]]
    if not all(can_be_typed(*each) for each in parameters.items()):
        return None
    for name, value in parameters.items():
        words += ["-p", f"{name}={value}"]
    if spec.pop("supportsGpu", False):
        words.append("--supports-gpu")
    try:
        options = shlex.split(spec.pop("options", ""))
    except ValueError:
        return None
    for field, value in spec.items():
        # The parser of the command line itself rejects an unknown option and a text for a number.
        if field not in OPTIONS or (field == "workers" and not isinstance(value, int)):
            return None
        words += [OPTIONS[field], str(value)]
    return words + (["--", *options] if options else [])


class Row:
    """A wrong Run in a namespace of its own, as compile_test.py has it in namespace default."""

    def __init__(self, number, changes, application_changes, sentence):
        self.namespace = f"row-{number:02}"
        self.sentence = sentence.replace("default/", self.namespace + "/").replace("namespace default", "namespace " + self.namespace)
        self.missing = sentence.endswith("does not exist")
        self.run = wrong_run(changes, self.namespace)
        self.words = submit_words(self.run)
        self.objects = [namespace_object(self.namespace), application(application_changes, self.namespace), data_set("small", self.namespace)]

    def field(self):
        return self.sentence.split(":")[0]


ROWS = [Row(number, *mistake) for number, mistake in enumerate(MISTAKES)]
COMMON = [namespace_object("elsewhere"), application({}, "elsewhere"), data_set("private", "elsewhere"),
          {"apiVersion": "codeflare.dev/v1alpha1", "kind": "RunPolicy", "metadata": {"name": "limits"},
           "spec": {"limits": {"values": LIMITS}}}]


class MistakesOfRuns(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        cls.addClassCleanup(scratch.cleanup)
        data = pathlib.Path(scratch.name) / "data"
        cls.environment = {**os.environ, "KUBECONFIG": str(data / "admin.kubeconfig")}
        cls.addClassCleanup(cls.codeflare, "down", "--data-dir", data)
        cls.check("up", "--detach", "--listen", "127.0.0.1:0", "--data-dir", data, "--no-kubeconfig", "--fake-nodes", "1", "--nodes", "0")
        cls.server, cls.tls = kubeconfig.read_admin(data / "admin.kubeconfig", pathlib.Path(scratch.name))
        objects = COMMON + [each for row in ROWS for each in row.objects]
        cls.check("create", "-f", "-", text="\n---\n".join(json.dumps(each) for each in objects))

    @classmethod
    def codeflare(cls, *words, text=None):
        return subprocess.run([PROGRAM, *map(str, words)], input=text, env=cls.environment, capture_output=True, text=True, check=False, timeout=120)

    @classmethod
    def check(cls, *words, text=None):
        done = cls.codeflare(*words, text=text)
        if done.returncode != 0:
            raise AssertionError(f"{words}: exit {done.returncode}\n{done.stdout}{done.stderr}")

    def call(self, path, body=None):
        """The code and the JSON of the answer."""
        request = urllib.request.Request(self.server.geturl() + "/apis/codeflare.dev/v1alpha1" + path, headers={"Content-Type": "application/json"},
                                         data=None if body is None else json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request, context=self.tls, timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def create(self, run):
        return self.call(f"/namespaces/{run['metadata']['namespace']}/runs?fieldValidation=Strict", run)

    def wait_for(self, what, name, condition):
        """The status of the first Run of the name in `what` (namespaces) for which the condition holds; all must come to it."""
        waiting, found = set(what), {}
        deadline = time.monotonic() + PATIENCE_SECONDS
        while waiting:
            statuses = {run["metadata"]["namespace"]: run.get("status", {}) for run in self.call("/runs")[1]["items"] if run["metadata"]["name"] == name}
            for namespace in sorted(waiting):
                if condition(namespace, statuses.get(namespace, {})):
                    found[namespace] = statuses[namespace]
                    waiting.remove(namespace)
            self.assertLess(time.monotonic(), deadline, {namespace: statuses.get(namespace) for namespace in waiting})
            time.sleep(0.05 if waiting else 0)
        return found

    def test_the_schema_or_the_status_has_every_mistake(self):
        created, rejected = {}, 0
        for row in ROWS:
            code, answer = self.create(row.run)
            if code == 201:
                created[row.namespace] = row
                continue
            rejected += 1
            with self.subTest(row.sentence):
                self.assertIn(code, (400, 422), answer)
                self.assertIn(row.field(), answer["message"])
        found = self.wait_for(created, "r", lambda namespace, status: created[namespace].sentence in status.get("message", ""))
        for namespace, row in created.items():
            with self.subTest(row.sentence):
                status = found[namespace]
                self.assertEqual((status["phase"], status["reason"]), ("Pending", "Missing") if row.missing else ("Failed", "Invalid"))
                self.assertNotIn("appWrapper", status)
        self.assertGreaterEqual(len(created), 30)
        self.assertEqual(rejected, 4)

    def test_submit_reports_every_mistake_that_can_be_typed(self):
        typed = [row for row in ROWS if row.words]
        self.assertGreaterEqual(len(typed), 25)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for row, done in zip(typed, pool.map(lambda row: self.codeflare(*row.words), typed)):
                with self.subTest(shlex.join(row.words)):
                    self.assertIn(f"error: {row.sentence}", done.stderr)
                    self.assertEqual((done.returncode, done.stdout), (NOT_FOUND if row.missing else USAGE, ""))
        self.assertEqual([run["metadata"]["name"] for run in self.call("/runs")[1]["items"] if run["metadata"]["name"] == "submitted"], [])

    def test_a_name_has_at_most_63_characters(self):
        objects = [namespace_object("names"), application({}, "names"), data_set("small", "names")]
        self.check("create", "-f", "-", text="\n---\n".join(json.dumps(each) for each in objects))

        def in_three_places(size):
            """The answer to create, `submit` and `compile` for a Run whose name has this many characters."""
            run = wrong_run({"parameters": FILE}, "names", "n" * size)
            submitted = submit_words(run)
            submitted[submitted.index("submitted")] = "s" * size
            compiled = self.codeflare("compile", "-", text="\n---\n".join(json.dumps(each) for each in [run, *objects[1:]]))
            return (*self.create(run), self.codeflare(*submitted), compiled)

        code, answer, submit, compiled = in_three_places(64)
        sentence = "metadata.name: the name has 64 characters, at most 63 are possible\n"
        self.assertEqual(code, 422)
        self.assertIn("names of Runs have at most 63 characters", answer["message"])
        self.assertEqual((submit.returncode, submit.stderr), (USAGE, f"error: {sentence}"))
        self.assertEqual((compiled.returncode, compiled.stderr), (USAGE, f"error: standard input: document 1, Run names/{'n' * 64}: {sentence}"))

        code, answer, submit, compiled = in_three_places(63)
        self.assertEqual(code, 201, answer)
        self.wait_for(["names"], "n" * 63, lambda _, status: "appWrapper" in status)
        self.assertEqual((submit.returncode, submit.stdout), (0, f"run/{'s' * 63} created\n"), submit.stderr)
        self.assertEqual(compiled.returncode, 0, compiled.stderr)


if __name__ == "__main__":
    unittest.main()
