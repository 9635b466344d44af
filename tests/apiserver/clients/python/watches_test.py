"""Watches: events in order, resuming, bookmarks, the end of a stream, and positions that are too old."""

import threading

from kubernetes import client, watch

import case
from case import Case, admin, config_map


class WatchesTest(Case):
    def write(self, count):
        for i in range(count):
            self.core.create_namespaced_config_map(self.ns, config_map(f"map-{i}", labels={"watched": "yes"}))
            self.core.patch_namespaced_config_map(f"map-{i}", self.ns, {"data": {"key": "changed"}})
            self.core.delete_namespaced_config_map(f"map-{i}", self.ns)

    def test_every_change_arrives_once_and_in_order(self):
        start = self.core.list_namespaced_config_map(self.ns).metadata.resource_version
        api = admin()  # a connection of its own: the stream is open while others write
        self.addCleanup(api.close)
        writer = threading.Thread(target=self.write, args=(10,))
        writer.start()
        self.addCleanup(writer.join)
        seen, last = [], int(start)
        stream = watch.Watch()
        follow = client.CoreV1Api(api).list_namespaced_config_map
        for event in stream.stream(follow, self.ns, resource_version=start, label_selector="watched=yes", timeout_seconds=60):
            item = event["object"]
            self.assertIsInstance(item, client.V1ConfigMap)
            self.assertGreater(int(item.metadata.resource_version), last)
            last = int(item.metadata.resource_version)
            seen.append((event["type"], item.metadata.name))
            if len(seen) == 30:
                stream.stop()
        expected = [(kind, f"map-{i}") for i in range(10) for kind in ("ADDED", "MODIFIED", "DELETED")]
        self.assertEqual(seen, expected)

    def test_a_watch_goes_on_where_another_ended(self):
        start = self.core.list_namespaced_config_map(self.ns).metadata.resource_version
        self.write(2)
        seen = []
        for _ in range(2):
            stream = watch.Watch()
            for event in stream.stream(self.core.list_namespaced_config_map, self.ns, resource_version=start, label_selector="watched=yes", timeout_seconds=30):
                seen.append((event["type"], event["object"].metadata.name))
                start = event["object"].metadata.resource_version
                if len(seen) % 3 == 0:
                    stream.stop()
        self.assertEqual(seen, [(kind, f"map-{i}") for i in range(2) for kind in ("ADDED", "MODIFIED", "DELETED")])

    def test_a_watch_ends_at_its_time_after_a_bookmark(self):
        self.core.create_namespaced_config_map(self.ns, config_map("one"))
        follow = self.core.list_namespaced_config_map
        options = {"timeout_seconds": 1, "allow_watch_bookmarks": True, "watch": True, "_preload_content": False}
        answer = follow(self.ns, **options)
        lines = answer.data.decode().splitlines()
        self.assertGreaterEqual(len(lines), 2, "kube-root-ca.crt and one")
        self.assertTrue(all('"type":"ADDED"' in line or '"type":"BOOKMARK"' in line for line in lines), lines)

    def test_leaving_and_entering_a_selector_are_events(self):
        self.core.create_namespaced_config_map(self.ns, config_map("one", labels={"colour": "red"}))
        start = self.core.list_namespaced_config_map(self.ns).metadata.resource_version
        for colour in ("blue", "red", "green"):
            self.core.patch_namespaced_config_map("one", self.ns, {"metadata": {"labels": {"colour": colour}}})
        stream, seen = watch.Watch(), []
        follow = self.core.list_namespaced_config_map
        for event in stream.stream(follow, self.ns, resource_version=start, label_selector="colour=red", timeout_seconds=30):
            seen.append((event["type"], event["object"].metadata.labels["colour"]))
            if len(seen) == 3:
                stream.stop()
        self.assertEqual([kind for kind, _ in seen], ["DELETED", "ADDED", "DELETED"])
        self.assertEqual(seen[0][1], "red", "what leaves is shown as the watcher last saw it")

    def test_a_position_that_is_too_old_is_refused(self):
        self.write(1)
        case.SERVER.restart()  # history lives in memory
        stream = watch.Watch()
        with self.assertRaises(client.ApiException) as caught:
            for _ in stream.stream(self.core.list_namespaced_config_map, self.ns, resource_version="1", timeout_seconds=5):
                self.fail("an event from the beginning of time")
        self.assertEqual(caught.exception.status, 410)
        self.assertIn("too old resource version: 1 (", caught.exception.body)

    def test_initial_events_end_with_a_marked_bookmark(self):
        self.core.create_namespaced_config_map(self.ns, config_map("one"))
        maps = self.core.list_namespaced_config_map
        options = {"send_initial_events": True, "resource_version_match": "NotOlderThan", "allow_watch_bookmarks": True}
        answer = maps(self.ns, watch=True, timeout_seconds=1, _preload_content=False, **options)
        lines = answer.data.decode().splitlines()
        marked = [line for line in lines if '"k8s.io/initial-events-end":"true"' in line]
        self.assertEqual((len(marked), '"type":"BOOKMARK"' in marked[0]), (1, True))
