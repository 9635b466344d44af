"""The Python client's informer: first list, changes, resync and end, INFORMER_ROUNDS times (3) beside INFORMER_LOAD busy processes (0)."""

import faulthandler
import os
import subprocess
import sys
import threading
import time

from kubernetes.informer import SharedInformer

import case
from case import Case, config_map

ROUNDS = int(os.environ.get("INFORMER_ROUNDS", "3"))
LOAD = int(os.environ.get("INFORMER_LOAD", "0"))
PATIENCE = 120


class InformerTest(Case):
    def setUp(self):
        super().setUp()
        faulthandler.enable()
        for _ in range(LOAD):
            busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            self.addCleanup(busy.wait)
            self.addCleanup(busy.kill)

    def wait(self, event, what):
        if not event.wait(PATIENCE):
            faulthandler.dump_traceback(all_threads=True)
            self.fail(f"{what} did not come within {PATIENCE} seconds")

    def one_round(self, name):
        api = case.admin()
        self.addCleanup(api.close)
        core = type(self.core)(api)
        informer = SharedInformer(list_func=core.list_namespaced_config_map, namespace=self.ns, resync_period=1)
        seen = {kind: threading.Event() for kind in ("ADDED", "MODIFIED", "DELETED")}
        synced, errors = threading.Event(), []

        def note(kind):
            def handle(item):
                if item.metadata.name == name:
                    seen[kind].set()
                synced.set()
            return handle

        for kind in seen:
            informer.add_event_handler(kind, note(kind))
        informer.add_event_handler("ERROR", lambda error: errors.append(str(error)))
        informer.start()
        try:
            self.wait(synced, "the first list")
            self.core.create_namespaced_config_map(self.ns, config_map(name))
            self.wait(seen["ADDED"], "the new object")
            self.core.patch_namespaced_config_map(name, self.ns, {"data": {"key": "changed"}})
            self.wait(seen["MODIFIED"], "the changed object")
            self.core.delete_namespaced_config_map(name, self.ns)
            self.wait(seen["DELETED"], "the removed object")
            self.assertEqual(errors, [])
        finally:
            # The client closes its connection, and calls that an error. While it connects it forgets that it was stopped
            # (Watch.stream() resets the flag): without a resync period it would wait for the end of the watch, half an hour.
            informer.stop()

    def test_an_informer_sees_everything_and_ends(self):
        longest = 0
        for number in range(ROUNDS):
            began = time.monotonic()
            self.one_round(f"map-{number}")
            longest = max(longest, time.monotonic() - began)
        if ROUNDS > 3:
            print(f"informer: {ROUNDS} rounds, the longest took {longest:.1f} s", file=sys.stderr)
