"""Objects of built-in kinds: made, read, changed, listed and deleted with the typed interfaces."""

import base64

import yaml
from kubernetes import client, utils

from case import Case, config_map, pod
from server import eventually

MANIFEST = """
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {colour: blue}
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Service
  metadata: {name: web}
  spec: {selector: {app: web}, ports: [{port: 80}]}
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web}
  spec:
    selector: {matchLabels: {app: web}}
    template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: nginx}]}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: sums}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: busybox}]}}}
"""


class ObjectsTest(Case):
    def test_a_config_map_lives_and_ends(self):
        made = self.core.create_namespaced_config_map(self.ns, config_map("one", {"a": "1"}))
        self.assertTrue(made.metadata.uid and made.metadata.resource_version and made.metadata.creation_timestamp.tzinfo)
        self.assertEqual(self.core.read_namespaced_config_map("one", self.ns), made)
        made.data["b"] = "2"
        changed = self.core.replace_namespaced_config_map("one", self.ns, made)
        self.assertEqual((changed.data, changed.metadata.uid), ({"a": "1", "b": "2"}, made.metadata.uid))
        self.assertGreater(int(changed.metadata.resource_version), int(made.metadata.resource_version))
        again = self.core.replace_namespaced_config_map("one", self.ns, changed)
        self.assertEqual(again.metadata.resource_version, changed.metadata.resource_version, "a write that changes nothing is none")
        gone = self.core.delete_namespaced_config_map("one", self.ns)
        self.assertEqual((gone["status"], gone["details"]["name"], gone["details"]["uid"]), ("Success", "one", made.metadata.uid))
        self.refused(404, "NotFound", self.core.read_namespaced_config_map, "one", self.ns)

    def test_defaults_come_back_in_the_types_of_the_client(self):
        apps = client.AppsV1Api(self.api)
        labels = {"app": "web"}
        template = client.V1PodTemplateSpec(metadata=client.V1ObjectMeta(labels=labels), spec=pod("web").spec)
        spec = client.V1DeploymentSpec(selector=client.V1LabelSelector(match_labels=labels), template=template)
        made = apps.create_namespaced_deployment(self.ns, client.V1Deployment(metadata=client.V1ObjectMeta(name="web"), spec=spec))
        self.assertEqual((made.spec.replicas, made.spec.strategy.type, made.metadata.generation), (1, "RollingUpdate", 1))
        self.assertEqual(made.spec.strategy.rolling_update.max_surge, "25%")
        self.assertEqual(made.spec.template.spec.restart_policy, "Always")
        scale = apps.read_namespaced_deployment_scale("web", self.ns)
        self.assertEqual((scale.spec.replicas, scale.status.selector), (1, "app=web"))
        scale.spec.replicas = 4
        self.assertEqual(apps.replace_namespaced_deployment_scale("web", self.ns, scale).spec.replicas, 4)
        made = apps.read_namespaced_deployment("web", self.ns)
        made.status.ready_replicas = made.status.replicas = 3
        status = apps.replace_namespaced_deployment_status("web", self.ns, made)
        self.assertEqual((status.spec.replicas, status.status.ready_replicas, status.metadata.generation), (4, 3, 2))

    def test_secrets_and_services_are_completed(self):
        secret = client.V1Secret(metadata=client.V1ObjectMeta(name="password"), string_data={"word": "open"})
        made = self.core.create_namespaced_secret(self.ns, secret)
        self.assertEqual((base64.b64decode(made.data["word"]), made.string_data, made.type), (b"open", None, "Opaque"))
        spec = client.V1ServiceSpec(selector={"app": "web"}, ports=[client.V1ServicePort(port=80, target_port="http")])
        service = self.core.create_namespaced_service(self.ns, client.V1Service(metadata=client.V1ObjectMeta(name="web"), spec=spec))
        self.assertRegex(service.spec.cluster_ip, r"^\d+\.\d+\.\d+\.\d+$")
        self.assertEqual((service.spec.ports[0].target_port, service.spec.ports[0].protocol), ("http", "TCP"))

    def test_manifests_are_created_by_the_utilities(self):
        made = utils.create_from_yaml(self.api, yaml_objects=list(yaml.safe_load_all(MANIFEST)), namespace=self.ns)
        kinds = sorted(item.kind for group in made for item in group)
        self.assertEqual(kinds, ["ConfigMap", "Deployment", "Job", "Service"])
        with self.assertRaises(utils.FailToCreateError) as caught:
            utils.create_from_yaml(self.api, yaml_objects=[next(yaml.safe_load_all(MANIFEST))], namespace=self.ns)
        self.assertEqual([error.status for error in caught.exception.api_exceptions], [409])

    def test_names_are_generated_and_dry_runs_leave_nothing(self):
        body = client.V1ConfigMap(metadata=client.V1ObjectMeta(generate_name="job-"))
        names = {self.core.create_namespaced_config_map(self.ns, body).metadata.name for _ in range(5)}
        self.assertEqual(len(names), 5)
        for name in names:
            self.assertRegex(name, r"^job-[a-z0-9]{5}$")
        ghost = self.core.create_namespaced_config_map(self.ns, config_map("ghost"), dry_run="All")
        self.assertTrue(ghost.metadata.uid)
        self.refused(404, "NotFound", self.core.read_namespaced_config_map, "ghost", self.ns)

    def test_lists_select_by_labels_and_fields(self):
        for i in range(6):
            labels = {"parity": "odd" if i % 2 else "even", "number": str(i)}
            self.core.create_namespaced_config_map(self.ns, config_map(f"map-{i}", labels=labels))

        def names(**selector):
            return [item.metadata.name for item in self.core.list_namespaced_config_map(self.ns, **selector).items if item.metadata.name != "kube-root-ca.crt"]

        self.assertEqual(names(label_selector="parity=even"), ["map-0", "map-2", "map-4"])
        self.assertEqual(names(label_selector="parity!=even,number in (1,5)"), ["map-1", "map-5"])
        self.assertEqual(names(label_selector="!number"), [])
        self.assertEqual(names(field_selector="metadata.name=map-3"), ["map-3"])
        self.assertEqual(names(label_selector="number notin (0,1)", field_selector="metadata.name!=map-2"), ["map-3", "map-4", "map-5"])
        everywhere = self.core.list_config_map_for_all_namespaces(label_selector="number=4").items
        self.assertIn((self.ns, "map-4"), [(item.metadata.namespace, item.metadata.name) for item in everywhere])
        for name, phase in (("up", "Running"), ("waits", None)):
            self.core.create_namespaced_pod(self.ns, pod(name))
            if phase:
                self.core.patch_namespaced_pod_status(name, self.ns, {"status": {"phase": phase}})
        found = self.core.list_namespaced_pod(self.ns, field_selector="status.phase=Running,spec.nodeName=").items
        self.assertEqual([item.metadata.name for item in found], ["up"])
        self.refused(400, "BadRequest", self.core.list_namespaced_config_map, self.ns, label_selector="a in b")
        self.refused(400, "BadRequest", self.core.list_namespaced_pod, self.ns, field_selector="spec.colour=red")

    def test_pages_show_one_moment_and_end(self):
        for i in range(25):
            self.core.create_namespaced_config_map(self.ns, config_map(f"map-{i:02}", labels={"page": "yes"}))
        seen, token, versions, left = [], None, set(), []
        while True:
            page = self.core.list_namespaced_config_map(self.ns, limit=10, _continue=token)
            seen += [item.metadata.name for item in page.items]
            versions.add(page.metadata.resource_version)
            left.append(page.metadata.remaining_item_count)
            token = page.metadata._continue
            if not token:
                break
            # Objects made and deleted meanwhile do not show.
            self.core.create_namespaced_config_map(self.ns, config_map(f"new-{len(seen)}"))
            self.core.delete_namespaced_config_map(f"map-{len(seen) + 3:02}", self.ns)
        self.assertEqual([name for name in seen if name.startswith("map-")], [f"map-{i:02}" for i in range(25)])
        self.assertFalse([name for name in seen if name.startswith("new-")])
        self.assertEqual((len(versions), left), (1, [16, 6, None]))
        self.refused(400, "BadRequest", self.core.list_namespaced_config_map, self.ns, limit=10, _continue="nonsense")
        selected = self.core.list_namespaced_config_map(self.ns, limit=2, label_selector="page=yes")
        self.assertTrue(selected.metadata._continue)
        self.assertIsNone(selected.metadata.remaining_item_count, "not counted under a selector")

    def test_preconditions_and_finalizers_hold_a_deletion_back(self):
        made = self.core.create_namespaced_config_map(self.ns, config_map("held", finalizers=["example.com/hold"]))
        wrong = client.V1DeleteOptions(preconditions=client.V1Preconditions(uid="00000000-0000-0000-0000-000000000000"))
        self.refused(409, "Conflict", self.core.delete_namespaced_config_map, "held", self.ns, body=wrong)
        old = client.V1DeleteOptions(preconditions=client.V1Preconditions(resource_version="1"))
        self.refused(409, "Conflict", self.core.delete_namespaced_config_map, "held", self.ns, body=old)
        self.core.delete_namespaced_config_map("held", self.ns)
        held = self.core.read_namespaced_config_map("held", self.ns)
        self.assertTrue(held.metadata.deletion_timestamp)
        held.metadata.finalizers = None
        self.core.replace_namespaced_config_map("held", self.ns, held)
        self.refused(404, "NotFound", self.core.read_namespaced_config_map, "held", self.ns)
        self.assertTrue(made.metadata.finalizers)

    def test_owners_take_their_objects_along_or_leave_them(self):
        for policy, kept in (("Background", False), ("Foreground", False), ("Orphan", True)):
            name = policy.lower()
            owner = self.core.create_namespaced_config_map(self.ns, config_map(name))
            reference = client.V1OwnerReference(
                api_version="v1", kind="ConfigMap", name=name, uid=owner.metadata.uid, block_owner_deletion=True, controller=True
            )
            self.core.create_namespaced_config_map(self.ns, config_map(f"{name}-child", owner_references=[reference]))
            self.core.delete_namespaced_config_map(name, self.ns, propagation_policy=policy)

            def names():
                return {item.metadata.name for item in self.core.list_namespaced_config_map(self.ns).items}

            if kept:
                eventually(lambda: name not in names(), f"{name} is gone")
                child = self.core.read_namespaced_config_map(f"{name}-child", self.ns)
                self.assertIsNone(child.metadata.owner_references)
            else:
                eventually(lambda: not names() & {name, f"{name}-child"}, f"{name} and its child are gone")

    def test_a_collection_is_deleted_as_selected(self):
        for i in range(4):
            self.core.create_namespaced_config_map(self.ns, config_map(f"map-{i}", labels={"half": str(i // 2)}))
        self.core.delete_collection_namespaced_config_map(self.ns, label_selector="half=0")
        left = self.core.list_namespaced_config_map(self.ns, label_selector="half").items
        self.assertEqual([item.metadata.name for item in left], ["map-2", "map-3"])

    def test_a_namespace_ends_with_everything_in_it(self):
        self.core.create_namespaced_config_map(self.ns, config_map("one"))
        self.core.create_namespaced_pod(self.ns, pod("sleeper"))
        self.assertEqual(self.core.read_namespaced_service_account("default", self.ns).metadata.name, "default")
        self.core.delete_namespace(self.ns)
        eventually(lambda: self.ns not in [item.metadata.name for item in self.core.list_namespace().items], "the namespace is gone")
        self.assertEqual(self.core.list_namespaced_config_map(self.ns).items, [])
        self.refused(404, "NotFound", self.core.create_namespaced_config_map, self.ns, config_map("late"))

    def test_discovery_and_version_are_read(self):
        version = client.VersionApi(self.api).get_code()
        self.assertEqual((version.major, version.minor), ("1", "34"))
        groups = {group.name for group in client.ApisApi(self.api).get_api_versions().groups}
        self.assertLessEqual({"apps", "batch", "rbac.authorization.k8s.io", "apiextensions.k8s.io", "policy"}, groups)
        resources = {item.name for item in self.core.get_api_resources().resources}
        self.assertLessEqual({"pods", "pods/eviction", "pods/binding", "serviceaccounts/token"}, resources)
