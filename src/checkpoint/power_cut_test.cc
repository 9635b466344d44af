#include "checkpoint/testing/power_cut_run.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace codeflare::checkpoint {
namespace {

constexpr std::uint64_t kSeeds = POWER_CUT_SEEDS;

TEST(PowerCut, leaves_the_newest_committed_checkpoint_whole) {
  std::uint64_t acknowledged = 0;
  std::uint64_t cuts = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    PowerCutRun run({.seed = seed});
    ASSERT_EQ(run.run(), "") << "seed " << seed;
    acknowledged += run.acknowledged();
    cuts += run.cuts();
  }
  // Checkpoints were committed and the power did go.
  EXPECT_GT(acknowledged, kSeeds * 10);
  EXPECT_GT(cuts, kSeeds * 2);
}

TEST(PowerCut, would_notice_a_store_that_does_not_sync) {
  int noticed = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    PowerCutRun run({.seed = seed, .ignore_syncs = true});
    noticed += run.run().empty() ? 0 : 1;
  }
  EXPECT_GT(noticed, 10);
}

}  // namespace
}  // namespace codeflare::checkpoint
