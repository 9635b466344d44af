#!/usr/bin/env python3
"""Somebody who may create Runs in one namespace, and nothing else: a Run completes there, and no field of it reaches further."""

import json
import sys
import unittest

from attack_case import AttackCase, Stranger, space

import up_test

GROUP = "codeflare.dev"
RULES = [{"apiGroups": [GROUP], "resources": ["runs"], "verbs": ["create", "get"]}]
SHELL = {"api": "shell", "image": "debian", "command": "echo ran", "size": "xxs"}
# What a Run has no business to say, each beside its application.
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
