#!/usr/bin/env python3
"""The parts of codeflare_elastic that need no torch: positions, shares, state files, messages, control, intervals, the service's client."""

import contextlib
import http.server
import json
import os
import pathlib
import random
import socket
import sys
import tempfile
import threading
import time
import unittest
import zlib

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from codeflare_elastic import _messages, _saver, _service, _sockets, _state_file, _tree  # noqa: E402
from codeflare_elastic._control import END, GO, REJOIN, Control  # noqa: E402
from codeflare_elastic._interval import Interval, young_daly  # noqa: E402
from codeflare_elastic._position import Batching, Position, share, share_of_step, shares_of_epoch  # noqa: E402


class Positions(unittest.TestCase):
    def test_a_step_further_is_larger_and_a_begun_epoch_too(self):
        self.assertLess(Position(4, 1, 90), Position(5, 1, 100))
        self.assertLess(Position(5, 0, 100), Position(5, 1, 0))

    def test_what_remains_are_the_samples_of_all_epochs_that_no_step_has_consumed(self):
        self.assertEqual(Position().remaining(3, 100), 300)
        self.assertEqual(Position(9, 2, 90).remaining(3, 100), 10)
        self.assertEqual(Position(10, 3, 0).remaining(3, 100), 0)
        self.assertEqual(Position(11, 4, 8).remaining(3, 100), 0, "the program went further")

    def test_shares_of_a_step_cover_it_once_and_differ_by_one_sample_at_most(self):
        for samples in range(1, 40):
            for world in range(1, 12):
                ranges = [share(samples, world, rank) for rank in range(world)]
                self.assertEqual([i for begin, end in ranges for i in range(begin, end)], list(range(samples)))
                sizes = [end - begin for begin, end in ranges]
                self.assertLessEqual(max(sizes) - min(sizes), 1)

    def test_weights_make_the_mean_of_means_the_mean_of_the_step(self):
        values = [random.Random(1).random() for _ in range(100)]
        for world in (1, 2, 3, 7, 20):
            shares = [share_of_step(Batching(100, 13), 91, world, rank) for rank in range(world)]
            means = [sum(values[one.begin : one.end]) / one.size for one in shares]
            mean = sum(one.weight * value for one, value in zip(shares, means)) / world
            self.assertAlmostEqual(mean, sum(values[91:100]) / 9, places=12)

    def test_an_epoch_with_resizes_has_every_sample_once(self):
        chance = random.Random(5)
        for _ in range(200):
            samples, per_worker = chance.randint(1, 300), chance.random() < 0.5
            batching = Batching(samples, chance.randint(1, 40), per_worker)
            offset, seen = 0, []
            while not batching.ends(offset, 1):
                world = chance.randint(1, 6)
                step = [share_of_step(batching, offset, world, rank) for rank in range(world)]
                seen += [i for one in step if one.weight for i in range(one.begin, one.end)]
                offset += step[0].step_samples
            self.assertEqual(seen, list(range(samples)))

    def test_the_global_batch_does_not_depend_on_the_number_of_workers(self):
        batching = Batching(100, 16)
        for world in (1, 3, 8):
            self.assertEqual([one.step_samples for one in shares_of_epoch(batching, 0, world, 0)], [16] * 6 + [4])
        self.assertEqual([one.step_samples for one in shares_of_epoch(Batching(100, 16, per_worker=True), 0, 3, 0)], [48, 48, 4])

    def test_drop_last_ends_an_epoch_before_its_rest(self):
        self.assertEqual([one.step_samples for one in shares_of_epoch(Batching(100, 16, drop_last=True), 0, 2, 1)], [16] * 6)

    def test_a_worker_beyond_the_samples_computes_one_with_weight_0(self):
        shares = [share_of_step(Batching(2, 2), 0, 3, rank) for rank in range(3)]
        self.assertEqual([one.size for one in shares], [1, 1, 1])
        self.assertEqual(sum(one.weight for one in shares), 3)

    def test_wrong_numbers_are_rejected(self):
        for wrong in ((0, 4), (10, 0)):
            with self.assertRaisesRegex(ValueError, f"{wrong[0]} samples, batch_size {wrong[1]}"):
                Batching(*wrong)
        with self.assertRaises(ValueError):
            share(10, 2, 2)


