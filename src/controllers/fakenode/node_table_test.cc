#include "controllers/fakenode/node_table.h"

#include <gtest/gtest.h>

namespace codeflare::controllers::fakenode {
namespace {

using std::chrono::seconds;

const WallTime kThen{seconds(1'700'000'000)};

NodeFacts tainted() {
  return {.evicting = {{.key = "k", .value = "v", .effect = "NoExecute", .time_added = kThen}}};
}

model::PodSpec bearing(model::Toleration toleration) {
  model::PodSpec spec;
  spec.tolerations.push_back(std::move(toleration));
  return spec;
}

TEST(EvictionTime, is_at_once_for_a_pod_that_bears_nothing) {
  EXPECT_EQ(eviction_time(tainted(), {}), kThen);
  EXPECT_EQ(eviction_time({}, {}), std::nullopt);
}

TEST(EvictionTime, waits_as_long_as_the_pod_bears_it) {
  EXPECT_EQ(eviction_time(tainted(), bearing({.key = "k", .value = "v"})), std::nullopt);
  EXPECT_EQ(eviction_time(tainted(), bearing({.op = "Exists"})), std::nullopt);
  EXPECT_EQ(
      eviction_time(tainted(), bearing({.key = "k", .op = "Exists", .toleration_seconds = 300})),
      kThen + seconds(300));
  EXPECT_EQ(eviction_time(tainted(), bearing({.key = "k", .value = "w"})), kThen);
  EXPECT_EQ(eviction_time(tainted(), bearing({.key = "k", .op = "Exists", .effect = "NoSchedule"})),
            kThen);
  model::PodSpec two = bearing({.key = "k", .op = "Exists"});
  two.tolerations.push_back({.op = "Exists", .toleration_seconds = 20});
  EXPECT_EQ(eviction_time(tainted(), two), kThen + seconds(20));
}

}  // namespace
}  // namespace codeflare::controllers::fakenode
