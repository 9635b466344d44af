#include "apiserver/store/store.h"

#include "apiserver/store/testing/store_world.h"
#include "base/async/sleep.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace codeflare::apiserver {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

std::string code_of(const auto& result) {
  return result ? "ok" : std::string(to_string(result.error().code));
}

TEST(Store, starts_at_revision_one_and_counts_every_write) {
  StoreWorld world;
  EXPECT_EQ(world.store().revision(), 1u);
  ObjectPtr a = world.create("pods", "ns/a");
  EXPECT_EQ(a->revision(), 2u);
  EXPECT_EQ(a->created(), 2u);
  ObjectPtr b = world.create("jobs.batch", "ns/b");
  EXPECT_EQ(b->revision(), 3u);
  ObjectPtr a2 = world.commit(world.update(a, "new")).value();
  EXPECT_EQ(a2->revision(), 4u);
  EXPECT_EQ(a2->created(), 2u);
  EXPECT_TRUE(a2->json().contains("\"resourceVersion\":\"4\""));
  ObjectPtr gone = world.commit(world.removal(a2)).value();
  EXPECT_EQ(gone->revision(), 5u);
  EXPECT_TRUE(gone->json().contains("\"data\":\"new\""));
  EXPECT_EQ(world.store().revision(), 5u);
  EXPECT_EQ(world.store().get(world.id("pods"), "ns", "a"), nullptr);
}

TEST(Store, gives_one_id_per_name) {
  StoreWorld world;
  CollectionId pods = world.store().collection("pods");
  EXPECT_NE(pods, 0u);
  EXPECT_EQ(world.store().collection("pods"), pods);
  EXPECT_NE(world.store().collection("nodes"), pods);
  EXPECT_EQ(world.store().name_of(pods), "pods");
  EXPECT_EQ(world.store().collections().size(), 2u);
}

TEST(Store, lists_in_order_of_namespace_and_name) {
  StoreWorld world;
  for (const char* name : {"b/x", "a/z", "a/y", "ab/a", "b/a"}) {
    world.create("pods", name);
  }
  EXPECT_EQ(world.list("pods"), "a/y@4 a/z@3 ab/a@5 b/a@6 b/x@2");
  EXPECT_EQ(world.list("pods", {.ns = "a"}), "a/y@4 a/z@3");
  EXPECT_EQ(world.list("pods", {.ns = "ab"}), "ab/a@5");
  EXPECT_EQ(world.list("pods", {.ns = "none"}), "");
  EXPECT_EQ(world.list("pods", {.after = {{"a", "z"}}}), "ab/a@5 b/a@6 b/x@2");
  EXPECT_EQ(world.list("pods", {.ns = "a", .after = {{"a", "y"}}}), "a/z@3");
  EXPECT_EQ(world.list("pods", {.ns = "b", .after = {{"a", "y"}}}), "b/a@6 b/x@2");
  EXPECT_EQ(world.store().size(world.id("pods")), 5u);
}

TEST(Store, a_visitor_ends_the_list_early) {
  StoreWorld world;
  for (const char* name : {"a", "b", "c"}) {
    world.create("nodes", name);
  }
  int seen = 0;
  auto visitor = [&](const ObjectPtr&) { return ++seen < 2; };
  EXPECT_EQ(world.store().visit(world.id("nodes"), {}, visitor), Revision{4});
  EXPECT_EQ(seen, 2);
  EXPECT_EQ(world.store().visit(world.id("nodes"), {.at = 3}, visitor), Revision{3});
  EXPECT_EQ(seen, 3);
}

TEST(Store, finds_objects_by_uid) {
  StoreWorld world;
  ObjectPtr a = world.create("pods", "ns/a");
  world.create("pods", "ns/b");
  EXPECT_EQ(world.store().find_uid("uid-a"), a);
  ObjectPtr newer = world.commit(world.update(a, "2")).value();
  EXPECT_EQ(world.store().find_uid("uid-a"), newer);
  ASSERT_TRUE(world.commit(world.removal(newer)));
  EXPECT_EQ(world.store().find_uid("uid-a"), nullptr);
  EXPECT_EQ(world.store().find_uid("uid-b")->name(), "b");
  EXPECT_EQ(world.store().find_uid(""), nullptr);
}

