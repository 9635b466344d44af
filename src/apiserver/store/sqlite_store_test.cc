#include "apiserver/store/testing/log_content.h"
#include "apiserver/store/testing/power_cut_disk.h"
#include "apiserver/store/testing/real_directory.h"
#include "apiserver/store/testing/store_world.h"
#include "base/async/sleep.h"

#include <gtest/gtest.h>

#include <string>

// The claims of sqlite_log_test.cc, through the store.
namespace codeflare::apiserver {
namespace {

StoreWorld::LogFactory factory(PowerCutDisk& disk) {
  return [&disk] {
    return open_log(disk, {.directory = "/data", .backlog_bytes_max = 64 << 10, .vfs = disk.vfs()});
  };
}

TEST(SqliteStore, is_read_only_after_a_failed_sync_until_it_is_rebuilt) {
  PowerCutDisk disk(1);
  StoreWorld world(factory(disk), {});
  world.create("pods", "a");
  disk.fail_syncs(3);
  auto failed = world.commit(world.creation("pods", "b"));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::unavailable);
  EXPECT_TRUE(world.store().degraded().has_value());
  EXPECT_EQ(world.list("pods"), "a@2");
  world.wait(sleep_for(std::chrono::seconds(10))).value();
  EXPECT_FALSE(world.store().degraded().has_value());
  EXPECT_EQ(world.create("pods", "b")->revision(), 4u);
  world.close();
  disk.restart();
  StoreWorld next(factory(disk), {});
  EXPECT_EQ(next.list("pods"), "a@2 b@4");
  EXPECT_EQ(next.store().revision(), 4u);
}

TEST(SqliteStore, attempts_to_rebuild_that_fail_leave_nothing_behind) {
  PowerCutDisk disk(1);
  StoreWorld world(factory(disk), {});
  world.create("pods", "a");
  disk.fail_syncs(1'000'000);
  ASSERT_FALSE(world.commit(world.creation("pods", "b")));
  world.wait(sleep_for(std::chrono::minutes(2))).value();
  ASSERT_TRUE(world.store().degraded().has_value());
  for (const std::string& name : store_files(disk, "/data")) {
    EXPECT_FALSE(name.contains(".unfinished")) << name;
  }
  disk.fail_syncs(0);
  world.wait(sleep_for(std::chrono::minutes(1))).value();
  EXPECT_FALSE(world.store().degraded().has_value());
  EXPECT_EQ(world.list("pods"), "a@2");
}

TEST(SqliteStore, takes_writes_again_when_the_disk_has_room) {
  PowerCutDisk disk(1);
  StoreWorld world(factory(disk), {});
  ObjectPtr a = world.create("pods", "a");
  disk.set_full(true);
  std::string large(100'000, 'x');
  for (int i = 0; i < 3; ++i) {
    auto refused = world.commit(world.update(a, large));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
    EXPECT_TRUE(refused.error().retry_after.has_value());
    EXPECT_EQ(world.list("pods"), "a@2");
  }
  disk.set_full(false);
  world.wait(sleep_for(std::chrono::seconds(30))).value();
  EXPECT_TRUE(world.commit(world.update(a, large)).has_value());
  EXPECT_FALSE(world.store().degraded().has_value());
}

TEST(SqliteStore, runs_on_the_real_loop_and_files) {
  RealDirectory directory;
  MetricsRegistry metrics;
  Loop& loop = directory.env().loop;
  auto open = [&] {
    auto log = open_log(directory.files(), {.directory = directory.path("data")});
    return run(loop, Store::open(directory.env(), std::move(log), {}, Logger(), metrics))
        .value()
        .value();
  };
  {
    std::unique_ptr<Store> store = open();
    CollectionId pods = store->collection("pods");
    for (int i = 0; i < 20; ++i) {
      std::string name = "p" + std::to_string(i);
      Write write{.collection = pods, .name = name, .text = object_text(name)};
      ASSERT_TRUE(run(loop, store->commit(std::move(write))).value());
    }
    const std::string text = metrics.expose();
    EXPECT_TRUE(text.contains("apiserver_storage_wal_bytes "));
    EXPECT_FALSE(text.contains("apiserver_storage_wal_bytes 0\n")) << "nothing was folded in yet";
    ASSERT_TRUE(run(loop, store->close()));
  }
  std::unique_ptr<Store> store = open();
  EXPECT_EQ(store->size(store->collection("pods")), 20u);
  EXPECT_EQ(store->revision(), 21u);
  ASSERT_TRUE(run(loop, store->close()));
}

}  // namespace
}  // namespace codeflare::apiserver
