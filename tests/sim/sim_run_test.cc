#include "tests/sim/sim_run_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

namespace codeflare::sim {
namespace {

// Whether one of a few seeds complains in these words.
bool is_noticed(RunBug bug, std::string_view words) {
  constexpr std::uint64_t kSeeds = 3;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Outcome outcome = run_runs({.seed = seed}, bug);
    if (std::ranges::any_of(outcome.violations, [&](const std::string& violation) {
          return violation.contains(words);
        })) {
      return true;
    }
  }
  return false;
}

TEST(SimRun, a_second_app_wrapper_is_noticed) {
  EXPECT_TRUE(is_noticed(RunBug::second_wrapper, "AppWrappers"));
}

TEST(SimRun, a_phase_that_goes_back_is_noticed) {
  EXPECT_TRUE(is_noticed(RunBug::goes_back, "went from"));
}

TEST(SimRun, what_outlives_its_run_is_noticed) {
  EXPECT_TRUE(is_noticed(RunBug::left_behind, "has outlived"));
}

}  // namespace
}  // namespace codeflare::sim