TEST(Store, lists_older_states_by_undoing_what_came_since) {
  StoreWorld world;
  ObjectPtr a = world.create("pods", "n/a");                  // 2
  ObjectPtr b = world.create("pods", "n/b");                  // 3
  ObjectPtr a4 = world.commit(world.update(a, "2")).value();  // 4
  ASSERT_TRUE(world.commit(world.removal(b)));                // 5
  world.create("pods", "n/c");                                // 6
  ASSERT_TRUE(world.commit(world.update(a4, "3")));           // 7
  world.create("pods", "n/b");                                // 8
  EXPECT_EQ(world.list("pods", {.at = 1}), "");
  EXPECT_EQ(world.list("pods", {.at = 2}), "n/a@2");
  EXPECT_EQ(world.list("pods", {.at = 3}), "n/a@2 n/b@3");
  EXPECT_EQ(world.list("pods", {.at = 4}), "n/a@4 n/b@3");
  EXPECT_EQ(world.list("pods", {.at = 5}), "n/a@4");
  EXPECT_EQ(world.list("pods", {.at = 6}), "n/a@4 n/c@6");
  EXPECT_EQ(world.list("pods", {.at = 7}), "n/a@7 n/c@6");
  EXPECT_EQ(world.list("pods", {.at = 8}), "n/a@7 n/b@8 n/c@6");
  EXPECT_EQ(world.list("pods", {.ns = "n", .after = {{"n", "a"}}, .at = 3}), "n/b@3");
  EXPECT_EQ(world.list("pods", {.ns = "m", .at = 3}), "");
  EXPECT_TRUE(world.list("pods", {.at = 9}).starts_with("failed_precondition"));
}

TEST(Store, a_write_that_lost_names_the_reason) {
  StoreWorld world;
  ObjectPtr a = world.create("pods", "n/a");
  EXPECT_EQ(code_of(world.commit(world.creation("pods", "n/a"))), "already_exists");
  ASSERT_TRUE(world.commit(world.update(a, "2")));
  auto lost = world.commit(world.update(a, "3"));
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().to_string(), "conflict: pods \"n/a\" is at revision 3, not at 2");
  EXPECT_EQ(code_of(world.commit(world.removal(a))), "conflict");
  Write missing = world.update(a, "2");
  missing.name = "other";
  missing.text = object_text("n/other");
  EXPECT_EQ(code_of(world.commit(missing)), "not_found");
  EXPECT_EQ(world.store().revision(), 3u);
}

TEST(Store, refuses_text_of_another_object) {
  StoreWorld world;
  Write write = world.creation("pods", "n/a");
  write.text = object_text("n/b");
  EXPECT_EQ(code_of(world.commit(write)), "invalid_argument");
  write.text = "{}";
  EXPECT_EQ(code_of(world.commit(write)), "invalid_argument");
  EXPECT_EQ(world.create("pods", "n/a")->revision(), 2u);
}

TEST(Store, shows_nothing_before_it_is_durable) {
  StoreWorld world;
  world.blocking.hold();
  auto write = world.begin(world.store().commit(world.creation("pods", "a")));
  EXPECT_EQ(world.blocking.waiting(), 1u);
  EXPECT_EQ(world.store().get(world.id("pods"), "", "a"), nullptr);
  EXPECT_EQ(world.store().revision(), 1u);
  EXPECT_FALSE(write->has_value());
  world.blocking.release();
  world.settle_loop();
  ASSERT_TRUE(write->has_value());
  EXPECT_EQ((**write).value(), world.store().get(world.id("pods"), "", "a"));
  EXPECT_EQ(world.disk->revision(), 2u);
}

TEST(Store, whatever_queued_up_during_a_commit_is_the_next_batch) {
  StoreWorld world;
  world.blocking.hold();
  auto first = world.begin(world.store().commit(world.creation("pods", "first")));
  std::vector<std::shared_ptr<std::optional<Result<ObjectPtr>>>> rest;
  for (int i = 0; i < 20; ++i) {
    rest.push_back(
        world.begin(world.store().commit(world.creation("pods", "p" + std::to_string(i)))));
  }
  EXPECT_EQ(world.disk->appends(), 0u);
  world.blocking.release();
  world.settle_loop();
  EXPECT_EQ(world.disk->appends(), 2u);
  for (const auto& write : rest) {
    EXPECT_TRUE(write->has_value() && **write);
  }
}

