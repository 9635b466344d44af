#include "tests/sim/sim_queue_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

namespace codeflare::sim {
namespace {

constexpr std::uint64_t kSeeds = 12;

// Whether one of a few seeds complains in one of these words.
bool is_noticed(QueueBug bug, std::initializer_list<std::string_view> words) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Outcome outcome = run_queue({.seed = seed}, bug);
    for (const std::string& violation : outcome.violations) {
      if (std::ranges::any_of(words,
                              [&](std::string_view one) { return violation.contains(one); })) {
        return true;
      }
    }
  }
  return false;
}

TEST(SimQueue, work_that_starts_without_a_durable_plan_is_noticed) {
  EXPECT_TRUE(is_noticed(QueueBug::intent_not_kept, {"has no plan to run"}));
}

TEST(SimQueue, a_second_dispatch_is_noticed) {
  EXPECT_TRUE(is_noticed(QueueBug::item_made_twice, {"is more than"}));
}

TEST(SimQueue, a_gang_that_is_bound_in_part_is_noticed) {
  EXPECT_TRUE(is_noticed(QueueBug::binding_not_sent, {"is bound in part"}));
}

TEST(SimQueue, an_admission_over_quota_is_noticed) {
  EXPECT_TRUE(is_noticed(QueueBug::quota_misread, {"is admitted over quota"}));
}

TEST(SimQueue, a_node_with_more_than_fits_is_noticed) {
  EXPECT_TRUE(is_noticed(QueueBug::node_misread, {"has more than fits"}));
}

TEST(SimQueue, places_that_are_kept_for_pods_that_are_gone_are_noticed) {
  EXPECT_TRUE(is_noticed(QueueBug::deletion_not_heard,
                         {"is still being deleted", "still has to give its places back",
                          "although its node has room", "could run", "could be bound"}));
}

TEST(SimQueue, objects_that_are_left_behind_are_noticed) {
  EXPECT_TRUE(is_noticed(QueueBug::item_not_seen, {"is still there", "is left over"}));
}

TEST(SimQueue, work_that_waits_and_could_run_is_noticed) {
  EXPECT_TRUE(is_noticed(QueueBug::node_not_heard, {"waits and could run", "could be bound"}));
}

}  // namespace
}  // namespace codeflare::sim
