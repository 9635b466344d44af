#include "elastic/testing/store_claims.h"

#include "base/async/sleep.h"
#include "base/async/when.h"

#include <chrono>
#include <string>
#include <vector>

namespace codeflare::elastic::testing {

namespace {

const std::string kFirst = R"({"generation":1,"members":[]})";
const std::string kSecond = R"({"generation":2,"members":[]})";

Task<Result<StoreEntry>> next_value(StoreWatch* watch) {
  co_return co_await with_timeout(std::chrono::seconds(60), "the watch", watch->next());
}

Task<Result<void>> put_for(Store* store, StoreKey key, std::string value, Duration ttl, int times) {
  for (int i = 0; i < times; ++i) {
    CO_TRY(co_await store->put(key, value, ttl));
    CO_TRY(co_await sleep_for(ttl / 2));
  }
  co_return Result<void>();
}

Task<Result<void>> swap_later(Store* store, StoreKey key, std::string value) {
  CO_TRY(co_await sleep_for(std::chrono::milliseconds(50)));
  CO_TRY_ASSIGN(const StoreEntry now, co_await store->get(key));
  co_return co_await store->swap(key, std::move(value), now.version);
}

}  // namespace

StoreEntry StoreTest::get(Store& store, StoreKey key) {
  Result<StoreEntry> entry = wait(store.get(key));
  EXPECT_TRUE(entry) << entry.error().to_string();
  return entry ? *entry : StoreEntry{};
}

bool StoreTest::swap(Store& store, StoreKey key, const std::string& value,
                     const std::string& version) {
  Result<void> done = wait(store.swap(key, value, version));
  EXPECT_TRUE(done || done.error().code == ErrorCode::conflict) << done.error().to_string();
  return done.has_value();
}

void StoreTest::put(Store& store, StoreKey key, const std::string& value) {
  Result<void> done = wait(store.put(key, value, world_->ttl()));
  EXPECT_TRUE(done) << done.error().to_string();
}

TEST_P(StoreTest, a_key_that_nobody_wrote_has_no_value_and_can_be_swapped) {
  auto store = world_->connect();
  for (StoreKey key : {StoreKey::membership(), StoreKey::round()}) {
    const StoreEntry before = get(*store, key);
    EXPECT_FALSE(before.value);
    EXPECT_TRUE(swap(*store, key, kFirst, before.version));
    EXPECT_EQ(get(*store, key).value, kFirst);
  }
}

TEST_P(StoreTest, a_swap_of_an_old_version_is_a_conflict_and_changes_nothing) {
  auto store = world_->connect();
  auto other = world_->connect();
  const StoreEntry before = get(*store, StoreKey::round());
  EXPECT_TRUE(swap(*store, StoreKey::round(), kFirst, before.version));
  EXPECT_FALSE(swap(*other, StoreKey::round(), kSecond, before.version));
  const StoreEntry now = get(*other, StoreKey::round());
  EXPECT_EQ(now.value, kFirst);
  EXPECT_TRUE(swap(*other, StoreKey::round(), kSecond, now.version));
  EXPECT_EQ(get(*store, StoreKey::round()).value, kSecond);
}

TEST_P(StoreTest, one_of_many_swaps_of_a_version_succeeds) {
  const StoreEntry before = get(*world_->connect(), StoreKey::round());
  std::vector<std::unique_ptr<Store>> stores;
  std::vector<Task<Result<void>>> swaps;
  for (int i = 0; i < 5; ++i) {
    stores.push_back(world_->connect());
    std::string value = R"({"generation":)" + std::to_string(i) + "}";
    swaps.push_back(stores.back()->swap(StoreKey::round(), std::move(value), before.version));
  }
  int succeeded = 0;
  for (const Result<void>& result : wait(when_all(std::move(swaps)))) {
    succeeded += result ? 1 : 0;
  }
  EXPECT_EQ(succeeded, 1);
}

TEST_P(StoreTest, a_watch_begins_with_the_value_and_follows_changes) {
  auto store = world_->connect();
  auto other = world_->connect();
  const StoreEntry before = get(*store, StoreKey::membership());
  auto watch = other->watch(StoreKey::membership());
  EXPECT_FALSE(wait(next_value(watch.get()))->value);
  EXPECT_TRUE(swap(*store, StoreKey::membership(), kFirst, before.version));
  EXPECT_EQ(wait(next_value(watch.get()))->value, kFirst);
  auto both = wait(
      when_both(next_value(watch.get()), swap_later(store.get(), StoreKey::membership(), kSecond)));
  EXPECT_EQ(both.first->value, kSecond);
}

TEST_P(StoreTest, a_watch_survives_a_lost_connection) {
  auto store = world_->connect();
  auto other = world_->connect();
  auto watch = other->watch(StoreKey::round());
  EXPECT_FALSE(wait(next_value(watch.get()))->value);
  world_->break_streams();
  auto both =
      wait(when_both(next_value(watch.get()), swap_later(store.get(), StoreKey::round(), kFirst)));
  ASSERT_TRUE(both.first) << both.first.error().to_string();
  EXPECT_EQ(both.first->value, kFirst);
}

TEST_P(StoreTest, a_member_is_there_as_long_as_it_is_renewed) {
  auto store = world_->connect();
  auto other = world_->connect();
  const StoreKey key = StoreKey::member(1);
  auto watch = other->watch(key);
  EXPECT_FALSE(wait(next_value(watch.get()))->value);
  put(*store, key, kFirst);
  EXPECT_EQ(wait(next_value(watch.get()))->value, kFirst);
  // Renewed for three leases long: nothing is heard of it. Then it runs out.
  auto both =
      wait(when_both(next_value(watch.get()), put_for(store.get(), key, kFirst, world_->ttl(), 6)));
  ASSERT_TRUE(both.second) << both.second.error().to_string();
  ASSERT_TRUE(both.first) << both.first.error().to_string();
  EXPECT_FALSE(both.first->value);
  EXPECT_FALSE(get(*store, key).value);
  put(*store, key, kSecond);
  EXPECT_EQ(wait(next_value(watch.get()))->value, kSecond);
}

TEST_P(StoreTest, members_are_apart) {
  auto store = world_->connect();
  auto other = world_->connect();
  put(*store, StoreKey::member(0), kFirst);
  put(*other, StoreKey::member(1), kSecond);
  EXPECT_EQ(get(*store, StoreKey::member(1)).value, kSecond);
  EXPECT_EQ(get(*store, StoreKey::member(0)).value, kFirst);
}

}  // namespace codeflare::elastic::testing
