#include "controllers/apps/pods_to_delete.h"

#include <gtest/gtest.h>

namespace codeflare::controllers::apps {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

const WallTime kNow = WallTime(hours(1000));

// As harmless to keep as a pod can be; each case makes it worse in one way.
WorkloadPod best(std::string name) {
  return {.name = name,
          .uid = name,
          .owner_uid = {},
          .labels = {},
          .node = "n1",
          .running = true,
          .ready = true,
          .ready_since = kNow - hours(9),
          .created = kNow - hours(10)};
}

// Which of two goes first.
std::string victim(const WorkloadPod& a, const WorkloadPod& b,
                   const std::map<std::string, std::size_t>& crowd = {}) {
  return pods_to_delete({a, b}, 1, crowd, kNow).at(0).name;
}

TEST(PodsToDelete, a_pod_that_is_worth_less_goes_first) {
  WorkloadPod unbound = best("z");
  unbound.node.clear();
  WorkloadPod pending = best("z");
  pending.running = false;
  WorkloadPod unready = best("z");
  unready.ready = false;
  WorkloadPod cheap = best("z");
  cheap.deletion_cost = -5;
  WorkloadPod fresh = best("z");
  fresh.ready_since = kNow - seconds(1);
  WorkloadPod restarted = best("z");
  restarted.restarts = 3;
  WorkloadPod young = best("z");
  young.created = kNow - seconds(1);
  for (const WorkloadPod& worse : {unbound, pending, unready, cheap, fresh, restarted, young}) {
    EXPECT_EQ(victim(best("a"), worse), "z");
    EXPECT_EQ(victim(worse, best("a")), "z");
  }
}

TEST(PodsToDelete, earlier_criteria_outweigh_later_ones) {
  WorkloadPod pending = best("pending");
  pending.running = false;
  pending.ready = false;
  pending.deletion_cost = 100;
  WorkloadPod cheap = best("cheap");
  cheap.deletion_cost = -100;
  EXPECT_EQ(victim(pending, cheap), "pending");
}

TEST(PodsToDelete, a_crowded_node_gives_first) {
  WorkloadPod alone = best("a");
  WorkloadPod crowded = best("z");
  crowded.node = "n2";
  EXPECT_EQ(victim(alone, crowded, {{"n1", 1}, {"n2", 4}}), "z");
}

TEST(PodsToDelete, never_more_than_there_are) {
  EXPECT_EQ(pods_to_delete({best("a")}, 5, {}, kNow).size(), 1u);
  EXPECT_TRUE(pods_to_delete({best("a")}, 0, {}, kNow).empty());
}

}  // namespace
}  // namespace codeflare::controllers::apps