def blob(data, dtype="uint8"):
    return _tree.Blob(dtype, (len(data),), data)


class StateFiles(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.path = os.path.join(self.folder, "state")

    def write(self, value):
        tree, blobs = _tree.encode(value, lambda found: blob(bytes(found)) if isinstance(found, memoryview) else None)
        _state_file.write(self.path, {"step": 7}, tree, blobs, sync=True)

    def test_what_was_written_is_read(self):
        value = {"a": [1, 2.5, None, True, "x"], 3: (1, (2,)), "inf": float("inf"), "raw": b"\0\xff", "t": memoryview(b"12345"), "empty": {}}
        self.write(value)
        meta, tree, blobs = _state_file.read(self.path)
        found = _tree.decode(tree, blobs, lambda one: memoryview(bytes(one.data)))
        self.assertEqual((meta, found), ({"step": 7}, value))
        self.assertEqual(_state_file.peek(self.path), {"step": 7})
        self.assertEqual(os.listdir(self.folder), ["state"])

    def test_a_changed_or_missing_byte_is_found(self):
        self.write({"t": memoryview(os.urandom(300)), "n": 1})
        whole = pathlib.Path(self.path).read_bytes()
        for i in range(0, len(whole), 7):
            wrong = bytearray(whole)
            wrong[i] ^= 1
            with self.assertRaises(_state_file.Damaged):
                _state_file.parse(wrong)
        for size in (0, 5, 20, len(whole) - 1):
            with self.assertRaises(_state_file.Damaged):
                _state_file.parse(whole[:size])

    def test_blobs_outside_the_file_are_rejected_even_with_a_right_checksum(self):
        for begin, size in ((64, 3), (0, 99), (-64, 3), (0, -1)):
            header = json.dumps({"meta": {}, "tree": ["x", 0], "blobs": [{"dtype": "uint8", "shape": [3], "begin": begin, "size": size}]}).encode()
            data = _state_file.MAGIC + len(header).to_bytes(8, "little") + header + b"123"
            with self.assertRaisesRegex(_state_file.Damaged, f"{size} bytes"):
                _state_file.parse(data + zlib.crc32(data).to_bytes(4, "little"))

    def test_a_failed_write_leaves_the_old_file(self):
        self.write({"n": 1})
        with self.assertRaises(TypeError):
            _state_file.write(self.path, {"step": object()}, None, [], sync=False)
        self.assertEqual(_state_file.peek(self.path), {"step": 7})
        self.assertEqual(os.listdir(self.folder), ["state"])

    def test_values_that_cannot_be_saved_are_named(self):
        with self.assertRaisesRegex(_tree.Unsupported, r"\.a\[1\]\.b has type object"):
            _tree.encode({"a": [1, {"b": object()}]}, lambda found: None)
        skipped = []
        tree, _ = _tree.encode({"a": {"f": print, "n": 1}}, lambda found: None, skipped)
        self.assertEqual((skipped, _tree.decode(tree, [], None)), (["a.f"], {"a": {"n": 1}}))


class Messages(unittest.TestCase):
    def test_lines_may_arrive_in_pieces(self):
        lines = _messages.Lines()
        whole = _messages.pack("ready", generation=3, step=9) * 3
        found = [line for i in range(0, len(whole), 5) for line in lines.feed(whole[i : i + 5])]
        self.assertEqual([json.loads(line) for line in found], [{"type": "ready", "generation": 3, "step": 9}] * 3)

    def test_numbers_that_json_lacks_are_left_out(self):
        self.assertEqual(json.loads(_messages.pack("progress", step=1, loss=float("nan"), stepSeconds=None)), {"type": "progress", "step": 1})

    def test_wrong_lines_are_named_and_unknown_types_ignored(self):
        self.assertIsNone(_messages.parse(b'{"type":"later"}'))
        for wrong in (b"x", b"[]", b'{"type":1}', b'{"type":"notice","generation":1}'):
            with self.assertRaises(_messages.BadMessage):
                _messages.parse(wrong)


def notice(generation, reason="Grow", stay=True):
    return {"type": "notice", "generation": generation, "reason": reason, "stay": stay}


class InGroup(unittest.TestCase):
    """Control of a worker that trains in generation 1 with two others."""

    def setUp(self):
        self.control = Control()
        self.control.begin_forming(1, 3)
        self.assertTrue(self.control.formed())

    def test_a_notice_in_the_middle_of_a_step_asks_for_that_step(self):
        self.control.commit(4)
        self.assertEqual(self.control.receive(notice(2)), (2, 4, 2.0))
        self.assertIsNone(self.control.receive(notice(2)))
        other = Control()
        other.begin_forming(1, 3)
        other.formed()
        other.commit(4)
        self.assertEqual(other.boundary(), GO)
        self.assertEqual(other.receive(notice(2)), (2, 5, 2.0))

    def test_members_take_the_step_that_one_of_them_has_begun_and_leave_then(self):
        self.control.commit(4)
        self.control.receive(notice(2))
        self.control.agreed(2, 5)
        self.assertEqual(self.control.boundary(), GO)
        self.control.commit(5)
        self.assertEqual(self.control.boundary(), REJOIN)

    def test_between_two_steps_a_worker_waits_for_the_others_votes(self):
        self.control.receive(notice(2))
        found = []
        thread = threading.Thread(target=lambda: found.append(self.control.boundary()))
        thread.start()
        self.control.agreed(2, 0)
        thread.join(10)
        self.assertEqual(found, [REJOIN])

    def test_without_agreement_the_group_breaks(self):
        self.control.receive(notice(2))
        self.control.agreed(2, None)
        self.assertEqual(self.control.boundary(), REJOIN)
        self.assertTrue(self.control.broken)

    def test_a_lost_peer_breaks_this_group_and_no_later_one(self):
        self.control.receive({"type": "lost", "generation": 0})
        self.assertFalse(self.control.broken)
        self.control.receive({"type": "lost", "generation": 1})
        self.assertEqual(self.control.boundary(), REJOIN)
        self.assertTrue(self.control.stuck())
        self.control.left()
        self.assertFalse(self.control.stuck())
        self.control.receive({"type": "lost", "generation": 1})
        self.assertFalse(self.control.broken)

    def test_orders_of_older_generations_are_dropped(self):
        self.control.receive(notice(2))
        self.control.receive({"type": "host", "generation": 2})
        self.control.receive(notice(3))
        self.control.receive({"type": "round", "generation": 2})
        self.control.left()
        self.assertEqual(self.control.next_order(1)["generation"], 3)
        self.assertFalse(self.control.orders)
        self.assertFalse(self.control.begin_forming(2, 3))

    def test_a_notice_while_a_group_is_formed_waits_for_it_unless_a_member_is_gone(self):
        for reason, broken in (("Grow", False), ("Replace", True)):
            control = Control()
            control.begin_forming(1, 2)
            self.assertIsNone(control.receive(notice(2, reason)))
            self.assertEqual(control.formed(), not broken)
            self.assertEqual(control.late_vote(), None if broken else (2, 0, 2.0))

    def test_one_worker_needs_no_votes(self):
        control = Control()
        control.begin_forming(1, 1)
        control.formed()
        control.commit(6)
        self.assertEqual(control.boundary(), GO)
        self.assertIsNone(control.receive(notice(2)))
        control.commit(7)
        self.assertEqual(control.boundary(), REJOIN)

    def test_a_worker_without_its_agent_ends(self):
        self.control.close()
        self.assertEqual(self.control.boundary(), END)
        self.assertIsNone(self.control.next_order(1))


class Intervals(unittest.TestCase):
    def test_auto_follows_cost_and_size(self):
        interval = Interval("auto", 0.0, mtbf_seconds=86400)
        self.assertTrue(interval.due(1.0, 1))
        interval.saved(1.0, 0.5)
        self.assertAlmostEqual(interval.seconds(1), young_daly(0.5, 86400))
        self.assertAlmostEqual(interval.seconds(4), interval.seconds(1) / 2)
        self.assertFalse(interval.due(100.0, 4))

    def test_fixed_and_never(self):
        self.assertTrue(Interval("5", 0.0).due(5.0, 1))
        self.assertFalse(Interval(None, 0.0).due(1e9, 1))
        with self.assertRaises(ValueError):
            Interval(-1, 0.0)


class Sockets(unittest.TestCase):
    def test_only_connections_of_members_that_are_newer_end(self):
        listener = self.enterContext(socket.create_server(("127.0.0.1", 0)))
        old = self.enterContext(socket.create_connection(listener.getsockname()))
        before = set(_sockets.open_sockets().values())
        new = self.enterContext(socket.create_connection(listener.getsockname()))
        self.assertEqual(_sockets.shut_down({"10.1.2.3"}, set(), before), 0)
        self.assertEqual(_sockets.shut_down({"127.0.0.1"}, set(), before), 1)
        self.assertEqual(new.recv(1), b"")
        old.settimeout(0.01)
        with self.assertRaises(TimeoutError):
            old.recv(1)

    def test_addresses_are_compared_without_the_ipv6_prefix(self):
        self.assertEqual(_sockets.plain("::ffff:10.0.0.1"), "10.0.0.1")
        self.assertEqual(_sockets.plain("fe80::1%eth0"), "fe80::1")
        self.assertEqual(_sockets.interface_of(_sockets.own_address("127.0.0.1")), "lo")


class FakeService(http.server.BaseHTTPRequestHandler):
    """The answers of docs/checkpoints.md that a save and a load need."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        server = self.server
        if self.path.endswith("/checkpoints"):
            if server.full:
                return self.answer(507, {"reason": "InsufficientStorage", "message": server.full})
            begun = json.loads(body)
            if begun["generation"] < server.generation:
                return self.answer(409, {"reason": "OldGeneration", "message": f"generation {begun['generation']} is older than {server.generation}"})
            server.open = begun
            return self.answer(201, {"id": 5, "state": "OPEN"})
        server.commits.append(json.loads(body))
        if server.commits[-1].get("bucket"):
            server.bucket_answers.wait(30)
            if server.bucket_fails:
                return self.answer(503, {"reason": "BucketFailed", "message": server.bucket_fails})
        server.latest = {"id": 5, "step": server.open["step"]}
        return self.answer(200, server.latest)

    def do_PUT(self):
        self.server.part = self.rfile.read(int(self.headers["Content-Length"]))
        crc = self.path.partition("crc32=")[2]
        self.answer(200 if int(crc, 16) == zlib.crc32(self.server.part) else 400, {})

    def do_GET(self):
        if self.headers["Authorization"] != "Bearer secret":
            return self.answer(403, {"reason": "Forbidden", "message": "use the token of this job"})
        if self.path.partition("?")[0] == "/v1/jobs/ns/uid/latest":
            self.server.looked = self.path.partition("?")[2]
            return self.answer(200, self.server.latest) if self.server.latest else self.answer(404, {"reason": "NotFound"})
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.server.part)))
        self.end_headers()
        self.wfile.write(self.server.part)

    def answer(self, status, value):
        data = json.dumps(value).encode()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the client may have left
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    def log_message(self, *words):
        pass


class Tiers(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), FakeService)
        self.server.generation, self.server.latest, self.server.full = 0, None, ""
        self.server.commits, self.server.bucket_fails, self.server.bucket_answers = [], "", threading.Event()
        self.server.bucket_answers.set()
        thread = threading.Thread(target=self.server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        token = os.path.join(self.folder, "token")
        pathlib.Path(token).write_text("secret\n")
        self.environment = {
            "LATTICE_STATE_DIR": os.path.join(self.folder, "memory"),
            "LATTICE_CHECKPOINT_TYPE": "remote",
            "LATTICE_CHECKPOINT_CONFIG": f"job_id=uid,namespace=ns,ckpt_service_endpoint=127.0.0.1,ckpt_service_port={self.server.server_address[1]}",
            "LATTICE_CHECKPOINT_TOKEN_FILE": token,
        }
        self.saved, self.unsaved = [], []

    def saver(self):
        tiers = _saver.tiers_of(self.environment, os.path.join(self.folder, "disk"), 0)
        return _saver.Saver(tiers, lambda *about: self.saved.append(about), lambda step, tier, error: self.unsaved.append((step, tier, str(error))))

    def save(self, saver, step, generation=1, first=True):
        saver.save(generation, 2, first, {"step": step, "epoch": 0, "offset": 8}, ["x", 0], [blob(b"abc" * 100)])
        self.assertTrue(saver.wait(20))

    def test_a_state_goes_to_memory_disk_and_service_and_the_newest_is_found(self):
        saver = self.saver()
        self.assertIsNone(_saver.newest_of(saver.tiers))
        self.save(saver, 3)
        self.assertEqual([(step, tier) for step, tier, _ in self.saved], [(3, "memory"), (3, "disk"), (3, "service")])
        for tier in saver.tiers:
            step, load = tier.newest()
            meta, _, blobs = load()
            self.assertEqual((step, meta["step"], bytes(blobs[0].data)), (3, 3, b"abc" * 100))
        self.save(saver, 4, first=False)
        self.assertEqual(_saver.newest_of(saver.tiers)[0], 4)
        self.assertEqual(self.server.latest["step"], 3)

    def test_an_old_generation_stops_saving_at_the_service_only(self):
        saver = self.saver()
        self.server.generation = 5
        self.save(saver, 3, generation=4)
        self.save(saver, 4, generation=4)
        self.assertEqual([(step, tier) for step, tier, _ in self.saved], [(3, "memory"), (3, "disk"), (4, "memory"), (4, "disk")])
        self.assertIsNone(self.server.latest)
        self.assertEqual(self.unsaved, [], "another group saves")
        self.save(saver, 5, generation=6)
        self.assertEqual(self.server.latest["step"], 5)

    def test_a_missing_service_costs_nothing_but_its_copy(self):
        self.environment["LATTICE_CHECKPOINT_CONFIG"] = "job_id=uid,ckpt_service_endpoint=127.0.0.1,ckpt_service_port=9"
        saver = self.saver()
        self.save(saver, 3)
        self.assertEqual([tier for _, tier, _ in self.saved], ["memory", "disk"])
        self.assertEqual(_saver.newest_of(saver.tiers)[0], 3)
        self.assertEqual([(step, tier) for step, tier, _ in self.unsaved], [(3, "service")])

    def test_a_full_service_is_reported_with_its_words_until_it_saves_again(self):
        saver = self.saver()
        self.server.full = "9 bytes are free, 500 are needed"
        self.save(saver, 3)
        self.save(saver, 4)
        self.assertEqual(self.unsaved, [(3, "service", self.server.full), (4, "service", self.server.full)])
        self.save(saver, 5, first=False)
        self.server.full = ""
        self.save(saver, 6)
        self.assertEqual(len(self.unsaved), 2)
        self.assertIn((6, "service", 5), self.saved)

    def test_a_full_disk_before_a_service_that_saves_is_no_loss(self):
        saver = self.saver()
        os.rmdir(os.path.join(self.folder, "disk"))
        self.save(saver, 3)
        self.assertEqual((self.unsaved, self.saved[-1][:2]), ([], (3, "service")))

    def test_a_service_that_is_known_to_hold_more_is_waited_for(self):
        class Waking:
            tier, asked = "service", 0

            def newest(self):
                self.asked += 1
                if self.asked < 3:
                    raise _saver.Silent("not yet")
                return 9, None

        waking = Waking()
        self.assertEqual(_saver.newest_of([waking], expected=8, patience_seconds=30, pause_seconds=0)[0], 9)
        waking.asked = 0
        self.assertIsNone(_saver.newest_of([waking]), "nothing is known to be saved")
        with self.assertRaises(_saver.Silent):
            _saver.newest_of([waking], expected=8)

    def test_checkpoints_carry_the_name_and_the_retention_of_the_job(self):
        self.environment.update(LATTICE_JOB="bert", LATTICE_CHECKPOINT_KEEP="3")
        self.save(self.saver(), 3)
        self.assertEqual((self.server.open["jobName"], self.server.open["keep"]), ("bert", 3))

    def test_a_save_of_the_type_s3_is_committed_before_the_bucket_is_waited_for(self):
        self.environment["LATTICE_CHECKPOINT_TYPE"] = "s3"
        saver = self.saver()
        self.save(saver, 3)
        self.assertEqual((_saver.newest_of(saver.remote)[0], self.server.looked), (3, "bucket=true"))
        self.assertTrue(self.server.open["bucket"])
        self.assertEqual([commit.get("bucket", False) for commit in self.server.commits], [False, True])
        self.assertEqual([tier for _, tier, _ in self.saved], ["memory", "disk", "service", "bucket"])

    def test_a_bucket_that_fails_is_reported_and_the_service_has_the_state(self):
        self.environment["LATTICE_CHECKPOINT_TYPE"] = "s3"
        self.server.bucket_fails = "AccessDenied"
        saver = self.saver()
        self.save(saver, 3)
        self.assertEqual(self.unsaved, [(3, "bucket", "AccessDenied")])
        self.assertEqual(self.saved[-1][:2], (3, "service"))
        self.server.bucket_fails = ""
        self.save(saver, 4)
        self.assertEqual(self.saved[-1][:2], (4, "bucket"))

    def test_a_bucket_that_hangs_delays_no_save_and_no_end(self):
        self.environment["LATTICE_CHECKPOINT_TYPE"] = "s3"
        self.server.bucket_answers.clear()
        saver = self.saver()
        for step in (3, 4):
            saver.save(1, 2, True, {"step": step, "epoch": 0, "offset": 8}, ["x", 0], [blob(b"abc" * 100)])
            deadline = time.monotonic() + 10
            while saver.busy and time.monotonic() < deadline:
                time.sleep(0.01)
            self.assertEqual(self.saved[-1][:2], (step, "service"))
        self.assertEqual([(step, tier) for step, tier, _ in self.unsaved], [(3, "bucket")])
        self.assertFalse(saver.wait(0.1))
        self.assertEqual(self.unsaved[-1][:2], (4, "bucket"))
        began = time.monotonic()
        self.assertTrue(saver.wait(20))
        self.assertLess(time.monotonic() - began, 5)
        self.server.bucket_answers.set()
        self.save(saver, 5)
        self.assertEqual(self.saved[-1][:2], (5, "bucket"))

    def test_a_damaged_file_is_passed_over(self):
        saver = self.saver()
        self.save(saver, 3)
        pathlib.Path(self.environment["LATTICE_STATE_DIR"], "state").write_bytes(b"short")
        self.assertEqual(_saver.newest_of(saver.tiers)[0], 3)

    def test_settings_are_read_as_the_original_wrote_them(self):
        self.assertEqual(_service.settings("job_id=a, ckpt_service_port=5555,"), {"job_id": "a", "ckpt_service_port": "5555"})


if __name__ == "__main__":
    unittest.main()
