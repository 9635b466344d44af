"""Every kind of patch, with the content types that the client chooses and those that the caller gives."""

from kubernetes import client

from case import Case, config_map, pod

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
JSON = "application/json-patch+json"


class PatchesTest(Case):
    def test_a_list_is_a_json_patch_and_a_dictionary_a_strategic_one(self):
        self.core.create_namespaced_pod(self.ns, pod("sleeper"))
        operations = [
            {"op": "test", "path": "/spec/containers/0/name", "value": "main"},
            {"op": "replace", "path": "/spec/containers/0/image", "value": "busybox:2"},
            {"op": "add", "path": "/metadata/labels/tier", "value": "front"},
        ]
        patched = self.core.patch_namespaced_pod("sleeper", self.ns, operations)
        self.assertEqual((patched.spec.containers[0].image, patched.metadata.labels["tier"]), ("busybox:2", "front"))
        strategic = {"spec": {"containers": [{"name": "main", "image": "busybox:3"}]}, "metadata": {"labels": {"tier": None}}}
        patched = self.core.patch_namespaced_pod("sleeper", self.ns, strategic)
        self.assertEqual((patched.spec.containers[0].image, patched.spec.containers[0].command), ("busybox:3", ["sleep", "3600"]))
        self.assertNotIn("tier", patched.metadata.labels)
        failed = [{"op": "test", "path": "/spec/containers/0/name", "value": "other"}]
        self.refused(422, "Invalid", self.core.patch_namespaced_pod, "sleeper", self.ns, failed)
        conditions = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
        self.core.patch_namespaced_pod_status("sleeper", self.ns, conditions)
        conditions = {"status": {"conditions": [{"type": "Initialized", "status": "True"}]}}
        patched = self.core.patch_namespaced_pod_status("sleeper", self.ns, conditions)
        self.assertEqual({item.type for item in patched.status.conditions}, {"Ready", "Initialized"}, "merged by type")

    def test_merge_patches_replace_lists_and_drop_nulls(self):
        maps = self.dynamic().resources.get(api_version="v1", kind="ConfigMap")
        self.core.create_namespaced_config_map(self.ns, config_map("one", {"a": "1", "b": "2"}, finalizers=["example.com/a"]))
        patch = {"data": {"a": None, "c": "3"}, "metadata": {"finalizers": ["example.com/b"]}}
        patched = maps.patch(name="one", namespace=self.ns, body=patch, content_type=MERGE)
        self.assertEqual((patched.data.to_dict(), patched.metadata.finalizers), ({"b": "2", "c": "3"}, ["example.com/b"]))
        patch = {"metadata": {"finalizers": ["example.com/c"]}}
        patched = maps.patch(name="one", namespace=self.ns, body=patch, content_type=STRATEGIC)
        self.assertEqual(set(patched.metadata.finalizers), {"example.com/b", "example.com/c"})
        patched = maps.patch(name="one", namespace=self.ns, body=[{"op": "remove", "path": "/metadata/finalizers"}], content_type=JSON)
        self.assertNotIn("finalizers", patched.metadata.to_dict())

    def test_a_patch_that_names_an_old_version_conflicts(self):
        made = self.core.create_namespaced_config_map(self.ns, config_map("one"))
        self.core.patch_namespaced_config_map("one", self.ns, {"data": {"a": "1"}})
        late = {"metadata": {"resourceVersion": made.metadata.resource_version}, "data": {"a": "2"}}
        self.refused(409, "Conflict", self.core.patch_namespaced_config_map, "one", self.ns, late)
        self.assertEqual(self.core.read_namespaced_config_map("one", self.ns).data["a"], "1")

    def test_appliers_own_fields_conflict_and_take_over(self):
        services = self.dynamic().resources.get(api_version="v1", kind="Service")

        def body(port):
            return {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": {"name": "web", "labels": {"app": "web"}},
                "spec": {"selector": {"app": "web"}, "ports": [{"name": "http", "port": 80, "targetPort": port}]},
            }

        made = services.server_side_apply(body=body(8080), namespace=self.ns, field_manager="first")
        self.assertEqual([(m.manager, m.operation) for m in made.metadata.managedFields], [("first", "Apply")])
        again = services.server_side_apply(body=body(8080), namespace=self.ns, field_manager="first")
        self.assertEqual(again.metadata.resourceVersion, made.metadata.resourceVersion)
        refusal = self.refused(409, "Conflict", services.server_side_apply, body=body(9090), namespace=self.ns, field_manager="second")
        causes = [(cause["reason"], cause["field"]) for cause in refusal["details"]["causes"]]
        self.assertEqual(causes, [("FieldManagerConflict", '.spec.ports[port=80,protocol="TCP"].targetPort')])
        taken = services.server_side_apply(body=body(9090), namespace=self.ns, field_manager="second", force_conflicts=True)
        self.assertEqual((taken.spec.ports[0].targetPort, len(taken.metadata.managedFields)), (9090, 2))
        smaller = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}}
        left = services.server_side_apply(body=smaller, namespace=self.ns, field_manager="first")
        self.assertEqual((left.metadata.labels.app, left.spec.ports[0].targetPort), ("web", 9090), "the second still owns them")

    def test_typed_objects_are_patches_too(self):
        self.core.create_namespaced_config_map(self.ns, config_map("one", {"a": "1"}))
        body = client.V1ConfigMap(metadata=client.V1ObjectMeta(annotations={"note": "x"}), data={"b": "2"})
        patched = self.core.patch_namespaced_config_map("one", self.ns, body, field_manager="python")
        self.assertEqual((patched.data, patched.metadata.annotations), ({"a": "1", "b": "2"}, {"note": "x"}))
        self.assertIn("python", [entry.manager for entry in patched.metadata.managed_fields])
