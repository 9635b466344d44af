#include "tests/sim/sim_dispatch_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace codeflare::sim {
namespace {

constexpr std::uint64_t kSeeds = 40;

// Whether one of a few seeds complains in these words.
bool is_noticed(DispatchBug bug, std::string_view words) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Outcome outcome = run_dispatch({.seed = seed}, bug);
    if (std::ranges::any_of(outcome.violations, [&](const std::string& violation) {
          return violation.contains(words);
        })) {
      return true;
    }
  }
  return false;
}

TEST(SimDispatch, a_copy_that_counts_as_gone_too_early_is_noticed) {
  EXPECT_TRUE(is_noticed(DispatchBug::gone_too_early, "on two clusters"));
}

TEST(SimDispatch, a_choice_that_a_restart_forgets_is_noticed) {
  EXPECT_TRUE(is_noticed(DispatchBug::choice_forgotten, "on two clusters"));
}

TEST(SimDispatch, redispatch_without_the_fence_is_noticed) {
  EXPECT_TRUE(is_noticed(DispatchBug::no_fence, "on two clusters"));
}

TEST(SimDispatch, a_copy_before_the_intent_is_noticed) {
  EXPECT_TRUE(is_noticed(DispatchBug::copy_too_early, "on two clusters"));
}

TEST(SimDispatch, the_removal_of_a_copy_of_another_hub_is_noticed) {
  EXPECT_TRUE(is_noticed(DispatchBug::foreign_removed, "of another hub is removed"));
}

TEST(SimDispatch, a_hub_that_ignores_its_quota_is_noticed) {
  EXPECT_TRUE(is_noticed(DispatchBug::quota_ignored, "over quota"));
}

}  // namespace
}  // namespace codeflare::sim
