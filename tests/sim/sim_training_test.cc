#include "tests/sim/sim_training_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

namespace codeflare::sim {
namespace {

// Whether one of a few seeds complains in these words.
bool is_noticed(TrainingBug bug, std::string_view words) {
  constexpr std::uint64_t kSeeds = 30;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Outcome outcome = run_training({.seed = seed}, bug);
    if (std::ranges::any_of(outcome.violations, [&](const std::string& violation) {
          return violation.contains(words);
        })) {
      return true;
    }
  }
  return false;
}

TEST(SimTraining, two_generations_that_commit_are_noticed) {
  EXPECT_TRUE(is_noticed(TrainingBug::group_replaced_without_proof, "was committed by generation"));
}

TEST(SimTraining, a_lost_step_is_noticed) {
  EXPECT_TRUE(is_noticed(TrainingBug::wrong_source, "although a member has"));
}

TEST(SimTraining, a_shrink_that_loses_steps_is_noticed) {
  EXPECT_TRUE(is_noticed(TrainingBug::shrink_while_forming, "lets a worker with"));
}

TEST(SimTraining, training_that_waits_for_ever_is_noticed) {
  EXPECT_TRUE(is_noticed(TrainingBug::failures_not_heard, "is not complete"));
}

}  // namespace
}  // namespace codeflare::sim
