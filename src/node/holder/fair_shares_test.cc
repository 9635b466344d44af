#include "node/holder/fair_shares.h"

#include <gtest/gtest.h>

namespace codeflare::node {
namespace {

constexpr Ipv4 kGreedy{1};
constexpr Ipv4 kModest{2};
constexpr Ipv4 kThird{3};

TEST(FairShares, a_client_alone_may_hold_every_slot) {
  FairShares<int> shares(3);
  for (int id : {1, 2, 3}) {
    EXPECT_EQ(shares.victim(kGreedy), std::nullopt);
    shares.add(kGreedy, id);
  }
  EXPECT_EQ(shares.victim(kGreedy), 1) << "then it replaces its own";
}

TEST(FairShares, a_newcomer_replaces_the_longest_idle_slot_of_the_largest_holder) {
  FairShares<int> shares(4);
  shares.add(kModest, 1);
  for (int id : {2, 3, 4}) {
    shares.add(kGreedy, id);
  }
  shares.touch(2);
  EXPECT_EQ(shares.victim(kThird), 3);
  shares.remove(3);
  EXPECT_EQ(shares.victim(kThird), std::nullopt);
  shares.add(kThird, 5);
  EXPECT_EQ(shares.victim(kModest), 4);
}

TEST(FairShares, a_client_with_as_many_as_the_largest_pays_itself) {
  FairShares<int> shares(4);
  shares.add(kGreedy, 1);
  shares.add(kGreedy, 2);
  shares.add(kModest, 3);
  shares.add(kModest, 4);
  EXPECT_EQ(shares.victim(kModest), 3);
  EXPECT_EQ(shares.victim(kGreedy), 1);
}

TEST(FairShares, a_removed_slot_is_forgotten) {
  FairShares<int> shares(1);
  shares.add(kGreedy, 1);
  shares.remove(1);
  shares.remove(1);
  shares.touch(1);
  EXPECT_EQ(shares.size(), 0u);
  EXPECT_EQ(shares.victim(kGreedy), std::nullopt);
}

}  // namespace
}  // namespace codeflare::node
