"""The subresources of pods, as schedulers, drainers and kubelets use them."""

import json

from kubernetes import client

from case import Case, pod
from server import eventually


class PodsTest(Case):
    def bind(self, name, node):
        body = client.V1Binding(metadata=client.V1ObjectMeta(name=name), target=client.V1ObjectReference(kind="Node", api_version="v1", name=node))
        # The client takes the answer for a Binding and misses its target, against every server.
        return self.core.create_namespaced_pod_binding(name, self.ns, body, _preload_content=False)

    def run_pod(self, name, labels=None):
        body = pod(name)
        body.metadata.labels = labels or {"app": name}
        self.core.create_namespaced_pod(self.ns, body)
        self.bind(name, "node-a")
        ready = {"type": "Ready", "status": "True"}
        self.core.patch_namespaced_pod_status(name, self.ns, {"status": {"phase": "Running", "podIP": "10.1.2.3", "conditions": [ready]}})

    def test_a_pod_is_bound_once(self):
        self.core.create_namespaced_pod(self.ns, pod("sleeper"))
        answer = self.bind("sleeper", "node-a")
        self.assertEqual((answer.status, json.loads(answer.data)["status"]), (201, "Success"))
        bound = self.core.read_namespaced_pod("sleeper", self.ns)
        self.assertEqual(bound.spec.node_name, "node-a")
        self.assertEqual([(item.type, item.status) for item in bound.status.conditions], [("PodScheduled", "True")])
        self.refused(409, "Conflict", self.bind, "sleeper", "node-b")
        self.refused(404, "NotFound", self.bind, "nobody", "node-b")

    def test_a_bound_pod_ends_when_its_node_says_so(self):
        self.run_pod("sleeper")
        going = self.core.delete_namespaced_pod("sleeper", self.ns)
        self.assertEqual((going.metadata.deletion_grace_period_seconds, going.status.phase), (30, "Running"))
        self.assertTrue(self.core.read_namespaced_pod("sleeper", self.ns).metadata.deletion_timestamp)
        self.core.delete_namespaced_pod("sleeper", self.ns, grace_period_seconds=0)
        self.refused(404, "NotFound", self.core.read_namespaced_pod, "sleeper", self.ns)

    def evict(self, name, **options):
        body = client.V1Eviction(metadata=client.V1ObjectMeta(name=name, namespace=self.ns), delete_options=client.V1DeleteOptions(**options))
        return self.core.create_namespaced_pod_eviction(name, self.ns, body, _preload_content=False)

    def test_an_eviction_respects_the_budget(self):
        policy = client.PolicyV1Api(self.api)
        selector = client.V1LabelSelector(match_labels={"app": "web"})
        budget = client.V1PodDisruptionBudget(
            metadata=client.V1ObjectMeta(name="web"), spec=client.V1PodDisruptionBudgetSpec(selector=selector, min_available=2)
        )
        policy.create_namespaced_pod_disruption_budget(self.ns, budget)
        for i in range(3):
            self.run_pod(f"web-{i}", {"app": "web"})

        def allow(count):
            made = policy.read_namespaced_pod_disruption_budget("web", self.ns)
            made.status = client.V1PodDisruptionBudgetStatus(
                current_healthy=3, desired_healthy=2, expected_pods=3, disruptions_allowed=count, observed_generation=made.metadata.generation
            )
            policy.replace_namespaced_pod_disruption_budget_status("web", self.ns, made)

        allow(0)
        refusal = self.refused(429, "TooManyRequests", self.evict, "web-0")
        self.assertEqual(refusal["details"]["causes"][0]["reason"], "DisruptionBudget")
        allow(1)
        self.assertEqual(self.evict("web-0", grace_period_seconds=5).status, 201)
        evicted = self.core.read_namespaced_pod("web-0", self.ns)
        self.assertEqual(evicted.metadata.deletion_grace_period_seconds, 5)
        self.assertIn(("DisruptionTarget", "True"), [(item.type, item.status) for item in evicted.status.conditions])
        self.refused(429, "TooManyRequests", self.evict, "web-1")

    def test_an_eviction_of_an_unguarded_pod_is_a_deletion(self):
        self.core.create_namespaced_pod(self.ns, pod("sleeper"))
        self.assertEqual(self.evict("sleeper").status, 201)
        eventually(lambda: not self.core.list_namespaced_pod(self.ns).items, "the pod is gone")
        self.refused(404, "NotFound", self.evict, "sleeper")

    def test_what_needs_a_node_says_so(self):
        self.run_pod("sleeper")
        with self.assertRaises(client.ApiException) as caught:
            self.core.read_namespaced_pod_log("sleeper", self.ns)
        self.assertEqual(caught.exception.status, 501)
        self.assertEqual(json.loads(caught.exception.body)["kind"], "Status")

    def test_ephemeral_containers_and_resources_are_changed_through_their_doors(self):
        self.run_pod("sleeper")
        debug = {"spec": {"ephemeralContainers": [{"name": "debug", "image": "busybox", "targetContainerName": "main"}]}}
        patched = self.core.patch_namespaced_pod_ephemeralcontainers("sleeper", self.ns, debug)
        self.assertEqual([item.name for item in patched.spec.ephemeral_containers], ["debug"])
        self.refused(422, "Invalid", self.core.patch_namespaced_pod, "sleeper", self.ns, {"spec": {"nodeName": "node-z"}})
