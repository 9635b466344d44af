"""Common parts of the tests of the Python client: clients of one server, and a namespace for each test."""

import itertools
import json
import unittest

import yaml
from kubernetes import client, config, dynamic

from server import eventually

SERVER = None  # set by run_tests.py before any test is loaded
NUMBERS = itertools.count(1)


def admin():
    return config.new_client_from_config(config_file=SERVER.kubeconfig)


def with_token(token):
    """A client as a program in a pod has it: the address, the authority and a token."""
    with open(SERVER.kubeconfig) as file:
        cluster = yaml.safe_load(file)["clusters"][0]
    return config.new_client_from_config_dict(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [cluster],
            "users": [{"name": "token", "user": {"token": token}}],
            "contexts": [{"name": "token", "context": {"cluster": cluster["name"], "user": "token"}}],
            "current-context": "token",
        }
    )


def config_map(name, data=None, **metadata):
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, **metadata), data=data or {"key": "value"})


def pod(name, **spec):
    containers = [client.V1Container(name="main", image="busybox", command=["sleep", "3600"])]
    return client.V1Pod(metadata=client.V1ObjectMeta(name=name, labels={"app": name}), spec=client.V1PodSpec(containers=containers, **spec))


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.api = admin()
        cls.core = client.CoreV1Api(cls.api)

    @classmethod
    def tearDownClass(cls):
        cls.api.close()

    def setUp(self):
        self.ns = f"test-{next(NUMBERS)}"
        self.core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=self.ns)))
        # The objects of every namespace come a moment later, and would be counted and watched.
        eventually(lambda: self.core.list_namespaced_config_map(self.ns).items, "kube-root-ca.crt")

    def refused(self, status, reason, call, *arguments, **more):
        """Calls and expects an ApiException; returns the Status in its body."""
        with self.assertRaises(client.ApiException) as caught:
            call(*arguments, **more)
        error = caught.exception
        body = json.loads(error.body)
        self.assertEqual((error.status, body["kind"], body["apiVersion"], body["status"]), (status, "Status", "v1", "Failure"), error)
        self.assertEqual((body["code"], body["reason"]), (status, reason), error)
        self.assertEqual(error.headers["Content-Type"], "application/json")
        return body

    def dynamic(self, api=None):
        return dynamic.DynamicClient(api or self.api, cache_file=str(SERVER.folder / f"discovery-{next(NUMBERS)}.json"))
