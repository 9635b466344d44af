"""Failures arrive as an ApiException with the status, the reason and the body that programs look at."""

from kubernetes import client

from case import Case, config_map, pod


class ErrorsTest(Case):
    def test_not_found_names_the_object(self):
        refusal = self.refused(404, "NotFound", self.core.read_namespaced_config_map, "nobody", self.ns)
        self.assertEqual(refusal["message"], 'configmaps "nobody" not found')
        self.assertEqual(refusal["details"], {"name": "nobody", "kind": "configmaps"})
        refusal = self.refused(404, "NotFound", client.AppsV1Api(self.api).read_namespaced_deployment, "nobody", self.ns)
        self.assertEqual(refusal["details"], {"name": "nobody", "group": "apps", "kind": "deployments"})

    def test_already_exists_and_conflict_are_told_apart(self):
        made = self.core.create_namespaced_config_map(self.ns, config_map("one"))
        refusal = self.refused(409, "AlreadyExists", self.core.create_namespaced_config_map, self.ns, config_map("one"))
        self.assertEqual(refusal["message"], 'configmaps "one" already exists')
        self.core.patch_namespaced_config_map("one", self.ns, {"data": {"a": "1"}})
        refusal = self.refused(409, "Conflict", self.core.replace_namespaced_config_map, "one", self.ns, made)
        self.assertIn("the object has been modified; please apply your changes to the latest version and try again", refusal["message"])

    def test_invalid_objects_list_every_cause(self):
        body = pod("Sleeper")
        body.spec.containers[0].image = None
        body.spec.restart_policy = "Sometimes"
        refusal = self.refused(422, "Invalid", self.core.create_namespaced_pod, self.ns, body)
        causes = {(cause["reason"], cause["field"]) for cause in refusal["details"]["causes"]}
        expected = {
            ("FieldValueInvalid", "metadata.name"),
            ("FieldValueRequired", "spec.containers[0].image"),
            ("FieldValueNotSupported", "spec.restartPolicy"),
        }
        self.assertLessEqual(expected, causes)

    def test_bodies_that_are_no_objects_are_bad_requests(self):
        # The typed interface rejects such bodies itself.
        create = self.dynamic().resources.get(api_version="v1", kind="ConfigMap").create
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "odd"}, "data": [1]}
        self.refused(400, "BadRequest", create, namespace=self.ns, body=body)
        self.refused(400, "BadRequest", create, namespace=self.ns, body={"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "odd"}})
        self.refused(400, "BadRequest", self.core.create_namespaced_config_map, self.ns, config_map("one", namespace="other"))
        strict = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "odd"}, "unheard": "of"}
        refusal = self.refused(400, "BadRequest", create, namespace=self.ns, body=strict, query_params=[("fieldValidation", "Strict")])
        self.assertIn('unknown field "unheard"', refusal["message"])

    def test_immutable_fields_stay(self):
        self.core.create_namespaced_config_map(self.ns, client.V1ConfigMap(metadata=client.V1ObjectMeta(name="stone"), immutable=True, data={"a": "1"}))
        refusal = self.refused(422, "Invalid", self.core.patch_namespaced_config_map, "stone", self.ns, {"data": {"a": "2"}})
        self.assertIn("field is immutable when `immutable` is set", refusal["message"])

    def test_a_body_that_is_too_large_is_refused_and_the_connection_lives(self):
        big = config_map("big", {"text": "x" * (4 << 20)})
        with self.assertRaises(client.ApiException) as caught:
            self.core.create_namespaced_config_map(self.ns, big)
        self.assertEqual(caught.exception.status, 413)
        refusal = self.refused(422, "Invalid", self.core.create_namespaced_config_map, self.ns, config_map("big", {"text": "x" * (2 << 20)}))
        self.assertIn("Too long", refusal["message"])
        self.assertTrue(self.core.list_namespaced_config_map(self.ns).items)

    def test_quota_is_a_refusal_that_says_the_numbers(self):
        spec = client.V1ResourceQuotaSpec(hard={"count/configmaps": "2"})  # kube-root-ca.crt is one
        self.core.create_namespaced_resource_quota(self.ns, client.V1ResourceQuota(metadata=client.V1ObjectMeta(name="few"), spec=spec))
        self.core.create_namespaced_config_map(self.ns, config_map("one"))
        refusal = self.refused(403, "Forbidden", self.core.create_namespaced_config_map, self.ns, config_map("two"))
        self.assertIn("exceeded quota: few, requested: count/configmaps=1, used: count/configmaps=2, limited: count/configmaps=2", refusal["message"])
