#!/usr/bin/env python3
"""accepted_test.py: a real kube-apiserver (KUBECONFIG) serves our definitions and KubeRay's, and accepts what every golden file compiles to."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import yaml

sys.dont_write_bytecode = True

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/crds"))

from modules import KUBERAY  # noqa: E402

GOLDEN = ROOT / "tests/platform/golden"


def kubectl(*words, text=None):
    return subprocess.run(["kubectl", *map(str, words)], input=text, capture_output=True, text=True, check=False, timeout=300)


def objects_of(text):
    """The AppWrappers of a golden file and what they hold."""
    for wrapper in filter(None, yaml.safe_load_all(text.split("# --explain")[0])):
        for each in [wrapper, *(item["generictemplate"] for item in wrapper["spec"]["resources"]["GenericItems"])]:
            each["metadata"]["namespace"] = "default"
            yield each


def pod_specs(value):
    """The pod specs anywhere in these objects."""
    if isinstance(value, dict):
        if "containers" in value:
            yield value
        for each in value.values():
            yield from pod_specs(each)
    elif isinstance(value, list):
        for each in value:
            yield from pod_specs(each)


class Accepted(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Our definition of RayJobs accepts unknown fields.
        ours = [file for file in sorted((ROOT / "crds").glob("*.yaml")) if not file.name.startswith("ray.io_")]
        for files in ([KUBERAY.download() / KUBERAY.definitions], ours):
            done = kubectl("apply", "--server-side", *(word for file in files for word in ("-f", file)))
            if done.returncode != 0:
                raise AssertionError(done.stderr)
        kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")

    def test_every_golden_file(self):
        files = sorted(GOLDEN.glob("*.golden"))
        self.assertGreaterEqual(len(files), 40)
        for file in files:
            with self.subTest(file.name), tempfile.NamedTemporaryFile("w", suffix=".yaml") as objects:
                objects.write(yaml.safe_dump_all(objects_of(file.read_text())))
                objects.flush()
                done = kubectl("apply", "--dry-run=server", "--validate=strict", "-f", objects.name)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_wrong_field_is_rejected(self):
        """The test above could not fail otherwise."""
        for name, word, wrong in (("ray", "submissionMode:", "submissionModus:"), ("shell", "completionMode:", "completionModus:")):
            text = (GOLDEN / f"{name}.golden").read_text()
            self.assertIn(word, text)
            done = kubectl("apply", "--dry-run=server", "--validate=strict", "-f", "-", text=yaml.safe_dump_all(objects_of(text.replace(word, wrong))))
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f'unknown field "spec.{wrong[:-1]}"', done.stderr)

    def test_runs_of_a_user_other_than_root_fit_restricted_namespaces(self):
        restricted = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "restricted", "labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}
        kubectl("create", "-f", "-", text=yaml.safe_dump(restricted))
        for name, accepted in (("shell-security", True), ("ray-security", True), ("shell", False)):
            jobs = [each for each in objects_of((GOLDEN / f"{name}.golden").read_text()) if each["kind"] in ("Job", "RayJob")]
            for spec in pod_specs(jobs):
                pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "restricted"}, "spec": {**spec, "restartPolicy": "Never"}}
                done = kubectl("create", "--dry-run=server", "-f", "-", text=yaml.safe_dump(pod))
                self.assertEqual(done.returncode == 0, accepted, f"{name}: {done.stderr}")

    def test_examples_and_tests(self):
        kubectl("create", "namespace", "codeflare-test")
        for path in ("examples/my_platform/templates/count-words.yaml", "tests/templates/datasets/s3-test.yaml", "tests/templates/applications", "tests/runs/test1.yaml"):
            done = kubectl("apply", "--validate=strict", "-f", ROOT / path)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_wrong_kinds_are_rejected(self):
        secret = {"name": "a", "namespace": "b"}
        for kind, spec, sentence in (("PlatformRepoSecret", {"repo": "user@evil.org/x", "secret": secret}, "spec.repo"),
                                     ("PlatformRepoSecret", {"repo": "ssh://git.example.com", "secret": secret}, "spec.repo"),
                                     ("PlatformRepoSecret", {"repo": "git.example.com", "secret": {"name": "a"}}, "spec.secret.namespace"),
                                     ("DataSet", {"s3": {"endpoint": "http://u:p@h", "bucket": "box"}}, "spec.s3.endpoint"),
                                     ("DataSet", {"s3": {"endpoint": "http://h"}}, "spec.s3.bucket"),
                                     ("DataSet", {"s3": {"endpoint": "http://h", "bucket": "box"}, "inline": {"a": "b"}}, "set exactly one of inline, nfs, pvc and s3"),
                                     ("Image", {"imagePullSecret": "s"}, "spec.image")):
            body = {"apiVersion": "codeflare.dev/v1alpha1", "kind": kind, "metadata": {"name": "wrong"}, "spec": spec}
            done = kubectl("apply", "-f", "-", text=yaml.safe_dump(body))
            self.assertNotEqual(done.returncode, 0, spec)
            self.assertIn(sentence, done.stderr)


if __name__ == "__main__":
    unittest.main()
