#!/usr/bin/env python3
"""Somebody who may create Runs in one namespace, and nothing else: a Run completes there, and no field of it reaches further."""

import json
import subprocess
import sys
import unittest

from attack_case import AttackCase, Stranger, space

import up_test

GROUP = "codeflare.dev"
RULES = [{"apiGroups": [GROUP], "resources": ["runs"], "verbs": ["create", "get"]}]
SHELL = {"api": "shell", "image": "debian", "command": "echo ran", "size": "xxs"}
# Fields that a Run must not set, each beside its application.
WISHES = [
    {"image": "other"}, {"command": "id"}, {"serviceAccountName": "admin"}, {"securityContext": {"runAsUser": 0, "privileged": True}}, {"hostNetwork": True},
    {"volumes": [{"name": "h", "hostPath": {"path": "/"}}]}, {"repo": "https://example.com/x/y"}, {"code": [{"name": "a", "source": "b"}]},
    {"nodeName": "codeflare-0"}, {"template": {"spec": {"hostPID": True}}}, {"inputs": [{"name": "private", "namespace": "owner"}]},
    {"options": "'; id' '$(id)' '&& id'"}, {"env": {"A": "$(id)"}},
]


def kind_path(ns, plural, name=""):
    return f"/apis/{GROUP}/v1alpha1/namespaces/{ns}/{plural}" + (f"/{name}" if name else "")


def made(kind, name, spec):
    return {"apiVersion": f"{GROUP}/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec}


class Tenants(AttackCase):
    def setUp(self):
        super().setUp()
        self.start("--cpus", "4", "--memory", "8Gi")
        for ns in ("owner", "tenant"):
            self.add_namespace(ns)
        for name, more in (("shared", {"allowedNamespaces": ["tenant"]}), ("closed", {}), ("reads", {"allowedNamespaces": ["tenant"], "inputs": [{"name": "private"}]})):
            self.cluster.post(kind_path("owner", "applications"), made("Application", name, {**SHELL, **more}))
        self.cluster.post(kind_path("owner", "datasets"), made("DataSet", "private", {"inline": {"a": "of-the-owner"}}))
        self.tenant = Stranger(self.cluster, "tenant", rules=RULES)

    def run_of(self, name, application="shared", **spec):
        body = made("Run", name, {"application": {"name": application, "namespace": "owner"}, **spec})
        code, answer = self.tenant.call("POST", kind_path("tenant", "runs"), body)
        return answer if code != 201 else None

    def ended(self, name):
        return self.cluster.wait_for(kind_path("tenant", "runs", name), lambda run: run.get("status", {}).get("phase") in ("Completed", "Failed"))["status"]

    def items_of(self, status):
        """The objects of the Run's AppWrapper, without its name."""
        wrapper = self.cluster.get(f"/apis/workload.{GROUP}/v1beta1/namespaces/tenant/appwrappers/{status['appWrapper']}")
        return json.dumps(wrapper["spec"]["resources"]).replace(status["appWrapper"], "NAME")

    def test_a_run_is_all_that_a_tenant_can_have(self):
        self.assertIsNone(self.run_of("plain"))
        plain = self.ended("plain")
        self.assertEqual(plain["phase"], "Completed", plain)
        for path, body in ((kind_path("tenant", "applications"), made("Application", "mine", SHELL)), (space("tenant", "pods"), {}), (space("tenant", "secrets"), {}),
                           (f"/apis/workload.{GROUP}/v1beta1/namespaces/tenant/appwrappers", {}), ("/apis/batch/v1/namespaces/tenant/jobs", {}),
                           (kind_path("owner", "runs"), made("Run", "there", {"application": {"name": "shared"}}))):
            self.assertEqual(self.tenant.call("POST", path, body)[0], 403, path)
        for number, wish in enumerate(WISHES):
            name = f"wish-{number}"
            if self.run_of(name, **wish):
                continue  # rejected
            status = self.ended(name)
            items = self.items_of(status).replace(name, "plain")
            with self.subTest(str(wish)):
                if "options" in wish:  # words, each as it is
                    self.assertIn('"sh", "; id", "$$(id)", "&& id"', items)
                elif "env" in wish:
                    self.assertIn('"$$(id)"', items)
                else:
                    self.assertEqual(items, self.items_of(plain))
                for word in ("hostPath", "privileged", "hostNetwork", "hostPID", "serviceAccount", "nodeName"):
                    self.assertNotIn(word, items)

    def test_submit_leaves_to_the_controller_what_it_may_not_read(self):
        # Needs more than the built-in size has; the cluster's own size is larger.
        self.cluster.post(kind_path("owner", "applications"), made("Application", "big", {**SHELL, "minMemory": "3Gi", "allowedNamespaces": ["tenant"]}))
        config = {"config": {"xxs": {"workers": 1, "cpu": 1, "memory": "4Gi"}}}
        self.cluster.post(f"/apis/{GROUP}/v1alpha1/runsizeconfigurations", made("RunSizeConfiguration", "ours", config))
        reader = Stranger(self.cluster, "tenant", name="reader", rules=RULES)
        rules = [{"apiGroups": [GROUP], "resources": ["applications"], "verbs": ["get"]}]
        self.cluster.post("/apis/rbac.authorization.k8s.io/v1/namespaces/owner/roles", {"metadata": {"name": "reader"}, "rules": rules})
        self.cluster.post("/apis/rbac.authorization.k8s.io/v1/namespaces/owner/rolebindings", {
            "metadata": {"name": "reader"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
            "subjects": [{"kind": "ServiceAccount", "name": "reader", "namespace": "tenant"}]})
        for stranger, note in ((self.tenant, "Application owner/big"), (reader, "")):
            name = "run-of-" + stranger.name
            done = self.codeflare_as(stranger, "submit", "run", "-a", "owner/big", "--name", name)
            self.assertEqual((done.returncode, done.stdout), (0, f"run/{name} created\n"), done.stderr)
            self.assertEqual(done.stderr, f"note: you may not read {note}, RunPolicies; the controller checks the run\n" if note else "")
            self.assertEqual(self.ended(name)["phase"], "Completed")
            self.assertIn("xxs    1         1     4Gi", self.codeflare_as(stranger, "list", "sizes").stdout)
        wrong = self.codeflare_as(reader, "submit", "run", "-a", "owner/big", "-p", "x=1")
        self.assertEqual(wrong.returncode, 2, wrong.stderr)

    def codeflare_as(self, stranger, *words):
        config = self.cluster.scratch / f"{stranger.name}.kubeconfig"
        config.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": stranger.server, "certificate-authority": str(self.cluster.scratch / "certificate-authority-data")}}],
            "users": [{"name": "u", "user": {"token": stranger.token}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u", "namespace": "tenant"}}]}))
        return subprocess.run([up_test.PROGRAM, *words, "--kubeconfig", str(config)], capture_output=True, text=True, timeout=120)

    def test_what_the_owner_does_not_share_is_out_of_reach(self):
        for application, why in (("closed", "Application owner/closed does not allow namespace tenant"),
                                 ("reads", "DataSet owner/private does not allow namespace tenant")):
            self.assertIsNone(self.run_of(application, application))
            status = self.ended(application)
            self.assertEqual(status["phase"], "Failed")
            self.assertIn(why, status["message"])
            self.assertNotIn("of-the-owner", json.dumps(status))


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    unittest.main()
