"""The dynamic client, custom resources and the interface for custom objects."""

from kubernetes import client, dynamic

from case import Case, config_map
from server import eventually

GROUP = "clients.example.com"


def definition(plural, kind):
    properties = {
        "spec": {
            "type": "object",
            "required": ["size"],
            "properties": {
                "size": {"type": "integer", "minimum": 0, "maximum": 10},
                "colour": {"type": "string", "default": "red"},
                "parts": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "items": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "count": {"type": "integer"}}},
                },
            },
        },
        "status": {"type": "object", "properties": {"size": {"type": "integer"}}},
    }
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}},
        "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {"group": GROUP, "scope": "Namespaced", "names": {"plural": plural, "kind": kind}, "versions": [version]},
    }


def gadget(name, **spec):
    return {"apiVersion": f"{GROUP}/v1", "kind": "Gadget", "metadata": {"name": name}, "spec": spec}


class DynamicTest(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.definitions = client.ApiextensionsV1Api(cls.api)
        made = cls.definitions.create_custom_resource_definition(definition("gadgets", "Gadget"))
        conditions = {item.type: item.status for item in made.status.conditions or []}
        assert conditions.get("Established") == "True", conditions

    @classmethod
    def tearDownClass(cls):
        cls.definitions.delete_custom_resource_definition(f"gadgets.{GROUP}")
        super().tearDownClass()

    def setUp(self):
        super().setUp()
        self.gadgets = self.dynamic().resources.get(api_version=f"{GROUP}/v1", kind="Gadget")

    def test_a_custom_resource_lives_and_ends(self):
        made = self.gadgets.create(body=gadget("one", size=3, unheard="of"), namespace=self.ns)
        self.assertEqual(made.spec.to_dict(), {"size": 3, "colour": "red"}, "defaulted and pruned")
        made.spec.size = 4
        changed = self.gadgets.replace(body=made, namespace=self.ns)
        self.assertEqual((changed.spec.size, changed.metadata.generation), (4, 2))
        patch = {"spec": {"colour": "blue"}}
        self.gadgets.patch(name="one", namespace=self.ns, body=patch, content_type="application/merge-patch+json")
        listed = self.gadgets.get(namespace=self.ns)
        self.assertEqual([(item.metadata.name, item.spec.colour) for item in listed.items], [("one", "blue")])
        self.gadgets.delete(name="one", namespace=self.ns)
        with self.assertRaises(dynamic.exceptions.NotFoundError):
            self.gadgets.get(name="one", namespace=self.ns)

    def test_refusals_name_the_field(self):
        with self.assertRaises(dynamic.exceptions.UnprocessibleEntityError) as caught:
            self.gadgets.create(body=gadget("big", size=11), namespace=self.ns)
        self.assertIn("spec.size in body should be less than or equal to 10", caught.exception.summary())
        with self.assertRaises(dynamic.exceptions.UnprocessibleEntityError):
            self.gadgets.create(body=gadget("none"), namespace=self.ns)
        self.gadgets.create(body=gadget("one", size=1), namespace=self.ns)
        with self.assertRaises(dynamic.exceptions.ConflictError):
            self.gadgets.create(body=gadget("one", size=1), namespace=self.ns)
        with self.assertRaises(dynamic.exceptions.DynamicApiError) as caught:
            self.gadgets.patch(name="one", namespace=self.ns, body={}, content_type="application/strategic-merge-patch+json")
        self.assertEqual(caught.exception.status, 415)

    def test_status_and_scale_are_doors_of_their_own(self):
        self.gadgets.create(body=gadget("one", size=3), namespace=self.ns)
        body = {"spec": {"size": 9}, "status": {"size": 2}}
        kept = self.gadgets.status.patch(name="one", namespace=self.ns, body=body, content_type="application/merge-patch+json")
        self.assertEqual((kept.spec.size, kept.status.size, kept.metadata.generation), (3, 2, 1))
        scale = self.gadgets.scale.get(name="one", namespace=self.ns)
        self.assertEqual((scale.kind, scale.spec.replicas, scale.status.replicas), ("Scale", 3, 2))
        custom = client.CustomObjectsApi(self.api)
        body = {"spec": {"replicas": 5}}
        scaled = custom.patch_namespaced_custom_object_scale(GROUP, "v1", self.ns, "gadgets", "one", body)
        self.assertEqual(scaled["spec"]["replicas"], 5)
        self.assertEqual(self.gadgets.get(name="one", namespace=self.ns).spec.size, 5)

    def test_custom_resources_are_applied_part_by_part(self):
        for manager, part in (("first", "left"), ("second", "right")):
            body = gadget("one", size=1, parts=[{"name": part, "count": 1}])
            self.gadgets.server_side_apply(body=body, namespace=self.ns, field_manager=manager)
        parts = self.gadgets.get(name="one", namespace=self.ns).spec.parts
        self.assertEqual(sorted(part.name for part in parts), ["left", "right"])
        body = gadget("one", size=2, parts=[{"name": "left", "count": 1}])
        with self.assertRaises(dynamic.exceptions.ConflictError):
            self.gadgets.server_side_apply(body=body, namespace=self.ns, field_manager="first")
        self.gadgets.server_side_apply(body=body, namespace=self.ns, field_manager="first", force_conflicts=True)
        body = gadget("one", size=2)
        left = self.gadgets.server_side_apply(body=body, namespace=self.ns, field_manager="first")
        self.assertEqual([part.name for part in left.spec.parts], ["right"], "what its only owner no longer names goes")

    def test_the_dynamic_client_watches(self):
        self.gadgets.create(body=gadget("one", size=1), namespace=self.ns)
        seen = []
        for event in self.gadgets.watch(namespace=self.ns, timeout=30):
            seen.append((event["type"], event["object"].metadata.name, event["object"].spec.size))
            if len(seen) == 1:
                patch = {"spec": {"size": 2}}
                self.gadgets.patch(name="one", namespace=self.ns, body=patch, content_type="application/merge-patch+json")
            elif len(seen) == 2:
                self.gadgets.delete(name="one", namespace=self.ns)
            else:
                break
        self.assertEqual(seen, [("ADDED", "one", 1), ("MODIFIED", "one", 2), ("DELETED", "one", 2)])

    def test_the_interface_for_custom_objects_does_the_same(self):
        custom = client.CustomObjectsApi(self.api)
        where = (GROUP, "v1", self.ns, "gadgets")
        for i in range(3):
            body = gadget(f"g{i}", size=i)
            body["metadata"]["labels"] = {"number": str(i)}
            custom.create_namespaced_custom_object(*where, body)
        body = {"spec": {"colour": "green"}}
        self.assertEqual(custom.patch_namespaced_custom_object(*where, "g1", body)["spec"], {"size": 1, "colour": "green"})
        page = custom.list_namespaced_custom_object(*where, limit=2)
        self.assertEqual((len(page["items"]), page["metadata"]["remainingItemCount"]), (2, 1))
        rest = custom.list_namespaced_custom_object(*where, limit=2, _continue=page["metadata"]["continue"])
        self.assertEqual([item["metadata"]["name"] for item in rest["items"]], ["g2"])
        chosen = custom.list_namespaced_custom_object(*where, label_selector="number in (0,2)")["items"]
        self.assertEqual([item["metadata"]["name"] for item in chosen], ["g0", "g2"])
        body = custom.get_namespaced_custom_object(*where, "g0")
        body["status"] = {"size": 7}
        self.assertEqual(custom.replace_namespaced_custom_object_status(*where, "g0", body)["status"], {"size": 7})
        custom.delete_collection_namespaced_custom_object(*where)
        self.assertEqual(custom.list_namespaced_custom_object(*where)["items"], [])

    def test_a_definition_that_goes_takes_its_objects_and_its_path_along(self):
        self.definitions.create_custom_resource_definition(definition("fleeting", "Fleeting"))
        resource = self.dynamic().resources.get(api_version=f"{GROUP}/v1", kind="Fleeting")
        body = {"apiVersion": f"{GROUP}/v1", "kind": "Fleeting", "metadata": {"name": "one"}, "spec": {"size": 1}}
        resource.create(body=body, namespace=self.ns)
        self.definitions.delete_custom_resource_definition(f"fleeting.{GROUP}")
        # It goes when its objects are gone, a moment later.
        left = self.definitions.list_custom_resource_definition
        eventually(lambda: f"fleeting.{GROUP}" not in [item.metadata.name for item in left().items], "the definition is gone")
        with self.assertRaises(dynamic.exceptions.NotFoundError):
            resource.get(name="one", namespace=self.ns)
        with self.assertRaises(dynamic.exceptions.ResourceNotFoundError):
            self.dynamic().resources.get(api_version=f"{GROUP}/v1", kind="Fleeting")

    def test_built_in_kinds_are_found_by_search(self):
        found = self.dynamic()
        self.core.create_namespaced_config_map(self.ns, config_map("one"))
        maps = found.resources.get(kind="ConfigMap", api_version="v1")
        self.assertEqual(maps.get(name="one", namespace=self.ns).data.key, "value")
        self.assertTrue(found.resources.get(kind="Deployment", group="apps").subresources["scale"])
        self.assertEqual(found.version["kubernetes"]["major"], "1")
