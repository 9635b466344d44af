"""Identity and rights: tokens, reviews, and a service account with few rights."""

import json

from kubernetes import client

import case
from case import Case, config_map, with_token


class IdentityTest(Case):
    def token(self, account="default", **spec):
        body = client.AuthenticationV1TokenRequest(spec=client.V1TokenRequestSpec(audiences=[], **spec))
        return self.core.create_namespaced_service_account_token(account, self.ns, body)

    def service_account(self, name="reader"):
        """A client that may read and write config maps in its namespace, and nothing else."""
        self.core.create_namespaced_service_account(self.ns, client.V1ServiceAccount(metadata=client.V1ObjectMeta(name=name)))
        rbac = client.RbacAuthorizationV1Api(self.api)
        rule = client.V1PolicyRule(api_groups=[""], resources=["configmaps"], verbs=["get", "list", "watch", "create", "patch", "delete"])
        rbac.create_namespaced_role(self.ns, client.V1Role(metadata=client.V1ObjectMeta(name="maps"), rules=[rule]))
        reference = client.V1RoleRef(api_group="rbac.authorization.k8s.io", kind="Role", name="maps")
        subject = client.RbacV1Subject(kind="ServiceAccount", name=name, namespace=self.ns)
        binding = client.V1RoleBinding(metadata=client.V1ObjectMeta(name="maps"), role_ref=reference, subjects=[subject])
        rbac.create_namespaced_role_binding(self.ns, binding)
        api = with_token(self.token(name).status.token)
        self.addCleanup(api.close)
        return api

    def test_a_service_account_can_do_what_its_role_says(self):
        core = client.CoreV1Api(self.service_account())
        core.create_namespaced_config_map(self.ns, config_map("one"))
        core.patch_namespaced_config_map("one", self.ns, {"data": {"a": "1"}})
        self.assertEqual(core.read_namespaced_config_map("one", self.ns).data["a"], "1")
        self.assertIn("one", [item.metadata.name for item in core.list_namespaced_config_map(self.ns).items])
        core.delete_namespaced_config_map("one", self.ns)
        user = f"system:serviceaccount:{self.ns}:reader"
        refusal = self.refused(403, "Forbidden", core.list_namespaced_pod, self.ns)
        self.assertEqual(refusal["message"], f'pods is forbidden: User "{user}" cannot list resource "pods" in API group "" in the namespace "{self.ns}"')
        self.refused(403, "Forbidden", core.list_namespaced_config_map, "default")
        self.refused(403, "Forbidden", core.list_config_map_for_all_namespaces)
        self.refused(403, "Forbidden", core.replace_namespaced_config_map, "one", self.ns, config_map("one"))
        self.refused(403, "Forbidden", client.CoreV1Api(core.api_client).list_node)

    def test_a_role_that_gives_more_than_one_has_is_refused(self):
        api = self.service_account()
        rbac = client.RbacAuthorizationV1Api(self.api)
        rule = client.V1PolicyRule(api_groups=["rbac.authorization.k8s.io"], resources=["roles"], verbs=["create"])
        rbac.create_namespaced_role(self.ns, client.V1Role(metadata=client.V1ObjectMeta(name="roles"), rules=[rule]))
        reference = client.V1RoleRef(api_group="rbac.authorization.k8s.io", kind="Role", name="roles")
        subject = client.RbacV1Subject(kind="ServiceAccount", name="reader", namespace=self.ns)
        binding = client.V1RoleBinding(metadata=client.V1ObjectMeta(name="roles"), role_ref=reference, subjects=[subject])
        rbac.create_namespaced_role_binding(self.ns, binding)
        theirs = client.RbacAuthorizationV1Api(api)

        def role(name, resource):
            rules = [client.V1PolicyRule(api_groups=[""], resources=[resource], verbs=["get"])]
            return client.V1Role(metadata=client.V1ObjectMeta(name=name), rules=rules)

        theirs.create_namespaced_role(self.ns, role("same", "configmaps"))
        self.refused(403, "Forbidden", theirs.create_namespaced_role, self.ns, role("more", "secrets"))

    def test_a_token_is_bound_reviewed_and_ends_with_its_account(self):
        self.core.create_namespaced_service_account(self.ns, client.V1ServiceAccount(metadata=client.V1ObjectMeta(name="brief")))
        made = self.token("brief", expiration_seconds=600)
        self.assertEqual((made.spec.expiration_seconds, made.metadata.name), (600, "brief"))
        self.assertTrue(made.status.expiration_timestamp.tzinfo)
        reviews = client.AuthenticationV1Api(self.api)

        def review():
            return reviews.create_token_review(client.V1TokenReview(spec=client.V1TokenReviewSpec(token=made.status.token))).status

        status = review()
        self.assertTrue(status.authenticated)
        self.assertEqual(status.user.username, f"system:serviceaccount:{self.ns}:brief")
        self.assertIn(f"system:serviceaccounts:{self.ns}", status.user.groups)
        api = with_token(made.status.token)
        self.addCleanup(api.close)
        me = client.AuthenticationV1Api(api).create_self_subject_review(client.V1SelfSubjectReview())
        self.assertEqual(me.status.user_info.username, status.user.username)
        self.core.delete_namespaced_service_account("brief", self.ns)
        self.assertFalse(review().authenticated)
        self.refused(401, "Unauthorized", client.CoreV1Api(api).list_namespaced_config_map, self.ns)
        self.refused(404, "NotFound", self.token, "nobody")
        self.refused(422, "Invalid", self.token, expiration_seconds=5)

    def test_access_reviews_answer_for_oneself_and_for_others(self):
        api = self.service_account()
        attributes = {"namespace": self.ns, "resource": "configmaps"}

        def own(**more):
            spec = client.V1SelfSubjectAccessReviewSpec(resource_attributes=client.V1ResourceAttributes(**attributes, **more))
            return client.AuthorizationV1Api(api).create_self_subject_access_review(client.V1SelfSubjectAccessReview(spec=spec)).status

        self.assertTrue(own(verb="get").allowed)
        self.assertIn('RBAC: allowed by RoleBinding "maps', own(verb="get").reason)
        self.assertFalse(own(verb="update").allowed)
        admin = client.AuthorizationV1Api(self.api)
        user = f"system:serviceaccount:{self.ns}:reader"

        def others(verb):
            wanted = client.V1ResourceAttributes(**attributes, verb=verb)
            spec = client.V1SubjectAccessReviewSpec(user=user, resource_attributes=wanted)
            return [
                admin.create_subject_access_review(client.V1SubjectAccessReview(spec=spec)).status.allowed,
                admin.create_namespaced_local_subject_access_review(
                    self.ns, client.V1LocalSubjectAccessReview(metadata=client.V1ObjectMeta(namespace=self.ns), spec=spec)
                ).status.allowed,
            ]

        self.assertEqual((others("list"), others("update")), ([True, True], [False, False]))
        spec = client.V1SelfSubjectRulesReviewSpec(namespace=self.ns)
        rules = client.AuthorizationV1Api(api).create_self_subject_rules_review(client.V1SelfSubjectRulesReview(spec=spec)).status
        self.assertIn(["configmaps"], [rule.resources for rule in rules.resource_rules])
        self.refused(403, "Forbidden", client.AuthorizationV1Api(api).create_subject_access_review, client.V1SubjectAccessReview(
            spec=client.V1SubjectAccessReviewSpec(user="ann", resource_attributes=client.V1ResourceAttributes(**attributes, verb="get"))
        ))

    def test_strangers_are_told_401_in_a_status(self):
        wrong = with_token("not-a-token")
        self.addCleanup(wrong.close)
        refusal = self.refused(401, "Unauthorized", client.CoreV1Api(wrong).list_namespace)
        self.assertEqual(refusal["message"], "Unauthorized")
        nobody = with_token("")
        self.addCleanup(nobody.close)
        self.refused(401, "Unauthorized", client.CoreV1Api(nobody).list_namespace)

    def test_the_admin_acts_as_somebody_else(self):
        api = case.admin()
        self.addCleanup(api.close)
        api.set_default_header("Impersonate-User", "ann")
        me = client.AuthenticationV1Api(api).create_self_subject_review(client.V1SelfSubjectReview())
        self.assertEqual((me.status.user_info.username, me.status.user_info.groups), ("ann", ["system:authenticated"]))
        self.refused(403, "Forbidden", client.CoreV1Api(api).list_namespace)

    def test_the_certificate_is_checked(self):
        configuration = client.Configuration(host=case.SERVER.url)
        configuration.retries = False
        with client.ApiClient(configuration) as api, self.assertRaises(Exception) as caught:
            client.VersionApi(api).get_code()
        self.assertIn("certificate verify failed", json.dumps(str(caught.exception)))
