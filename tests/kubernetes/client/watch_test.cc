#include "base/async/when.h"
#include "kube/watcher.h"
#include "tests/kubernetes/client/cluster.h"
#include "tests/kubernetes/client/watched_set.h"

#include <set>

namespace codeflare::kube {
namespace {

class WatchTest : public ClusterTest {
 protected:
  // Reads events until the set is what the server has.
  void catch_up(Watcher& watcher, WatchedSet& set) {
    Result<ObjectList> list = run(client().list_all(kConfigMaps, {.ns = ns_}));
    ASSERT_TRUE(list) << list.error().to_string();
    while (!set.is(*list)) {
      Result<WatcherEvent> event = run(watcher.next());
      ASSERT_TRUE(event) << event.error().to_string();
      set.apply(*event);
      ASSERT_EQ(set.fault(), "");
    }
  }
  // The watch position is then older than all that etcd and the server still know.
  void forget_history() {
    kubernetes({"compact"});
    kubernetes({"restart", "kube-apiserver"});
  }
  void put(const std::string& name, const std::string& value) {
    Result<ObjectRef> put =
        run(client().apply(kConfigMaps, key(name), config_map(name, value), {.force = true}));
    ASSERT_TRUE(put) << put.error().to_string();
  }
};

Task<Result<void>> create_every(Client& client, std::string ns, int first, int step, int end) {
  for (int i = first; i < end; i += step) {
    std::string body = config_map("map-" + std::to_string(i), std::to_string(i));
    CO_TRY(co_await client.create(kConfigMaps, ns, std::move(body)));
  }
  co_return Result<void>();
}

TEST_F(WatchTest, five_thousand_objects_are_listed_in_pages_each_once) {
  constexpr int kObjects = 5000;
  constexpr int kWriters = 16;
  std::vector<Task<Result<void>>> writers;
  for (int i = 0; i < kWriters; ++i) {
    writers.push_back(create_every(client(), ns_, i, kWriters, kObjects));
  }
  const auto written = codeflare::run(env().loop, when_all(std::move(writers)));
  for (const Result<void>& wrote : *written) {
    ASSERT_TRUE(wrote) << wrote.error().to_string();
  }
  ListOptions options{.ns = ns_, .limit = 500};
  std::set<std::string> names;
  int pages = 0;
  std::int64_t left = kObjects;
  do {
    Result<ObjectList> page = run(client().list(kConfigMaps, options));
    ASSERT_TRUE(page) << page.error().to_string();
    EXPECT_EQ(page->items.size(), 500u);
    left -= 500;
    EXPECT_EQ(page->remaining_items.value_or(0), left);
    for (const ObjectRef& object : page->items) {
      EXPECT_TRUE(names.emplace(object->name()).second) << object->name() << " came twice";
    }
    options.continue_token = page->continue_token;
    ++pages;
  } while (!options.continue_token.empty() && pages < 20);
  EXPECT_EQ(pages, 10);
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kObjects));
  Result<ObjectList> all = run(client().list_all(kConfigMaps, {.ns = ns_, .limit = 500}));
  ASSERT_TRUE(all) << all.error().to_string();
  EXPECT_EQ(all->items.size(), static_cast<std::size_t>(kObjects));
}

TEST_F(WatchTest, a_watch_from_before_the_compaction_has_expired) {
  Result<ObjectRef> first = create("a", "0");
  ASSERT_TRUE(first) << first.error().to_string();
  const std::string old_version((*first)->resource_version());
  for (int i = 1; i <= 5; ++i) {
    put("a", std::to_string(i));
  }
  forget_history();
  Result<std::unique_ptr<WatchStream>> stream =
      run(client().watch(kConfigMaps, {.ns = ns_, .resource_version = old_version}));
  if (!stream) {
    EXPECT_EQ(outcome(stream), "expired") << stream.error().to_string();
    return;
  }
  Result<std::optional<WatchEvent>> event = run((*stream)->next());
  EXPECT_EQ(outcome(event), "expired") << (event ? "" : event.error().to_string());
}

// Once with a stream of initial events and once with lists.
class WatchAcrossTest : public WatchTest, public ::testing::WithParamInterface<bool> {};

TEST_P(WatchAcrossTest, the_watcher_starts_over_after_a_compaction_and_ends_with_the_right_set) {
  for (const char* name : {"changed", "kept", "removed"}) {
    ASSERT_TRUE(create(name, "0"));
  }
  CuttableService link(connection_->service());
  Client watching(env(), link);
  Watcher watcher(watching, kConfigMaps, {.ns = ns_, .watch_list = GetParam()});
  WatchedSet set;
  catch_up(watcher, set);
  EXPECT_EQ(set.inits(), 1);

  link.cut();
  ASSERT_TRUE(run(client().remove(kConfigMaps, key("removed"))));
  ASSERT_TRUE(create("added", "0"));
  for (int i = 1; i <= 5; ++i) {
    put("changed", std::to_string(i));
  }
  forget_history();
  catch_up(watcher, set);
  EXPECT_EQ(set.inits(), 2) << "the history was gone, so there was a second list";

  put("kept", "1");
  ASSERT_TRUE(run(client().remove(kConfigMaps, key("added"))));
  catch_up(watcher, set);
  EXPECT_EQ(set.inits(), 2);
}

TEST_P(WatchAcrossTest, a_cut_watch_resumes_where_it_was_and_misses_nothing) {
  ASSERT_TRUE(create("a", "0"));
  CuttableService link(connection_->service());
  Client watching(env(), link);
  Watcher watcher(watching, kConfigMaps, {.ns = ns_, .watch_list = GetParam()});
  WatchedSet set;
  catch_up(watcher, set);
  std::size_t before = set.changes();
  link.cut();
  for (int i = 1; i <= 20; ++i) {
    put("a", std::to_string(i));
  }
  catch_up(watcher, set);
  EXPECT_EQ(set.changes() - before, 20u) << "every change, once";
  EXPECT_EQ(set.inits(), 1);
}

INSTANTIATE_TEST_SUITE_P(Both, WatchAcrossTest, ::testing::Bool(), [](const auto& parameter) {
  return parameter.param ? "with_initial_events" : "with_lists";
});

}  // namespace
}  // namespace codeflare::kube
