#include "apiserver/store/testing/power_cut_run.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace codeflare::apiserver {
namespace {

using Durability = SqliteLogOptions::Durability;

constexpr std::uint64_t kSeeds = POWER_CUT_SEEDS;

std::string first_finding(PowerCutRun& run) {
  auto findings = run.run();
  return findings.empty() ? "" : findings.front();
}

TEST(PowerCut, loses_nothing_that_was_acknowledged) {
  std::uint64_t acknowledged = 0;
  std::uint64_t cuts_while_open = 0;
  std::uint64_t rebuilds = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    PowerCutRun run({.seed = seed});
    ASSERT_EQ(first_finding(run), "") << "seed " << seed;
    acknowledged += run.acknowledged();
    cuts_while_open += run.cuts_while_open();
    rebuilds += run.rebuilds();
  }
  // It did run.
  EXPECT_GT(acknowledged, kSeeds * 50);
  EXPECT_GT(cuts_while_open, kSeeds / 20);
  EXPECT_GT(rebuilds, kSeeds / 5);
}

TEST(PowerCut, would_notice_a_log_that_does_not_sync) {
  int noticed = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    PowerCutRun run({.seed = seed, .durability = Durability::none, .faults = false});
    noticed += first_finding(run).empty() ? 0 : 1;
  }
  EXPECT_GT(noticed, 25);
}

}  // namespace
}  // namespace codeflare::apiserver
