#!/usr/bin/env python3
"""The work of `codeflare up` for running pods: probes, limits, eviction, volumes that are places of the machine."""

import os
import pathlib
import socket
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True

import up_test  # noqa: E402
from pod_case import is_ready, phase_is, terminated, with_container, with_volume  # noqa: E402
from traces import groups, is_empty  # noqa: E402
from up_test import PODS, Cluster, pod  # noqa: E402

CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"
GREEDY = "x=$(head -c 200000000 /dev/zero | tr '\\0' x); sleep 60"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def groups_left():
    """Control groups of nodes."""
    return groups("codeflare-*")


class Upkeep(unittest.TestCase):
    def setUp(self):
        self.before = set(groups_left())
        self.directory = tempfile.TemporaryDirectory()
        self.scratch = pathlib.Path(self.directory.name).resolve()
        self.shared = self.scratch / "shared"
        self.shared.mkdir()
        self.cluster = Cluster(self.scratch, "--allow-host-path", str(self.shared))
        self.cluster.wait_for("/api/v1/namespaces/default/serviceaccounts", lambda found: found["items"])

    def tearDown(self):
        code, err = self.cluster.stop()
        self.directory.cleanup()
        self.assertEqual(code, 0, err)
        # Those of other clusters go as well, or have pods now and then.
        left = set(groups_left()) - self.before
        until = time.monotonic() + 60
        while left and time.monotonic() < until:
            time.sleep(0.1)
            left = {group for group in left.intersection(groups_left()) if is_empty(group)}
        self.assertEqual(left, set())

    def test_a_pod_is_ready_when_its_probe_passes_and_restarted_when_it_hangs(self):
        port = free_port()
        serve = (f"mkdir -p /tmp/www; touch /tmp/www/alive; (sleep 2; touch /tmp/www/ready; sleep 4; rm /tmp/www/alive) & "
                 f"exec python3 -m http.server {port} --directory /tmp/www")
        get = {"periodSeconds": 1, "failureThreshold": 2}
        self.cluster.post(PODS, with_container(
            pod("web", serve),
            readinessProbe={**get, "httpGet": {"path": "/ready", "port": port}},
            livenessProbe={**get, "httpGet": {"path": "/alive", "port": port}, "initialDelaySeconds": 3}))
        running = self.cluster.wait_for(PODS + "/web", phase_is("Running"))
        self.assertFalse(is_ready(running))
        self.cluster.wait_for(PODS + "/web", is_ready)
        self.cluster.wait_for(PODS + "/web", lambda found: found["status"]["containerStatuses"][0]["restartCount"] > 0)

    def test_programs_are_probes_and_hooks(self):
        once = {"periodSeconds": 1, "failureThreshold": 1}
        here = "${CODEFLARE_POD_ROOT:-/tmp}"
        self.cluster.post(PODS, with_container(
            pod("good", f"sleep 2; touch {here}/ready; sleep 600"),
            readinessProbe={**once, "exec": {"command": ["sh", "-c", f"test -e {here}/ready -a -e {here}/hooked"]}},
            lifecycle={"postStart": {"exec": {"command": ["sh", "-c", f"touch {here}/hooked"]}}}))
        self.cluster.post(PODS, with_container(pod("bad", "sleep 600", restartPolicy="Always"), livenessProbe={**once, "exec": {"command": ["false"]}}))
        self.cluster.wait_for(PODS + "/good", is_ready)
        self.cluster.wait_for(PODS + "/bad", lambda found: found["status"]["containerStatuses"][0]["restartCount"] > 0)

    def test_a_program_that_is_not_there_fails_its_probe(self):
        self.cluster.post(PODS, with_container(
            pod("lacks", "sleep 60"), readinessProbe={"periodSeconds": 1, "exec": {"command": ["no-such-program"]}}))

        def told(found):
            return any(one["reason"] == "Unhealthy" and "no-such-program" in one["message"] for one in found["items"])

        self.cluster.wait_for("/api/v1/namespaces/default/events", told)
        self.assertFalse(is_ready(self.cluster.get(PODS + "/lacks")))

    def test_a_container_that_eats_its_memory_is_killed_and_says_so(self):
        self.cluster.post(PODS, with_container(pod("greedy", GREEDY, restartPolicy="Never"),
                                               resources={"limits": {"memory": "64Mi"}}))
        ended = terminated(self.cluster.wait_for(PODS + "/greedy", phase_is("Failed")))
        self.assertEqual((ended["reason"], ended["exitCode"]), ("OOMKilled", 137))
        node = self.cluster.get("/api/v1/nodes/codeflare-0")
        limits = [one for one in node["status"]["conditions"] if one["type"] == "ResourceLimits"]
        self.assertEqual(len(limits), 1)
        if os.geteuid() == 0:
            self.assertEqual(limits[0]["status"], "True", limits[0]["message"])

    def test_a_pod_that_fills_its_disk_is_evicted_within_ten_seconds(self):
        self.cluster.post(PODS, with_volume(pod("full", "head -c 3000000 /dev/zero > /data/x; sleep 60"),
                                            {"emptyDir": {"sizeLimit": "1Mi"}}))
        self.cluster.wait_for(PODS + "/full", phase_is("Running"))
        began = time.monotonic()
        status = self.cluster.wait_for(PODS + "/full", phase_is("Failed"))["status"]
        self.assertLess(time.monotonic() - began, 12)
        self.assertEqual(status["reason"], "Evicted")
        self.assertEqual(status["message"], 'Usage of EmptyDir volume "v" exceeds the limit "1Mi". ')

    def test_claims_keep_what_was_written(self):
        self.cluster.post(CLAIMS, {"metadata": {"name": "data"}, "spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}})
        claim = self.cluster.wait_for(CLAIMS + "/data", phase_is("Bound"))
        self.assertEqual(claim["spec"]["storageClassName"], "codeflare-local")
        use = {"persistentVolumeClaim": {"claimName": "data"}}
        self.cluster.post(PODS, with_volume(pod("writes", "echo kept > /data/file", restartPolicy="Never"), use))
        self.cluster.wait_for(PODS + "/writes", phase_is("Succeeded"))
        self.cluster.post(PODS, with_volume(pod("reads", "cat /data/file", restartPolicy="Never"), use))
        self.cluster.wait_for(PODS + "/reads", phase_is("Succeeded"))
        self.assertEqual(self.cluster.open(PODS + "/reads/log"), "kept\n")
        directories = list((self.scratch / "data/node/claims").iterdir())
        self.assertEqual(len(directories), 1)
        self.cluster.open(CLAIMS + "/data", method="DELETE")
        self.cluster.wait_until(lambda: not directories[0].exists())

    def test_places_of_the_machine_are_offered_below_what_was_allowed(self):
        use = {"hostPath": {"path": str(self.shared / "sub"), "type": "DirectoryOrCreate"}}
        self.cluster.post(PODS, with_volume(pod("inside", "echo hello > /data/file", restartPolicy="Never"), use))
        self.cluster.wait_for(PODS + "/inside", phase_is("Succeeded"))
        self.assertEqual((self.shared / "sub/file").read_text(), "hello\n")
        self.cluster.post(PODS, with_volume(pod("outside", "ls /data"), {"hostPath": {"path": "/etc"}}))

        def refused(found):
            return any(one["reason"] == "FailedMount" and "--allow-host-path" in one["message"] for one in found["items"])

        self.cluster.wait_for("/api/v1/namespaces/default/events", refused)
        self.assertEqual(self.cluster.get(PODS + "/outside")["status"]["phase"], "Pending")

    def test_pods_know_themselves(self):
        def field(path):
            return {"fieldRef": {"fieldPath": path}}

        fields = {"NAME": field("metadata.name"), "NODE": field("spec.nodeName"), "APP": field("metadata.labels['app']"),
                  "ADDRESS": field("status.podIP"), "MEMORY": {"resourceFieldRef": {"resource": "limits.memory", "divisor": "1Mi"}}}
        files = [{"path": "labels", **field("metadata.labels")}, {"path": "name", **field("metadata.name")},
                 {"path": "cpu", "resourceFieldRef": {"containerName": "c", "resource": "limits.cpu"}}]
        at = "${CODEFLARE_POD_ROOT:+$CODEFLARE_POD_ROOT/volumes/v}"
        script = f'echo $NAME $NODE $APP $MEMORY; echo $ADDRESS; d={at}; d=${{d:-/data}}; cat $d/labels; echo; cat $d/name; echo; cat $d/cpu; echo'
        body = with_container(with_volume(pod("self", script, restartPolicy="Never"), {"downwardAPI": {"items": files}}),
                              env=[{"name": name, "valueFrom": source} for name, source in fields.items()],
                              resources={"limits": {"memory": "64Mi", "cpu": "2"}})
        body["metadata"]["labels"] = {"app": "web", "tier": "one"}
        self.cluster.post(PODS, body)
        status = self.cluster.wait_for(PODS + "/self", phase_is("Succeeded"))["status"]
        lines = [line for line in self.cluster.open(PODS + "/self/log").splitlines() if line]
        self.assertEqual(lines, ["self codeflare-0 web 64", status["podIP"], 'app="web"', 'tier="one"', "self", "2"])

    def test_a_root_that_is_read_only_leaves_the_rest_as_it_is(self):
        if any("not isolated" in line for line in self.cluster.lines):
            self.skipTest("namespaces are forbidden here: " + "".join(self.cluster.lines))
        script = ("for place in / /tmp /etc /root; do touch $place/file 2> /dev/null && echo $place; done; "
                  "for place in /data /dev/shm; do touch $place/file && echo $place; done; exit 0")
        body = with_container(pod("shut", script, restartPolicy="Never"), securityContext={"readOnlyRootFilesystem": True})
        self.cluster.post(PODS, with_volume(body, {"emptyDir": {}}))
        self.cluster.wait_for(PODS + "/shut", phase_is("Succeeded"))
        self.assertEqual(self.cluster.open(PODS + "/shut/log"), "/data\n/dev/shm\n")

    def test_volumes_follow_their_config_map(self):
        maps = "/api/v1/namespaces/default/configmaps"
        self.cluster.post(maps, {"metadata": {"name": "settings"}, "data": {"k": "one"}})
        script = "cat /data/k; echo; until grep -q two /data/k; do sleep 0.2; done; cat /data/k; echo; exit 0"
        self.cluster.post(PODS, with_volume(pod("follows", script, restartPolicy="Never"),
                                            {"configMap": {"name": "settings"}}))
        self.cluster.wait_for(PODS + "/follows", phase_is("Running"))
        self.cluster.open(maps + "/settings", {"metadata": {"name": "settings"}, "data": {"k": "two"}}, method="PUT")
        self.cluster.wait_for(PODS + "/follows", phase_is("Succeeded"))
        self.assertEqual(self.cluster.open(PODS + "/follows/log"), "one\ntwo\n")


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    unittest.main()