TEST(Store, a_loser_against_a_pending_write_waits_until_it_can_read_the_winner) {
  StoreWorld world;
  ObjectPtr a = world.create("pods", "a");
  world.blocking.hold();
  auto winner = world.begin(world.store().commit(world.update(a, "winner")));
  auto loser = world.begin(world.store().commit(world.update(a, "loser")));
  auto remover = world.begin(world.store().commit(world.removal(a)));
  EXPECT_FALSE(loser->has_value());
  EXPECT_FALSE(remover->has_value());
  world.blocking.release();
  world.settle_loop();
  EXPECT_EQ(code_of(**winner), "ok");
  EXPECT_EQ(code_of(**loser), "conflict");
  EXPECT_EQ(code_of(**remover), "conflict");
  EXPECT_EQ(world.store().get(world.id("pods"), "", "a")->revision(), 3u);
}

TEST(Store, the_second_creation_waits_for_the_first) {
  StoreWorld world;
  world.blocking.hold();
  auto winner = world.begin(world.store().commit(world.creation("pods", "a")));
  auto loser = world.begin(world.store().commit(world.creation("pods", "a")));
  EXPECT_FALSE(loser->has_value());
  world.blocking.release();
  world.settle_loop();
  EXPECT_EQ(code_of(**winner), "ok");
  EXPECT_EQ(code_of(**loser), "already_exists");
}

TEST(Store, a_loser_takes_its_chance_when_the_winner_fails) {
  StoreWorld world;
  world.blocking.hold();
  auto winner = world.begin(world.store().commit(world.creation("pods", "a", "winner")));
  auto loser = world.begin(world.store().commit(world.creation("pods", "a", "loser")));
  world.disk->fail_appends({.error = resource_exhausted("disk full")});
  world.blocking.release();
  world.settle_loop();
  EXPECT_EQ(code_of(**winner), "unavailable");
  ASSERT_EQ(code_of(**loser), "ok");
  EXPECT_EQ((**loser).value()->revision(), 3u);
}

TEST(Store, an_object_can_be_made_again_while_its_removal_is_pending) {
  StoreWorld world;
  ObjectPtr a = world.create("pods", "a");
  world.blocking.hold();
  auto removal = world.begin(world.store().commit(world.removal(a)));
  auto creation = world.begin(world.store().commit(world.creation("pods", "a", "new")));
  world.blocking.release();
  world.settle_loop();
  EXPECT_EQ(code_of(**removal), "ok");
  ASSERT_EQ(code_of(**creation), "ok");
  EXPECT_EQ((**creation).value()->created(), 4u);
  EXPECT_EQ(world.list("pods"), "a@4");
}

TEST(Store, a_transaction_is_all_or_nothing) {
  StoreWorld world;
  ObjectPtr a = world.create("pods", "a");
  std::vector<Write> writes{world.creation("pods", "b"), world.update(a, "2"),
                            world.creation("jobs", "c")};
  auto done = world.wait(world.store().commit(writes));
  ASSERT_TRUE(done);
  ASSERT_EQ(done->size(), 3u);
  EXPECT_EQ((*done)[0]->revision(), 3u);
  EXPECT_EQ((*done)[2]->revision(), 5u);
  EXPECT_EQ(world.store().revision(), 5u);

  writes = {world.creation("pods", "d"), world.update(a, "stale")};
  EXPECT_EQ(code_of(world.wait(world.store().commit(writes))), "conflict");
  EXPECT_EQ(world.list("pods"), "a@4 b@3");
  writes = {world.creation("pods", "e"), world.creation("pods", "e")};
  EXPECT_EQ(code_of(world.wait(world.store().commit(writes))), "invalid_argument");
  EXPECT_TRUE(world.wait(world.store().commit(std::vector<Write>())).value().empty());
  EXPECT_EQ(world.store().revision(), 5u);
}

