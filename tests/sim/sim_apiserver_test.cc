#include "tests/sim/sim_apiserver_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace codeflare::sim {
namespace {

constexpr std::uint64_t kSeeds = 10;

// Whether one of a few seeds complains in one of these words.
bool is_noticed(Planted planted, std::initializer_list<std::string_view> words) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Outcome outcome = run_apiserver({.seed = seed}, planted);
    if (std::ranges::any_of(outcome.violations, [&](const std::string& violation) {
          return std::ranges::any_of(words,
                                     [&](std::string_view one) { return violation.contains(one); });
        })) {
      return true;
    }
  }
  return false;
}

TEST(SimApiServer, a_write_acknowledged_before_it_is_durable_is_noticed) {
  EXPECT_TRUE(
      is_noticed(Planted::early_acknowledgement, {"went back from revision", "lost on disk"}));
}

TEST(SimApiServer, an_event_that_a_watch_leaves_out_is_noticed) {
  EXPECT_TRUE(is_noticed(Planted::swallowed_event, {"but next is"}));
}

}  // namespace
}  // namespace codeflare::sim
