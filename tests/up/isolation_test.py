#!/usr/bin/env python3
"""From inside a pod of `codeflare up`: nothing of other pods, of the program, of its user and of the machine can be read, signalled or unmounted,
and the API server answers to the pod's own token alone."""

import base64
import json
import os
import pathlib
import re
import sys
import unittest
import uuid

sys.dont_write_bytecode = True

import up_test  # noqa: E402
from pod_case import PodCase, container, holders, with_container, with_volume  # noqa: E402
from up_test import NOBODY, PODS, pod, processes_below  # noqa: E402

SPY = (pathlib.Path(__file__).resolve().parent / "spy.py").read_text()
FINDS = {"file": 1, "environ": True, "mounts": True, "path": True, "opens": True, "others": True}
ANSWERS = {"who": "system:serviceaccount:default:default", "nobody": 401, "forged": 401, "secrets": 403, "nodes": 403}


class Isolation(PodCase):
    def setUp(self):
        super().setUp()
        self.secrets = {what: f"secret-{uuid.uuid4().hex}" for what in ("environment", "file", "command", "program", "home")}
        self.home = self.scratch / "home"
        self.home.mkdir()
        (self.home / "private").write_text(self.secrets["home"])
        self.environment = {**os.environ, "HOME": str(self.home), "PRIVATE": self.secrets["program"]}

    def add_victim(self):
        script = f"echo {self.secrets['file']} | tee /tmp/secret > /data/secret; : {self.secrets['command']}; while :; do sleep 1; done"
        body = with_volume(pod("victim", script), {"emptyDir": {}})
        self.cluster.post(PODS, with_container(body, env=[{"name": "PRIVATE", "value": self.secrets["environment"]}]))
        victim = self.running("victim")
        folder = self.scratch / "data/node/pods" / victim["metadata"]["uid"]
        secret = folder / "volumes/v/secret"
        self.cluster.wait_until(lambda: secret.is_file() and secret.read_text() == self.secrets["file"] + "\n")
        return victim, folder, secret

    def spied(self, name, task, **spec):
        words = ["python3", "-c", SPY, base64.b64encode(json.dumps(task).encode()).decode()]
        self.cluster.post(PODS, with_container(pod(name, "", restartPolicy="Never", **spec), command=words))
        ended = self.ended(name)
        log = self.cluster.open(f"{PODS}/{name}/log")
        self.assertEqual(ended["status"]["phase"], "Succeeded", log)
        return json.loads(log.splitlines()[-1])

    def check(self):
        victim, folder, secret = self.add_victim()
        data = self.scratch / "data"
        keys = list(data.rglob("*.key"))
        self.assertTrue(keys)
        paths = [self.scratch, data, data / "node", folder, secret, self.home / "private", pathlib.Path(self.cluster.kubeconfig), *keys]
        self.assertEqual([path for path in paths if not path.exists()], [])
        task = {
            "secrets": list(self.secrets.values()),
            "paths": [str(path) for path in paths],
            "pids": [self.cluster.process.pid, *processes_below(self.scratch), *holders(self.scratch).values()],
            "port": int(re.search(r":(\d+) in", self.cluster.lines[0])[1]),
            "namespaces": {name: os.readlink("/proc/self/ns/" + name) for name in ("user", "mnt", "pid", "net", "ipc", "uts")},
            "name": f"codeflare-test-{uuid.uuid4().hex}",
        }
        for name, context in (("plain", {}), ("root", {"runAsUser": 0}), ("user", {"runAsUser": 1000})):
            with self.subTest(name):
                said = self.spied(name, task, securityContext=context)
                self.assertEqual(said["leaks"], [])
                self.assertEqual(said["control"], FINDS)
                self.assertEqual(said["api"], ANSWERS)
        # Nobody was hit.
        self.assertIsNone(self.cluster.process.poll())
        now, before = container(self.running("victim")), container(victim)
        self.assertEqual((now["containerID"], now["restartCount"]), (before["containerID"], 0))
        self.assertEqual(secret.read_text(), self.secrets["file"] + "\n")
        self.assertLessEqual(set(task["pids"]), {self.cluster.process.pid, *processes_below(self.scratch), *holders(self.scratch).values()})

    def test_a_pod_has_nothing_but_its_own(self):
        self.start(env=self.environment)
        self.check()

    @unittest.skipUnless(os.geteuid() == 0, "we are an ordinary user already")
    def test_so_has_one_of_an_ordinary_user(self):
        for path in (self.home, self.home / "private"):
            os.chown(path, NOBODY, NOBODY)
        self.start_as_nobody(env=self.environment)
        self.check()


if __name__ == "__main__":
    up_test.PROGRAM = sys.argv.pop(1)
    unittest.main()
