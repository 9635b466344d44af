#include "sched/internal/claim_table.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::sched {
namespace {

TEST(ClaimTable, keeps_nothing_of_what_nobody_claims_any_more) {
  ResourceTable resources({"cpu"});
  QuotaForest forest;
  EXPECT_TRUE(forest.set_tree("team", {{.name = "default"}}, "", resources).empty());
  ClaimTable claims;
  const Index usual = claims.acquire(forest, {.designations = {}, .ns = "a"});
  for (int i = 0; i < 100; ++i) {
    // Two of a kind share the path that leads nowhere.
    const QuotaClaim wrong{.designations = {{"team", "no" + std::to_string(i)}}, .ns = "a"};
    QuotaClaim other = wrong;
    other.ns = "b";
    const Index first = claims.acquire(forest, wrong);
    const Index second = claims.acquire(forest, other);
    EXPECT_FALSE(claims.path_of(second).problem.empty());
    claims.release(first);
    EXPECT_TRUE(claims.path_of(second).problem.contains("no" + std::to_string(i)));
    claims.release(second);
  }
  EXPECT_EQ(claims.paths(), 1U);
  EXPECT_TRUE(claims.path_of(usual).problem.empty());
  claims.resolve_all(forest);
  EXPECT_EQ(claims.paths(), 1U);
  claims.release(usual);
  EXPECT_EQ(claims.paths(), 0U);
}

}  // namespace
}  // namespace codeflare::sched
