#!/usr/bin/env python3
"""Somebody who may edit one namespace wants the volume of another: no way to name it gives a pod its files."""

import sys
import unittest

from attack_case import APPLY, JSON_PATCH, MERGE, STRATEGIC, AttackCase, Stranger, space

import up_test
from pod_case import phase_is, with_volume
from up_test import pod

IMMUTABLE = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
SECRET, LOOT = "of-the-victim", "was-here"


def claim(name, **spec):
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}, **spec}}


def user_of(name, claim_name, script):
    return with_volume(pod(name, script, restartPolicy="Never"), {"persistentVolumeClaim": {"claimName": claim_name}})


class Claims(AttackCase):
    def setUp(self):
        super().setUp()
        self.start()
        for ns in ("victim", "attacker"):
            self.add_namespace(ns)
        self.volume = self.bound("victim", "data")["spec"]["volumeName"]
        self.run_pod("victim", user_of("writer", "data", f"echo {SECRET} > /data/file"), "Succeeded")
        self.stranger = Stranger(self.cluster, "attacker")
        self.mine = space("attacker", "persistentvolumeclaims", "mine")

    def bound(self, ns, name):
        self.cluster.post(space(ns, "persistentvolumeclaims"), claim(name))
        return self.cluster.wait_for(space(ns, "persistentvolumeclaims", name), phase_is("Bound"))

    def run_pod(self, ns, body, phase):
        self.cluster.post(space(ns, "pods"), body)
        found = self.cluster.wait_for(space(ns, "pods", body["metadata"]["name"]), phase_is("Succeeded", "Failed"))
        self.assertEqual(found["status"]["phase"], phase)

    def assert_nothing_was_taken(self, claim_name, why):
        """A pod of the stranger with this claim gets no volume, and the victim's file is as it was."""
        name = "thief-" + claim_name
        self.stranger.call("POST", space("attacker", "pods"), user_of(name, claim_name, f"cat /data/file; echo {LOOT} > /data/file"))
        self.cluster.wait_until(lambda: any(why in message for message in self.events_of("attacker", name)))
        self.assertEqual(self.cluster.get(space("attacker", "pods", name))["status"]["phase"], "Pending")
        self.assert_file_is_as_it_was("reader-" + claim_name)

    def assert_file_is_as_it_was(self, reader):
        self.run_pod("victim", user_of(reader, "data", f'[ "$(cat /data/file)" = {SECRET} ]'), "Succeeded")

    def test_a_bound_claim_keeps_its_volume_whatever_form_the_change_has(self):
        before = self.bound("attacker", "mine")
        wanted = {"spec": {"volumeName": self.volume}}
        whole = {**before, "spec": {**before["spec"], "volumeName": self.volume}}
        applied = claim("mine", volumeName=self.volume)
        tries = [
            ("PATCH", self.mine, wanted, MERGE),
            ("PATCH", self.mine, wanted, STRATEGIC),
            ("PATCH", self.mine, [{"op": "replace", "path": "/spec/volumeName", "value": self.volume}], JSON_PATCH),
            ("PATCH", self.mine, [{"op": "remove", "path": "/spec/volumeName"}], JSON_PATCH),
            ("PATCH", self.mine + "?fieldManager=me&force=true", applied, APPLY),
            ("PUT", self.mine, whole, "application/json"),
        ]
        for method, path, body, form in tries:
            with self.subTest(method=method, form=form, body=body):
                code, answer = self.stranger.call(method, path, body, form)
                self.assertEqual(code, 422, answer)
                self.assertIn("spec: Forbidden: " + IMMUTABLE, answer["message"])
        self.assertEqual(self.cluster.get(self.mine)["spec"], before["spec"])
        self.assert_file_is_as_it_was("reader")

    def test_a_claim_that_names_the_volume_from_its_first_moment_is_never_bound(self):
        code, answer = self.stranger.call("POST", space("attacker", "persistentvolumeclaims"), claim("mine", volumeName=self.volume))
        self.assertEqual((code, answer["status"]["phase"]), (201, "Pending"))
        code, _ = self.stranger.call("PATCH", self.mine + "/status", {"status": {"phase": "Bound"}}, MERGE)
        self.assertEqual(code, 403)
        self.assert_nothing_was_taken("mine", "is not bound yet")

    def test_a_claim_that_waits_may_name_the_volume_once_to_no_avail(self):
        self.stranger.call("POST", space("attacker", "persistentvolumeclaims"), claim("mine", storageClassName="somebody-elses"))
        marks = {"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"}
        code, answer = self.stranger.call("PATCH", self.mine, {"metadata": {"annotations": marks}, "spec": {"volumeName": self.volume}}, MERGE)
        self.assertEqual(code, 200, answer)
        self.assert_nothing_was_taken("mine", "is not bound yet")

    def test_the_volume_itself_is_out_of_reach(self):
        path = "/api/v1/persistentvolumes/" + self.volume
        reference = {"spec": {"claimRef": {"namespace": "attacker", "name": "mine"}}}
        self.assertEqual(self.stranger.call("PATCH", path, reference, MERGE)[0], 403)
        self.assertEqual(self.stranger.call("DELETE", path)[0], 403)
        self.assert_file_is_as_it_was("reader")

    def test_a_node_gives_a_claim_no_volume_that_names_another_whatever_the_claim_says(self):
        # As if the API server had been led astray, or had been one that checks less.
        self.cluster.post(space("attacker", "persistentvolumeclaims"), claim("mine", volumeName=self.volume))
        found = self.cluster.get(self.mine)
        self.cluster.open(self.mine + "/status", {**found, "status": {"phase": "Bound"}}, method="PUT")
        self.assertEqual(self.cluster.get(self.mine)["status"]["phase"], "Bound")
        self.assert_nothing_was_taken("mine", "whose claimRef is not this claim")


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    unittest.main()
