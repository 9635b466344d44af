"""run_tests.py CODEFLARE: the tests of kuberay_test, inside the environment that has the Python client."""

import json
import sys
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "clients"), str(HERE.parents[1] / "kubernetes")]

from kubernetes import client, config, dynamic  # noqa: E402

import operator_process  # noqa: E402
from harness import build  # noqa: E402
from kubelet import NODE, Kubelet  # noqa: E402
from server import eventually, running  # noqa: E402

SERVER = None
OWNED = [("v1", "Pod"), ("v1", "Service"), ("v1", "ServiceAccount"), ("rbac.authorization.k8s.io/v1", "Role"), ("rbac.authorization.k8s.io/v1", "RoleBinding")]


class KubeRayTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        program = build.ensure(["kuberay"]) / "kuberay-operator"
        cls.api = config.new_client_from_config(config_file=SERVER.kubeconfig)
        cls.core = client.CoreV1Api(cls.api)
        cls.core.create_node(client.V1Node(metadata=client.V1ObjectMeta(name=NODE)))
        operator_process.install(cls.api, SERVER.folder / "discovery.json")
        kubeconfig = SERVER.folder / "operator.kubeconfig"
        operator_process.write_kubeconfig(SERVER.kubeconfig, cls.api, kubeconfig)
        cls.found = dynamic.DynamicClient(cls.api, cache_file=str(SERVER.folder / "discovery-2.json"))
        cls.clusters = cls.found.resources.get(api_version="ray.io/v1", kind="RayCluster")
        cls.kubelet = Kubelet(config.new_client_from_config(config_file=SERVER.kubeconfig))
        cls.kubelet.start()
        cls.addClassCleanup(cls.kubelet.stop)
        cls.operator = operator_process.Operator(program, kubeconfig, SERVER.folder / "operator.log")
        cls.addClassCleanup(cls.operator.stop)

    def tearDown(self):
        self.assertNotIn("forbidden", self.operator.text(), "its own roles are enough")

    def apply_sample(self, name, namespace):
        """Makes the objects of a sample in a namespace of its own and returns the name of the RayCluster."""
        self.namespace = namespace
        self.core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=namespace)))
        items = operator_process.documents(operator_process.module() / "config" / "samples" / name)
        operator_process.apply(self.api, SERVER.folder / "discovery-2.json", items, namespace)
        self.name = next(item["metadata"]["name"] for item in items if item["kind"] == "RayCluster")

    def cluster(self):
        return self.clusters.get(name=self.name, namespace=self.namespace).to_dict()

    def pods(self, kind=None):
        selector = f"ray.io/cluster={self.name}" + (f",ray.io/node-type={kind}" if kind else "")
        return self.core.list_namespaced_pod(self.namespace, label_selector=selector).items

    def patch(self, spec):
        self.clusters.patch(name=self.name, namespace=self.namespace, body=spec, content_type="application/json-patch+json")

    def becomes(self, workers=None, state="ready"):
        """Waits until the operator says so, of the newest generation, and the pods are there."""

        def settled():
            self.assertIsNone(self.kubelet.problem)
            self.assertIsNone(self.operator.process.poll(), "the operator ended")
            cluster = self.cluster()
            status = cluster.get("status", {})
            current = status.get("observedGeneration") == cluster["metadata"]["generation"] and status.get("state") == state
            counted = workers is None or (len(self.pods("worker")) == workers and status.get("availableWorkerReplicas", 0) == workers)
            return cluster if current and counted else None

        began = time.monotonic()
        cluster = eventually(settled, lambda: f"{state} with {workers} workers: {json.dumps(self.cluster().get('status'))}\n{self.operator.text()[-3000:]}")
        print(f"{self.name}: {state} with {workers} workers after {time.monotonic() - began:.1f} s", flush=True)
        return cluster

    def owned(self):
        found = []
        for version, kind in OWNED:
            for item in self.found.resources.get(api_version=version, kind=kind).get(namespace=self.namespace).items:
                if any(owner.kind == "RayCluster" for owner in item.metadata.ownerReferences or []):
                    found.append(f"{kind}/{item.metadata.name}")
        return found

    def vanishes(self):
        self.clusters.delete(name=self.name, namespace=self.namespace)
        eventually(lambda: not self.owned(), lambda: f"everything is gone: {self.owned()}")
        with self.assertRaises(dynamic.exceptions.NotFoundError):
            self.cluster()

    def test_the_sample_cluster_lives_its_life(self):
        self.apply_sample("ray-cluster.sample.yaml", "sample")
        cluster = self.becomes(workers=1)
        (head,) = self.pods("head")
        self.assertEqual([container.name for container in head.spec.containers], ["ray-head"])
        self.assertEqual(head.metadata.owner_references[0].uid, cluster["metadata"]["uid"])
        (worker,) = self.pods("worker")
        self.assertEqual([container.name for container in worker.spec.init_containers], ["wait-gcs-ready"])
        service = self.core.read_namespaced_service(f"{self.name}-head-svc", self.namespace)
        self.assertLessEqual({6379, 8265, 10001}, {port.port for port in service.spec.ports})
        status = cluster["status"]
        self.assertEqual((status["desiredWorkerReplicas"], status["maxWorkerReplicas"], status["desiredCPU"]), (1, 5, "2"))
        self.assertEqual((status["head"]["podName"], status["head"]["podIP"]), (head.metadata.name, head.status.pod_ip))
        conditions = {item["type"]: item["status"] for item in status["conditions"]}
        self.assertEqual((conditions["HeadPodReady"], conditions["RayClusterProvisioned"]), ("True", "True"))
        events = self.core.list_namespaced_event(self.namespace, field_selector=f"involvedObject.name={self.name}").items
        self.assertLessEqual({"CreatedHeadPod", "CreatedWorkerPod", "CreatedService"}, {event.reason for event in events})

        self.patch([{"op": "replace", "path": "/spec/workerGroupSpecs/0/replicas", "value": 3}])
        self.assertEqual(self.becomes(workers=3)["status"]["desiredCPU"], "4")
        SERVER.restart()  # neither the operator nor the nodes notice more than a broken connection
        self.patch([{"op": "replace", "path": "/spec/workerGroupSpecs/0/replicas", "value": 1}])
        self.becomes(workers=1)
        self.patch([{"op": "add", "path": "/spec/suspend", "value": True}])
        self.becomes(workers=0, state="suspended")
        self.assertEqual(self.pods(), [])
        self.patch([{"op": "replace", "path": "/spec/suspend", "value": False}])
        self.becomes(workers=1)
        self.assertNotEqual(self.pods("head")[0].metadata.uid, head.metadata.uid)
        self.vanishes()

    def test_the_autoscaler_gets_an_account_and_rights_of_its_own(self):
        self.apply_sample("ray-cluster.autoscaler.yaml", "autoscaler")
        self.becomes(workers=0)
        (head,) = self.pods("head")
        self.assertEqual([container.name for container in head.spec.containers], ["ray-head", "autoscaler"])
        self.assertEqual(head.spec.service_account_name, self.name)
        self.assertLessEqual({f"{kind}/{self.name}" for kind in ("ServiceAccount", "Role", "RoleBinding")}, set(self.owned()))
        # The autoscaler asks for workers by a patch of the custom resource, under the account that the operator made for it.
        review = client.V1SubjectAccessReviewSpec(
            user=f"system:serviceaccount:{self.namespace}:{self.name}",
            resource_attributes=client.V1ResourceAttributes(namespace=self.namespace, group="ray.io", resource="rayclusters", verb="patch"),
        )
        answer = client.AuthorizationV1Api(self.api).create_subject_access_review(client.V1SubjectAccessReview(spec=review))
        self.assertTrue(answer.status.allowed)
        self.patch([{"op": "replace", "path": "/spec/workerGroupSpecs/0/replicas", "value": 2}])
        self.becomes(workers=2)
        doomed = self.pods("worker")[0].metadata.name
        path = "/spec/workerGroupSpecs/0"
        self.patch(
            [
                {"op": "replace", "path": f"{path}/replicas", "value": 1},
                {"op": "add", "path": f"{path}/scaleStrategy", "value": {"workersToDelete": [doomed]}},
            ]
        )
        self.becomes(workers=1)
        self.assertNotEqual(self.pods("worker")[0].metadata.name, doomed)
        self.vanishes()

    def test_the_operator_leads_by_a_lease(self):
        leases = client.CoordinationV1Api(self.api)

        def holders():
            return [item.metadata.name for item in leases.list_namespaced_lease(operator_process.NAMESPACE).items if item.spec.holder_identity]

        eventually(lambda: holders() == ["ray-operator-leader"], "the operator leads")


def main():
    global SERVER
    with running(sys.argv[1]) as server:
        SERVER = server
        result = unittest.main(argv=sys.argv[:1] + sys.argv[2:], exit=False, verbosity=2).result
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":
    sys.exit(main())
