#!/usr/bin/env python3
"""golden_test.py [--write]: `helm lint --strict`, and what the charts render, compared with tests/helm/golden. --write writes it anew."""

import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import charts
from charts import ROOT

GOLDEN = ROOT / "tests/helm/golden"
PLATFORM, LATTICE = ROOT / "platform", ROOT / "helm/lattice-operator"
EVERYTHING = {
    "global.codeflare.mcad": "true",
    "core.image.tag": "test", "core.image.pullPolicy": "Never", "core.imagePullSecrets[0].name": "registry", "core.replicas": "2",
    "core.nodeSelector.zone": "a", "core.tolerations[0].operator": "Exists", "core.priorityClassName": "system-cluster-critical",
    "core.podAnnotations.a": "b", "core.podLabels.team": "ml", "core.hostNetwork": "true", "core.leaseNamespace": "queue",
    "core.queue.bind": "true", "core.queue.preemption": "true", "core.queue.prioritySlope": "true", "core.queue.headOfLineHoldingSeconds": "60",
    "core.queue.quotaTrees": "false", "core.queue.workers": "8", "core.rayClusters": "false", "core.wrapAnything": "true",
    "core.logJson": "false", "core.verbose": "true", "core.extraArgs[0]": "--context=x", "core.metrics.serviceMonitor.enabled": "true",
    "core.gitImage": "git:test", "core.testImage": "sh:test", "s3.enabled": "true", "s3.secretAccessKey": "s3cr3t",
    "core.metrics.serviceMonitor.labels.release": "prometheus", "core.networkPolicy.enabled": "true",
}
CASES = {
    "platform-defaults": (PLATFORM, {}),
    "platform-everything": (PLATFORM, EVERYTHING),
    "platform-no-webhook": (PLATFORM, {"core.webhook.enabled": "false", "core.runAsUser": "null", "core.hooks.crds": "false",
                                       "core.hooks.checkBeforeDelete": "false", "core.roles": "false", "defaults.enabled": "false"}),
    "lattice-defaults": (LATTICE, {"checkpoint.key": "ch3ckp01nt"}),  # random otherwise
    "lattice-etcd": (LATTICE, {"rdzv.backend": "etcd", "rdzv.etcdImage": "etcd:test", "nodeSelector.gpu": "yes", "jfrog.username": "u",
                               "jfrog.password": "p4ssw0rd", "license": "k3y", "imagePullPolicy": "Never",
                               "checkpoint.key": "ch3ckp01nt", "checkpoint.storage.size": "", "checkpoint.quota": "100Gi", "bind": "true",
                               "checkpoint.s3.bucket": "saved", "checkpoint.s3.endpoint": "https://minio:9000", "checkpoint.s3.secret": "bucket-keys",
                               "usage.endpoint": "https://metrics.example/push", "usage.user": "u12345", "usage.passwordSecret": "metrics",
                               "usage.cluster": "prod", "usage.customer": "acme"}),
    "lattice-no-usage": (LATTICE, {"usage.enabled": "false", "checkpoint.enabled": "false", "leaseNamespace": "queue"}),
}


def helm(*words):
    return subprocess.run([charts.tools("helm") / "helm", *map(str, words)], capture_output=True, text=True, cwd=ROOT)


def render(chart, values):
    options = [word for key, value in values.items() for word in ("--set", f"{key}={value}")]
    run = helm("template", "release", chart, "-n", "namespace", "--kube-version", "1.34.0", *options)
    if run.returncode != 0:
        raise AssertionError(run.stderr)
    return run.stdout


class Golden(unittest.TestCase):
    maxDiff = None

    def test_lint_is_clean(self):
        for chart in (PLATFORM, LATTICE, ROOT / "watsonx_ai"):
            run = helm("lint", "--strict", chart)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_renderings_are_as_they_were(self):
        for name, (chart, values) in CASES.items():
            with self.subTest(name):
                self.assertEqual(render(chart, values), (GOLDEN / f"{name}.yaml").read_text(), "golden_test.py --write writes it anew")

    def test_a_chart_of_ones_own_depends_on_the_platform_or_stands_beside_it(self):
        with charts.fresh_folder() as folder:
            chart = pathlib.Path(folder, "examples/my_platform")
            shutil.copytree(ROOT / "examples/my_platform", chart, ignore=shutil.ignore_patterns("charts", "Chart.lock"))
            shutil.copytree(PLATFORM, pathlib.Path(folder, "platform"))
            run = helm("dependency", "build", chart)
            self.assertEqual(run.returncode, 0, run.stderr)
            own = {("Application", "count-words"), ("DataSet", "poem"), ("RunSizeConfiguration", "my-platform"), ("Image", "debian")}
            rendered = helm("template", "mine", chart, "-n", "namespace")
            self.assertEqual(rendered.returncode, 0, rendered.stderr)
            both = set(re.findall(r"^kind: (\S+)\nmetadata:\n  name: (\S+)$", rendered.stdout, re.M))
            self.assertIn(("Deployment", "mine-codeflare"), both)
            alone = helm("template", "mine", chart, "--set", "platform.enabled=false").stdout
            found = set(re.findall(r"^kind: (\S+)\nmetadata: \{name: (\S+)\}$", alone, re.M))
            self.assertEqual(found, own)
            self.assertNotIn("kind: Deployment", alone)

    def test_misspelt_values_are_rejected(self):
        for chart, value in ((PLATFORM, "core.replica=2"), (PLATFORM, "croe.replicas=2"), (PLATFORM, "core.webhook.enable=false"),
                             (PLATFORM, "global.codeflare.rya=true"), (PLATFORM, "core.replicas=0"), (PLATFORM, "core.image.pullPolicy=Sometimes"),
                             (PLATFORM, "defaults.classes=1"), (LATTICE, "jfrog.user=x"), (LATTICE, "rdzv.backend=zookeeper")):
            run = helm("template", "release", chart, "--set", value)
            self.assertNotEqual(run.returncode, 0, value)
            self.assertIn("values don't meet the specifications", run.stderr, value)

    def test_passwords_are_in_secrets_only(self):
        for (kind, name), text in charts.documents(render(*CASES["lattice-etcd"])).items():
            for secret in ("p4ssw0rd", "k3y", "ch3ckp01nt"):
                self.assertNotIn(secret, text, f"{kind} {name}")

    def test_every_pod_is_fit_for_restricted_namespaces(self):
        for name in ("platform-everything", "lattice-etcd"):
            for (kind, at), text in charts.documents(render(*CASES[name])).items():
                if "containers:" not in text:
                    continue
                for line in ("runAsNonRoot: true", "allowPrivilegeEscalation: false", "readOnlyRootFilesystem: true", "drop: [ALL]", "type: RuntimeDefault"):
                    self.assertIn(line, text, f"{kind} {at}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        GOLDEN.mkdir(exist_ok=True)
        for case, about in CASES.items():
            (GOLDEN / f"{case}.yaml").write_text(render(*about))
        sys.exit(0)
    unittest.main()
