#!/usr/bin/env python3
"""A pod changes its volumes while the node writes into them, or before the node mounts a part of them."""

import json
import sys
import unittest

from attack_case import MERGE, AttackCase, Stranger, space

import up_test
from pod_case import with_container
from up_test import PODS, pod

SECRET = "of-the-machine"
CHANGES = 30
# Puts links in the way of whoever writes into the volume, and says what it managed to do.
PUT_LINKS = """
while [ ! -e /stop/now ]; do
  for name in ..data a b ..data_tmp; do
    ln -sfn %(victim)s /files/$name 2>/dev/null && echo "replaced $name"
    [ -e /files/$name ] && rm -rf /files/$name 2>/dev/null && echo "removed $name"
  done
  touch /files/made 2>/dev/null && echo "made a file"
  mv /files/..data /files/old 2>/dev/null && echo "moved"
  [ "$(cat /files/last 2>/dev/null)" = yes ] && break
done
echo end
"""
# Both files of one state: who goes into the directory that ..data names sees one state or none.
READ_PAIRS = """
while :; do
  (cd -P /files/..data 2>/dev/null && a=$(cat a 2>/dev/null) && b=$(cat b 2>/dev/null) && [ "$a" != "$b" ] && echo "mixed $a $b")
  [ "$(cat /files/last 2>/dev/null)" = yes ] && break
done
echo end
"""
MAKE_LINKS = """
ln -s %(victim)s /v/absolute; ln -s ../../../../../../../../../../../..%(victim)s /v/relative; ln -s / /v/top
mkdir /v/inner; ln -s ../top/%(victim)s /v/inner/twice
"""


class Volumes(AttackCase):
    def setUp(self):
        super().setUp()
        self.victim = self.scratch / "victim"
        self.victim.mkdir()
        self.victim.chmod(0o777)
        (self.victim / "secret").write_text(SECRET)

    def assert_unharmed(self):
        self.assertEqual([one.name for one in self.victim.iterdir()], ["secret"])
        self.assertEqual((self.victim / "secret").read_text(), SECRET)

    def test_files_of_a_config_map_change_together_whatever_the_pod_does(self):
        self.start()
        maps = space("default", "configmaps", "files")
        self.cluster.post(space("default", "configmaps"), {"metadata": {"name": "files"}, "data": {"a": "0", "b": "0"}})
        stranger = Stranger(self.cluster, "default")
        for name, source in (("plain", {"configMap": {"name": "files"}}), ("projected", {"projected": {"sources": [{"configMap": {"name": "files"}}]}})):
            for role, script in (("links", PUT_LINKS), ("pairs", READ_PAIRS)):
                body = pod(f"{name}-{role}", script % {"victim": self.victim} if role == "links" else script, restartPolicy="Never",
                           volumes=[{"name": "v", **source}])
                self.cluster.post(PODS, with_container(body, volumeMounts=[{"name": "v", "mountPath": "/files"}]))
        names = [f"{name}-{role}" for name in ("plain", "projected") for role in ("links", "pairs")]
        for name in names:
            self.running(name)
        for number in range(1, CHANGES):
            code, answer = stranger.call("PATCH", maps, {"data": {"a": str(number), "b": str(number)}}, MERGE)
            self.assertEqual(code, 200, answer)
        stranger.call("PATCH", maps, {"data": {"last": "yes"}}, MERGE)
        for name in names:
            self.cluster.wait_for(PODS + "/" + name, lambda found: found["status"].get("phase") in ("Succeeded", "Failed"), patience=180)
            self.assertEqual(self.cluster.open(f"{PODS}/{name}/log"), "end\n", name)
        self.assert_unharmed()

    def test_a_part_of_a_volume_is_no_way_out_of_it(self):
        self.start()
        script = "cat /x/secret /x/%(victim)s/secret 2>/dev/null; echo mine > /x/written-by-pod; true" % {"victim": self.victim}
        for number, part in enumerate(("absolute", "relative", "top", "inner/twice", "absolute/secret", "top" + str(self.victim))):
            with self.subTest(part):
                name = f"part-{number}"
                body = pod(name, script, restartPolicy="Never", volumes=[{"name": "v", "emptyDir": {}}])
                with_container(body, volumeMounts=[{"name": "v", "mountPath": "/x", "subPath": part}])
                first = json.loads(json.dumps(body["spec"]["containers"][0]))
                first.update(name="first", command=["sh", "-c", MAKE_LINKS % {"victim": self.victim}], volumeMounts=[{"name": "v", "mountPath": "/v"}])
                body["spec"]["initContainers"] = [first]
                self.cluster.post(PODS, body)
                found = self.cluster.wait_for(PODS + "/" + name, lambda one: one["status"].get("phase") in ("Succeeded", "Failed") or self.is_refused(one))
                if found["status"]["phase"] == "Succeeded":
                    self.assertNotIn(SECRET, self.cluster.open(f"{PODS}/{name}/log"))
                self.delete(f"{PODS}/{name}", gracePeriodSeconds=0)
                self.assert_unharmed()

    @staticmethod
    def is_refused(found):
        reasons = [one["state"].get("waiting", {}).get("reason", "") for one in found["status"].get("containerStatuses", [])]
        return any(reason.endswith("Error") or reason == "CrashLoopBackOff" for reason in reasons)


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    unittest.main()
