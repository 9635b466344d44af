#include "tests/queue/fake_cluster.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::queue {
namespace {

constexpr int kSeeds = 20;
constexpr int kRounds = 12;
constexpr int kEventsPerRound = 60;

void live(std::uint64_t seed, FakeCluster::Habits habits) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  FakeCluster cluster(seed, habits);
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    for (int i = 0; i < kEventsPerRound; ++i) {
      cluster.happen();
      if (::testing::Test::HasFailure()) {
        return;
      }
    }
    cluster.come_to_rest();
    if (::testing::Test::HasFailure()) {
      return;
    }
    cluster.check_rest(round % 2 == 0);
    if (::testing::Test::HasFailure()) {
      return;
    }
  }
}

TEST(QueueProperty, under_another_scheduler_nothing_is_lost_or_held_twice) {
  for (int seed = 1000; seed < 1000 + kSeeds; ++seed) {
    live(static_cast<std::uint64_t>(seed), {});
  }
}

TEST(QueueProperty, when_gangs_are_bound_nothing_is_lost_or_held_twice) {
  for (int seed = 100; seed < 100 + kSeeds; ++seed) {
    live(static_cast<std::uint64_t>(seed), {.binds = Binds::gangs});
  }
}

TEST(QueueProperty, when_all_pods_are_bound_nothing_is_lost_or_held_twice) {
  for (int seed = 200; seed < 200 + kSeeds; ++seed) {
    live(static_cast<std::uint64_t>(seed), {.binds = Binds::all});
  }
}

TEST(QueueProperty, with_preemption_nothing_is_lost_or_held_twice) {
  for (int seed = 300; seed < 300 + kSeeds; ++seed) {
    live(static_cast<std::uint64_t>(seed), {.binds = Binds::all, .preemption = true});
  }
}

TEST(QueueProperty, pods_beyond_the_plan_are_counted_once) {
  for (int seed = 400; seed < 400 + kSeeds; ++seed) {
    live(static_cast<std::uint64_t>(seed), {.surges = true});
  }
  for (int seed = 500; seed < 500 + kSeeds; ++seed) {
    live(static_cast<std::uint64_t>(seed), {.binds = Binds::gangs, .surges = true});
  }
}

}  // namespace
}  // namespace codeflare::queue
