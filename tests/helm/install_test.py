#!/usr/bin/env python3
"""install_test.py CODEFLARE: the life of a release of codeflare-platform on `codeflare up`, whose own controllers lead, by Helm, with the image that tools/image.py makes."""

import contextlib
import json
import pathlib
import sys
import time
import unittest

sys.dont_write_bytecode = True

import charts  # noqa: E402
from charts import ROOT, VERSION, Commands, Up  # noqa: E402

NAMESPACE = "codeflare-system"
RELEASE = "codeflare"
FIELD = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/ttlSecondsAfterFinished"


def wrapper(name, *command):
    return f"""
apiVersion: workload.codeflare.dev/v1beta1
kind: AppWrapper
metadata: {{name: {name}, namespace: default}}
spec:
  resources:
    GenericItems:
    - replicas: 1
      generictemplate:
        apiVersion: v1
        kind: Pod
        metadata: {{name: {name}, namespace: default}}
        spec:
          terminationGracePeriodSeconds: 1
          containers:
          - {{name: c, image: any, command: {json.dumps(command)}, resources: {{requests: {{cpu: 100m}}}}}}
"""


@contextlib.contextmanager
def up_cluster(program, folder, archive):
    up = Up(program, folder, archive)
    try:
        yield up.kubeconfig
    finally:
        up.stop()


class Install(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        bin_dir = charts.tools("helm", "kubectl")
        program = charts.static_program()
        folder = charts.fresh_folder()
        cls.addClassCleanup(folder.cleanup)
        at = pathlib.Path(folder.name)
        archive = charts.image_archive(program, at)
        kubeconfig = cls.enterClassContext(up_cluster(program, at, archive))
        cls.commands = Commands(kubeconfig, bin_dir, program, at)

    def helm(self, verb, *words, **options):
        return self.commands.helm(verb, *words, "-n", NAMESPACE, "--timeout", "120s", **options)

    def definition_has_field(self):
        found = self.commands.kubectl("get", "crd", "appwrappers.workload.codeflare.dev", "-o", "json")
        return '"ttlSecondsAfterFinished"' in found

    def ours(self):
        kinds = "clusterroles,clusterrolebindings,mutatingwebhookconfigurations,validatingwebhookconfigurations,priorityclasses"
        left = self.commands.names(kinds, "-l", f"app.kubernetes.io/instance={RELEASE}")
        return left | self.commands.names("all,roles,rolebindings,serviceaccounts", "-n", NAMESPACE, "-l", f"app.kubernetes.io/instance={RELEASE}")

    def test_a_release_from_install_to_uninstall(self):
        run = self.commands
        began = time.monotonic()
        try:
            self.helm("install", RELEASE, ROOT / "platform", "--create-namespace", "--wait")
        except AssertionError as error:
            pods = run.kubectl("describe", "pods,jobs", "-n", NAMESPACE)
            raise AssertionError(f"{error}\n{pods}") from error
        print(f"install --wait took {time.monotonic() - began:.1f} s", file=sys.stderr)
        deployment = run.get("deployment", RELEASE, "-n", NAMESPACE)
        self.assertEqual(deployment["status"].get("readyReplicas"), 1)
        self.check_leader()

        self.helm("test", RELEASE)
        self.assertEqual(run.names("appwrappers", "-A"), set(), "the test cleans up")

        # A definition of an earlier version.
        patch = f'[{{"op":"remove","path":"{FIELD}"}}]'
        run.kubectl("patch", "crd", "appwrappers.workload.codeflare.dev", "--type=json", "-p", patch)
        self.assertFalse(self.definition_has_field())
        self.helm("upgrade", RELEASE, ROOT / "platform", "--wait", "--set", "core.podLabels.round=two")
        self.assertTrue(self.definition_has_field(), "the hook has changed it")
        self.check_authority()
        self.helm("rollback", RELEASE, "1", "--wait")

        # Work keeps the controller.
        run.kubectl("create", "-f", "-", stdin=wrapper("busy", "sleep", "600"))
        run.wait_for("a running pod", lambda: run.get("pods", "-n", "default")["items"] and
                     run.get("pod", "busy", "-n", "default")["status"].get("phase") == "Running")
        self.helm("uninstall", RELEASE, fails=True)
        pods = run.get("pods", "-n", NAMESPACE, "-l", "app.kubernetes.io/component=idle")["items"]
        messages = [one["status"]["containerStatuses"][0]["state"]["terminated"].get("message", "") for one in pods]
        self.assertIn("1 AppWrapper holds nodes: default/busy", messages[0])
        run.kubectl("delete", "appwrapper", "busy", "-n", "default", "--timeout=60s")
        self.helm("uninstall", RELEASE, "--wait")

        run.wait_for("nothing of ours to be left", lambda: not self.ours())
        self.assertIn("customresourcedefinition.apiextensions.k8s.io/appwrappers.workload.codeflare.dev", run.names("crd"))
        run.kubectl("create", "-f", "-", stdin=wrapper("after", "true"))
        run.kubectl("delete", "appwrapper", "after", "-n", "default", "--wait=false")

    def check_leader(self):
        holder = self.commands.get("lease", "codeflare-controller", "-n", NAMESPACE)["spec"]["holderIdentity"]
        pod = self.commands.get("pods", "-n", NAMESPACE, "-l", "app.kubernetes.io/component=controller")["items"][0]
        self.assertTrue(all(one["image"].endswith(f"codeflare:{VERSION}") for one in pod["spec"]["containers"]))
        self.assertTrue(holder.startswith("codeflare-up_"), holder)
        log = self.commands.kubectl("logs", "-n", NAMESPACE, pod["metadata"]["name"])
        self.assertIn("standing by: another controller leads", log)
        self.assertNotIn('"level":"error"', log)

    def check_authority(self):
        """What the controller filled in is still there after the upgrade."""
        for kind in ("mutatingwebhookconfiguration", "validatingwebhookconfiguration"):
            webhook = self.commands.get(kind, "codeflare-appwrappers")["webhooks"][0]
            self.assertTrue(webhook["clientConfig"].get("caBundle"), kind)


if __name__ == "__main__":
    sys.argv.pop(1)
    unittest.main()
