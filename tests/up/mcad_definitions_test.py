#!/usr/bin/env python3
"""MCAD's own definitions, from its published Go module, where ours should be: work runs, or one sentence says why not, and the log does not repeat itself.

MCAD's AppWrapper has no `status.plan`, its QuotaSubtree no status subresource.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "queue"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "crds"))

import yaml  # noqa: E402

import modules  # noqa: E402
import one_queue_test  # noqa: E402
from api import Api, Refused  # noqa: E402
from live_cluster import wait_for  # noqa: E402
from one_queue import PODS, QUOTA, QUOTAS, WRAPPERS, Controller, Story, work  # noqa: E402
from one_queue_test import NODE, UP, Server  # noqa: E402

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
APP_WRAPPERS = "appwrappers.workload.codeflare.dev"
QUOTA_SUBTREES = "quotasubtrees.quota.codeflare.dev"
JUST_BEFORE = f"customresourcedefinition {APP_WRAPPERS} "
APPLY = "so nothing can start; apply crds/workload.codeflare.dev_appwrappers.yaml"
DROPS = JUST_BEFORE + "drops status.plan, " + APPLY
MISSING = JUST_BEFORE + "is missing, " + APPLY
# The longest pause between two tries of anything in the controller is half a minute.
QUIET_SECONDS = 40


def mcads():
    """MCAD's definitions by name, as its repository has them."""
    root = modules.MCAD.download()
    found = [yaml.safe_load(path.read_text()) for path in modules.yaml_files(root, [modules.MCAD.definitions])]
    return {one["metadata"]["name"]: one for one in found}


