"""The life of a release of codeflare-platform, for the tests that install it on one cluster or another."""

import json
import os
import sys
import unittest

from charts import ROOT

NAMESPACE = "codeflare-system"
RELEASE = "codeflare"
DEFINITION = "appwrappers.workload.codeflare.dev"
# A field that the definitions of an earlier version lack.
FIELD = "ttlSecondsAfterFinished"
FIELD_PATH = ("spec", "versions", 0, "schema", "openAPIV3Schema", "properties", "spec", "properties")
# CODEFLARE_HELM names another Helm: helm-4.
HELM = os.environ.get("CODEFLARE_HELM", "helm")


def wrapper(name, *command, spec=None, namespace="default", **fields):
    """An AppWrapper of one pod, as JSON."""
    container = {"name": "c", "image": "any", "command": command, "resources": {"requests": {"cpu": "100m"}}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace},
           "spec": {"terminationGracePeriodSeconds": 1, "restartPolicy": "Never", "containers": [container], **(spec or {})}}
    items = [{"replicas": 1, "generictemplate": pod}]
    return json.dumps({"apiVersion": "workload.codeflare.dev/v1beta1", "kind": "AppWrapper", "metadata": {"name": name, "namespace": namespace},
                       "spec": {"resources": {"GenericItems": items}, **fields}})


def shell(name, command):
    """An Application and a Run of it, both of this name, as JSON."""
    made = [("Application", {"api": "shell", "image": "any", "command": command}), ("Run", {"application": {"name": name}, "size": "xxs"})]
    items = [{"apiVersion": "codeflare.dev/v1alpha1", "kind": kind, "metadata": {"name": name, "namespace": "default"}, "spec": spec} for kind, spec in made]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


class ReleaseCase(unittest.TestCase):
    maxDiff = None
    commands = None  # of the cluster
    values = ()      # of install and upgrade

    def helm(self, verb, *words, **options):
        return self.commands.run(HELM, verb, *words, "-n", NAMESPACE, "--timeout", "120s", **options)

    def install(self, chart=ROOT / "platform", *words):
        try:
            self.helm("install", RELEASE, chart, "--create-namespace", "--wait", *self.values, *words)
        except AssertionError as error:
            told = self.commands.kubectl("describe", "pods,jobs", "-n", NAMESPACE)
            raise AssertionError(f"{error}\n{told}") from error

    def check_test(self):
        """`helm test` passes and cleans up."""
        run = self.commands
        try:
            self.helm("test", RELEASE)
        except AssertionError as error:
            told = run.kubectl("describe", "pods,appwrappers,runs", "-n", NAMESPACE)
            raise AssertionError(f"{error}\n{told}") from error
        # The AppWrapper goes with its Run, a moment later.
        run.wait_for("the clean-up of helm test", lambda: not run.names("appwrappers", "-A") and not run.names("runs", "-A"))

    def definition(self):
        return self.commands.get("crd", DEFINITION)

    def definition_has_field(self):
        at = self.definition()
        for step in FIELD_PATH:
            at = at[step]
        return FIELD in at

    def check_field_is_stored(self, stored):
        run = self.commands
        run.kubectl("create", "--validate=ignore", "-f", "-", stdin=wrapper("field", "true", **{FIELD: 600}))
        self.assertEqual(run.get("appwrapper", "field", "-n", "default")["spec"].get(FIELD), 600 if stored else None)
        run.kubectl("delete", "appwrapper", "field", "-n", "default", "--timeout=60s")

    def running(self, name):
        return any(one["status"].get("phase") == "Running" for one in self.commands.get("pods", "-n", "default")["items"]
                   if one["metadata"]["name"].startswith(name))

    def check_uninstall_waits_for_work(self):
        """A running Run and a running AppWrapper keep the controller, and are named."""
        run = self.commands
        run.kubectl("create", "-f", "-", stdin=wrapper("busy", "sleep", "600"))
        run.kubectl("create", "-f", "-", stdin=shell("train", "exec sleep 600"))
        run.wait_for("running pods", lambda: self.running("busy") and self.running("train-"))
        self.helm("uninstall", RELEASE, fails=True)
        pods = run.get("pods", "-n", NAMESPACE, "-l", "app.kubernetes.io/component=idle")["items"]
        message = pods[0]["status"]["containerStatuses"][0]["state"]["terminated"].get("message", "")
        self.assertRegex(message, r"2 AppWrappers hold nodes: default/busy, default/train-\w+ of Run train; ")
        self.assertEqual(run.get("deployment", RELEASE, "-n", NAMESPACE)["status"].get("readyReplicas", 0) > 0, True)
        run.kubectl("delete", "appwrapper/busy", "run/train", "application/train", "-n", "default", "--timeout=60s")
        run.wait_for("the end of both", lambda: not run.names("appwrappers", "-n", "default", "-l", "codeflare.dev/run=train"))

    def ours(self):
        mine = ("-l", f"app.kubernetes.io/instance={RELEASE}")
        kinds = "clusterroles,clusterrolebindings,mutatingwebhookconfigurations,validatingwebhookconfigurations,priorityclasses,apiservices"
        return self.commands.names(kinds, *mine) | self.commands.names("all,roles,rolebindings,serviceaccounts,poddisruptionbudgets", "-n", NAMESPACE, *mine)

    def uninstall(self):
        """Nothing of the release is left. Definitions and objects are, and AppWrappers can be created."""
        run = self.commands
        kept = {kind: run.names(kind, "-A") for kind in ("crd", "appwrappers", "runs", "applications")}
        self.helm("uninstall", RELEASE, "--wait")
        run.wait_for("nothing of ours to be left", lambda: not self.ours())
        for kind, before in kept.items():
            self.assertLessEqual(before, run.names(kind, "-A"), kind)
        self.assertIn(f"customresourcedefinition.apiextensions.k8s.io/{DEFINITION}", kept["crd"])
        run.kubectl("create", "-f", "-", stdin=wrapper("after", "true"))
        run.kubectl("delete", "appwrapper", "after", "-n", "default", "--wait=false")

    def check_authority(self):
        """The controller has filled in caBundle."""
        for kind in ("mutatingwebhookconfiguration", "validatingwebhookconfiguration"):
            webhook = self.commands.get(kind, "codeflare-appwrappers")["webhooks"][0]
            self.assertTrue(webhook["clientConfig"].get("caBundle"), kind)

    def say_version(self):
        print(self.commands.run(HELM, "version", "--short").strip(), file=sys.stderr)