TEST(Store, hooks_hear_of_every_event_in_order_before_the_writer) {
  StoreWorld world;
  std::vector<std::string> heard;
  std::shared_ptr<std::optional<Result<std::vector<ObjectPtr>>>> write;
  world.store().on_commit([&](CollectionId collection, const Event& event) {
    EXPECT_FALSE(write->has_value());
    EXPECT_EQ(world.store().revision(), 4u);  // its whole transaction is visible
    heard.push_back(std::string(world.store().name_of(collection)) + " " +
                    std::string(event.object->name()) + "@" + std::to_string(event.revision) +
                    (event.before ? " before " + std::to_string(event.before->revision()) : ""));
  });
  std::vector<Write> writes{world.creation("pods", "a"), world.creation("jobs", "b"),
                            world.creation("pods", "c")};
  world.blocking.hold();
  write = world.begin(world.store().commit(writes));
  world.blocking.release();
  world.settle_loop();
  EXPECT_EQ(heard, (std::vector<std::string>{"pods a@2", "jobs b@3", "pods c@4"}));
  EXPECT_TRUE(write->has_value());
}

TEST(Store, a_failed_commit_fails_what_is_sequenced_behind_it_and_its_revisions_are_not_reused) {
  StoreWorld world;
  ObjectPtr a = world.create("pods", "a");  // 2
  world.blocking.hold();
  auto removal = world.begin(world.store().commit(world.removal(a)));               // 3
  auto on_it = world.begin(world.store().commit(world.creation("pods", "a")));      // 4
  auto unrelated = world.begin(world.store().commit(world.creation("pods", "b")));  // 5
  world.disk->fail_appends({.error = resource_exhausted("disk full")});
  world.blocking.release();
  world.settle_loop();
  for (const auto& write : {removal, on_it, unrelated}) {
    ASSERT_TRUE(write->has_value());
    EXPECT_EQ(code_of(**write), "unavailable");
    EXPECT_TRUE((**write).error().retry_after.has_value());
  }
  EXPECT_EQ(world.list("pods"), "a@2");
  EXPECT_EQ(world.store().revision(), 2u);
  EXPECT_EQ(world.create("pods", "c")->revision(), 6u);
}

TEST(Store, a_full_disk_refuses_writes_and_heals_by_itself) {
  StoreWorld world;
  world.disk->fail_appends({.error = resource_exhausted("disk full"), .count = 2});
  EXPECT_EQ(code_of(world.commit(world.creation("pods", "a"))), "unavailable");
  ASSERT_TRUE(world.store().degraded().has_value());
  EXPECT_TRUE(world.store().degraded()->message.contains("disk full"));
  EXPECT_EQ(code_of(world.commit(world.creation("pods", "a"))), "unavailable");
  EXPECT_EQ(code_of(world.commit(world.creation("pods", "a"))), "ok");
  EXPECT_FALSE(world.store().degraded().has_value());
  EXPECT_EQ(world.disk->rebuilds(), 0u);
}

TEST(Store, a_full_disk_is_found_to_have_room_again_when_nobody_writes) {
  StoreWorld world;
  world.create("pods", "a");
  world.disk->fail_appends({.error = resource_exhausted("disk full"), .count = 3});
  EXPECT_EQ(code_of(world.commit(world.creation("pods", "b"))), "unavailable");
  world.wait(sleep_for(seconds(7))).value();
  EXPECT_TRUE(world.store().degraded().has_value()) << "still full";
  world.wait(sleep_for(seconds(20))).value();
  EXPECT_FALSE(world.store().degraded().has_value());
  EXPECT_EQ(world.disk->rebuilds(), 0u);
  EXPECT_EQ(world.list("pods"), "a@2");
  EXPECT_EQ(world.create("pods", "b")->revision(), 4u) << "3 failed and is not used again";
}

TEST(Store, looking_for_room_may_find_a_broken_disk) {
  StoreWorld world;
  world.disk->fail_appends({.error = resource_exhausted("disk full")});
  EXPECT_EQ(code_of(world.commit(world.creation("pods", "a"))), "unavailable");
  world.disk->fail_appends({.error = internal_error("sync failed")});
  world.wait(sleep_for(seconds(30))).value();
  EXPECT_FALSE(world.store().degraded().has_value());
  EXPECT_EQ(world.disk->rebuilds(), 1u);
  EXPECT_EQ(world.create("pods", "a")->revision(), 3u);
}