class McadDefinitions(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="codeflare-mcad-definitions-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.server = Server(self.folder)
        self.addCleanup(self.server.end)

    def open(self):
        self.api = Api(self.server.kubeconfig, self.folder)

    def definition(self, name):
        try:
            return self.api.call("GET", f"{DEFINITIONS}/{name}")
        except Refused as refused:
            if refused.status != 404:
                raise
            return None

    def is_ours(self, name=APP_WRAPPERS):
        """The schema keeps what ours keeps, and the server uses it."""
        there = self.definition(name)
        if there is None or "deletionTimestamp" in there["metadata"]:
            return False
        return "subresources" in there["spec"]["versions"][0] and (name != APP_WRAPPERS or self.keeps_plans(there))

    @staticmethod
    def keeps_plans(definition):
        status = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"]
        return "plan" in status["properties"] or status.get("x-kubernetes-preserve-unknown-fields", False)

    def use_mcads(self):
        """As kubectl create and kubectl replace."""
        for name, body in mcads().items():
            there = self.definition(name)
            if there is None:
                self.api.call("POST", DEFINITIONS, body)
            else:
                version = {"resourceVersion": there["metadata"]["resourceVersion"]}
                self.api.call("PUT", f"{DEFINITIONS}/{name}", {**body, "metadata": {**body["metadata"], **version}})
        self.wait_for_definitions()

    def wait_for_definitions(self):
        def look():
            state = {name: (self.definition(name) or {}).get("status", {}).get("conditions", []) for name in (APP_WRAPPERS, QUOTA_SUBTREES)}
            return all(any(c["type"] == "Established" and c["status"] == "True" for c in one) for one in state.values()), state

        wait_for("definitions are established", look)

    def delete_definitions(self):
        """As kubectl delete -f."""
        for name in mcads():
            try:
                self.api.call("DELETE", f"{DEFINITIONS}/{name}")
            except Refused as refused:
                if refused.status != 404:
                    raise

    def submit(self, number):
        """Tried again while the kind is not served."""

        def created():
            try:
                self.api.call("POST", WRAPPERS, work(number))
                return True, None
            except Refused as refused:
                if refused.status != 404:
                    raise
                return False, str(refused)

        wait_for(f"AppWrapper w{number} can be created", created)

    def wrapper(self, number):
        return self.api.call("GET", f"{WRAPPERS}/w{number}")

    def queued(self, number):
        conditions = self.wrapper(number).get("status", {}).get("conditions", [])
        return [(c.get("reason"), c.get("message", "")) for c in conditions if c["type"] == "Queued"]

    def runs(self, number):
        def look():
            status = self.wrapper(number).get("status", {})
            return status.get("canrun") and status.get("plan") and status.get("state") == "Running", status

        wait_for(f"w{number} runs", look)
        wait_for(f"the pod of w{number}", lambda: (self.pod(number)["spec"].get("nodeName"), None))

    def pod(self, number):
        return self.api.call("GET", f"{PODS}/w{number}")

    def cli(self, *words):
        run = subprocess.run([one_queue_test.PROGRAM, *words, "--kubeconfig", self.server.kubeconfig],
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, env=os.environ)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def assert_quiet(self, read):
        """Nothing new in the log, also after the longest pause."""
        before = read()
        time.sleep(QUIET_SECONDS)
        self.assertEqual(read()[len(before):], "")

    def start_controller(self, *flags):
        controller = Controller(one_queue_test.PROGRAM, self.folder, "controller", self.server.kubeconfig, "--bind", *flags)
        self.addCleanup(controller.end)
        return controller


class Up(McadDefinitions):
    def test_definitions_that_were_there_before_the_start_are_replaced_and_old_work_runs(self):
        # Submitted where the submitter is recorded: without it nothing of this user starts.
        self.server.start(*UP)
        self.open()
        Story(self.api).pause(True)
        self.api.call("POST", QUOTAS, QUOTA)
        self.submit(0)
        self.assertEqual(self.server.end(), 0)
        self.server.start("apiserver")
        self.open()
        self.use_mcads()
        self.assertEqual(self.server.end(), 0)
        self.server.start(*UP)
        self.open()
        Story(self.api).pause(False)
        self.assertTrue(self.is_ours() and self.is_ours(QUOTA_SUBTREES))
        self.runs(0)
        self.submit(1)
        self.runs(1)
        for word in ("nothing can start", "tried again"):
            self.assertNotIn(word, self.server.said())

    def test_definitions_that_replace_ours_while_it_runs_are_replaced_again(self):
        self.server.start(*UP)
        self.open()
        self.api.call("POST", QUOTAS, QUOTA)
        self.submit(0)
        self.runs(0)
        before = self.pod(0)["metadata"]["uid"]
        for number in (1, 2):
            self.use_mcads()
            self.submit(number)
            self.runs(number)
            self.assertTrue(self.is_ours() and self.is_ours(QUOTA_SUBTREES))
            # Work that runs may notice before the new one does.
            self.assertIn(self.server.said().count(DROPS), range(1, 2 * number + 1), self.server.said())
        self.assertEqual(self.pod(0)["metadata"]["uid"], before)
        self.assert_quiet(self.server.said)

        # And taken away: all AppWrappers go with the kind.
        self.use_mcads()
        self.delete_definitions()
        wait_for("our definitions come back", lambda: (self.is_ours() and self.is_ours(QUOTA_SUBTREES), self.server.said()[-1000:]))
        self.submit(3)
        self.runs(3)
        self.assertEqual(self.server.said().count(MISSING), 1, self.server.said())
        self.assert_quiet(self.server.said)


class Beside(McadDefinitions):
    """`codeflare controller` on an API server without a queue."""

    def setUp(self):
        super().setUp()
        self.server.start("apiserver")
        self.open()
        self.use_mcads()
        self.api.call("POST", "/api/v1/nodes", NODE)
        self.api.call("POST", QUOTAS, QUOTA)

    def readyz(self):
        port = self.controller.said(r"serving health and metrics port=(\d+)")[0]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=60) as answer:
            return answer.status, answer.read().decode()

    def wait_ready(self, wanted):
        wait_for(f"/readyz says {wanted!r}", lambda: (wanted == self.readyz(), self.readyz()))

    def end_pods(self):
        """As the kubelet of their node; whether none is left."""
        pods = self.api.call("GET", PODS)["items"]
        for pod in pods:
            if "deletionTimestamp" in pod["metadata"]:
                self.api.call("DELETE", f"{PODS}/{pod['metadata']['name']}", {"gracePeriodSeconds": 0})
        return not pods, [pod["metadata"]["name"] for pod in pods]

    def test_one_sentence_says_why_nothing_starts_until_somebody_applies_ours(self):
        self.controller = self.start_controller("--health-address", "127.0.0.1:0")
        self.controller.wait_said("the queue starts")
        self.submit(0)
        sentence = DROPS + ", or start the controller with --install-crds"
        wait_for("the reason", lambda: (any(reason == "DefinitionOutdated" and sentence in text for reason, text in self.queued(0)), self.queued(0)))
        self.assertFalse(self.wrapper(0)["status"].get("canrun", False))
        self.assertIn("DefinitionOutdated: " + sentence, self.cli("explain", "appwrapper", "w0"))
        self.assertEqual(self.readyz(), (200, f"ok\n{sentence}\n"))
        self.assertFalse(self.api.call("GET", PODS)["items"])
        self.assert_quiet(self.controller.log.read_text)
        self.assertEqual(self.controller.log.read_text().count(DROPS), 1)

        self.cli("crds", "apply")
        self.runs(0)
        self.wait_ready((200, "ok"))

        self.use_mcads()
        self.delete_definitions()
        wait_for("w0 ends with its kind", self.end_pods)
        gone = MISSING + ", or start the controller with --install-crds"
        self.wait_ready((200, f"ok\n{gone}\n"))
        time.sleep(QUIET_SECONDS)  # tries of the watches, each told once
        self.assert_quiet(self.controller.log.read_text)
        self.assertEqual(self.controller.log.read_text().count(MISSING), 1)
        self.cli("crds", "apply")
        self.submit(1)
        self.runs(1)
        self.wait_ready((200, "ok"))

    def test_with_leave_to_do_so_the_controller_applies_its_own(self):
        self.controller = self.start_controller("--install-crds")
        self.submit(0)
        self.runs(0)
        self.assertTrue(self.is_ours() and self.is_ours(QUOTA_SUBTREES))
        self.use_mcads()
        self.submit(1)
        self.runs(1)
        self.assertTrue(self.is_ours() and self.is_ours(QUOTA_SUBTREES))
        self.assertIn(self.controller.log.read_text().count(DROPS), (1, 2))


if __name__ == "__main__":
    one_queue_test.PROGRAM = sys.argv.pop(1)
    unittest.main()