TEST(Store, a_failed_sync_makes_it_read_only_until_the_log_is_rebuilt) {
  StoreWorld world;
  world.create("pods", "a");
  world.disk->fail_appends({.error = internal_error("sync failed"), .written = true});
  world.disk->fail_rebuilds({.error = internal_error("still broken"), .count = 3});
  EXPECT_EQ(code_of(world.commit(world.creation("pods", "b"))), "unavailable");
  EXPECT_TRUE(world.store().degraded().has_value());
  auto refused = world.commit(world.creation("pods", "c"));
  EXPECT_EQ(code_of(refused), "unavailable");
  EXPECT_EQ(world.list("pods"), "a@2");
  world.wait(sleep_for(minutes(1))).value();
  EXPECT_FALSE(world.store().degraded().has_value());
  EXPECT_EQ(world.disk->rebuilds(), 4u);
  // The rest of the failed commit is gone from the disk; its revision stays used.
  EXPECT_EQ(world.disk->size(), 1u);
  EXPECT_EQ(world.disk->revision(), 3u);
  EXPECT_EQ(world.create("pods", "b")->revision(), 4u);
  EXPECT_TRUE(world.log.has("read-only until it is rebuilt"));
}

TEST(Store, closes_while_a_rebuild_keeps_failing) {
  StoreWorld world;
  world.disk->fail_appends({.error = internal_error("sync failed")});
  world.disk->fail_rebuilds({.error = internal_error("still broken"), .count = 1'000'000});
  EXPECT_EQ(code_of(world.commit(world.creation("pods", "b"))), "unavailable");
  world.wait(sleep_for(seconds(30))).value();
  world.wait(world.store().close());
  EXPECT_EQ(code_of(world.commit(world.creation("pods", "b"))), "unavailable");
}

TEST(Store, everything_acknowledged_is_there_after_a_crash_with_history_started_anew) {
  StoreWorld world;
  ObjectPtr a = world.create("pods", "n/a");
  world.create("nodes", "b");
  ASSERT_TRUE(world.commit(world.update(a, "2")));
  ObjectPtr c = world.create("nodes", "c");
  ASSERT_TRUE(world.commit(world.removal(c)));
  world.crash_and_reopen();
  EXPECT_EQ(world.store().revision(), 6u);
  EXPECT_EQ(world.list("pods"), "n/a@4");
  EXPECT_EQ(world.list("nodes"), "b@3");
  EXPECT_EQ(world.store().get(world.id("pods"), "n", "a")->created(), 2u);
  EXPECT_EQ(world.store().find_uid("uid-b")->name(), "b");
  EXPECT_TRUE(world.list("pods", {.at = 5}).starts_with("expired"));
  EXPECT_EQ(code_of(world.store().watch(world.id("pods"), 5)), "expired");
  EXPECT_EQ(code_of(world.store().watch(world.id("pods"), 6)), "ok");
  EXPECT_EQ(world.create("nodes", "c")->revision(), 7u);
}

TEST(Store, a_crash_in_a_commit_fails_it_or_keeps_it_whole) {
  for (bool written : {false, true}) {
    StoreWorld world;
    world.disk->fail_appends({.error = internal_error("power cut"), .written = written});
    world.blocking.hold();
    auto write = world.begin(world.store().commit(
        std::vector<Write>{world.creation("pods", "a"), world.creation("pods", "b")}));
    world.blocking.release_one();
    world.settle_loop();
    world.crash_and_reopen();
    EXPECT_EQ(code_of(**write), "unavailable");
    EXPECT_EQ(world.list("pods"), written ? "a@2 b@3" : "");
  }
}

TEST(Store, refuses_a_log_that_contradicts_itself) {
  StoreWorld world;
  auto disk = std::make_shared<MemoryDisk>();
  std::string text = R"({"metadata":{"name":"a","resourceVersion":"5"}})";
  auto log = open_memory_log(disk);
  LogRecord record{.collection = "pods", .created = 4, .revision = 5, .text = Bytes::from(text)};
  auto open = [&] {
    return code_of(world.wait(Store::open(world.env(), open_memory_log(disk), {},
                                          world.log.logger(world.env().clock), world.metrics)));
  };
  ASSERT_TRUE(log->append(std::span(&record, 1), 5));
  EXPECT_EQ(open(), "ok");
  ASSERT_TRUE(log->append({}, 4));
  EXPECT_EQ(open(), "data_loss");  // an object newer than the end
  record.revision = 6;
  ASSERT_TRUE(log->append(std::span(&record, 1), 9));
  EXPECT_EQ(open(), "data_loss");  // the text says 5
  record.revision = 5;
  ASSERT_TRUE(log->append(std::span(&record, 1), 9));
  record.created = 3;
  ASSERT_TRUE(log->append(std::span(&record, 1), 9));
  EXPECT_EQ(open(), "data_loss");  // twice the same name
}

TEST(Store, refuses_more_than_it_can_queue) {
  StoreWorld world({.queued_writes_max = 2});
  world.blocking.hold();
  auto flying = world.begin(world.store().commit(world.creation("pods", "a")));
  auto b = world.begin(world.store().commit(world.creation("pods", "b")));
  auto c = world.begin(world.store().commit(world.creation("pods", "c")));
  auto d = world.begin(world.store().commit(world.creation("pods", "d")));
  ASSERT_TRUE(d->has_value());
  EXPECT_EQ(code_of(**d), "resource_exhausted");
  world.blocking.release();
  world.settle_loop();
  EXPECT_EQ(code_of(**c), "ok");
  std::vector<Write> many;
  for (int i = 0; i < 5; ++i) {
    many.push_back(world.creation("jobs", "j" + std::to_string(i)));
  }
  EXPECT_EQ(code_of(world.wait(world.store().commit(std::move(many)))), "ok");
}

TEST(Store, waits_for_a_revision_until_the_limit) {
  StoreWorld world;
  EXPECT_EQ(code_of(world.wait(world.store().wait_for(1, seconds(0)))), "ok");
  EXPECT_EQ(code_of(world.wait(world.store().wait_for(2, seconds(3)))), "deadline_exceeded");
  auto waits = world.begin(world.store().wait_for(3, minutes(1)));
  world.create("pods", "a");
  EXPECT_FALSE(waits->has_value());
  world.create("pods", "b");
  world.settle_loop();
  EXPECT_EQ(code_of(**waits), "ok");
  auto closes = world.begin(world.store().wait_for(9, minutes(1)));
  world.close();
  EXPECT_EQ(code_of(**closes), "unavailable");
}

Task<bool> settled(Store& store) {
  co_await store.settle();
  co_return true;
}

TEST(Store, settle_waits_for_what_was_sequenced_before_it) {
  StoreWorld world;
  EXPECT_TRUE(world.wait(settled(world.store())));
  world.blocking.hold();
  auto write = world.begin(world.store().commit(world.creation("pods", "a")));
  auto waits = world.begin(settled(world.store()));
  EXPECT_FALSE(waits->has_value());
  world.blocking.release_one();
  world.settle_loop();
  EXPECT_TRUE(waits->has_value());
}

TEST(Store, close_finishes_what_is_sequenced_and_refuses_the_rest) {
  StoreWorld world;
  world.blocking.hold();
  auto write = world.begin(world.store().commit(world.creation("pods", "a")));
  world.close();
  EXPECT_EQ(code_of(**write), "ok");
  EXPECT_EQ(code_of(world.commit(world.creation("pods", "b"))), "unavailable");
  EXPECT_EQ(code_of(world.store().watch(world.id("pods"), 2)), "unavailable");
  EXPECT_EQ(world.list("pods"), "a@2");
}

TEST(Store, a_stop_does_not_interrupt_a_commit) {
  StoreWorld world;
  world.blocking.hold();
  auto write = world.begin(world.store().commit(world.creation("pods", "a")));
  world.tasks.request_stop();
  world.settle_loop();
  EXPECT_FALSE(write->has_value());
  world.blocking.release();
  world.settle_loop();
  EXPECT_EQ(code_of(**write), "ok");
}

TEST(Store, tells_prometheus_how_it_is) {
  StoreWorld world;
  ObjectPtr a = world.create("pods", "a");
  world.create("pods", "b");
  ASSERT_TRUE(world.commit(world.removal(a)));
  std::string text = world.metrics.expose();
  EXPECT_TRUE(text.contains("apiserver_storage_objects{resource=\"pods\"} 1\n"));
  EXPECT_TRUE(text.contains("apiserver_storage_revision 4\n"));
  EXPECT_TRUE(text.contains("apiserver_storage_commit_duration_seconds_count 3\n"));
  EXPECT_TRUE(text.contains("apiserver_storage_wal_bytes 0\n"));
}

}  // namespace
}  // namespace codeflare::apiserver
