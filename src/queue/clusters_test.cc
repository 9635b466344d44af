#include "queue/clusters.h"

#include "queue/kinds/problems.h"
#include "queue/queue.h"
#include "queue/testing/objects.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace codeflare::queue {
namespace {

using Names = std::vector<std::string>;

std::vector<ClusterInfo> three() {
  return {{.name = "local"},
          {.name = "east", .labels = {{"gpu", "a100"}}, .cost = 2},
          {.name = "west", .labels = {{"gpu", "t4"}}, .cost = 2}};
}

ClusterRule rule_of(const model::StringMap& annotations) {
  model::AppWrapper wrapper;
  wrapper.metadata.annotations = annotations;
  Problems problems;
  ClusterRule rule = cluster_rule_of(wrapper, problems);
  EXPECT_TRUE(problems.empty()) << problems.summary();
  return rule;
}

TEST(ClusterChoice, without_a_rule_all_are_allowed_and_the_cheapest_come_first) {
  const ClusterChoice choice = choose_clusters({}, three(), {});
  EXPECT_EQ(choice.allowed, (Names{"east", "local", "west"}));
  EXPECT_EQ(choice.tiers, (std::vector<Names>{{"local"}, {"east", "west"}}));
  EXPECT_EQ(choice.others, "");
}

TEST(ClusterChoice, names_and_selector_rule_out_and_say_so) {
  ClusterRule rule = rule_of({{"dispatch.codeflare.dev/clusters", "east,north"}});
  ClusterChoice choice = choose_clusters(rule, three(), {});
  EXPECT_EQ(choice.allowed, (Names{"east"}));
  EXPECT_EQ(choice.others,
            "local is not one of its clusters; west is not one of its clusters; north is not a "
            "ManagedCluster");
  rule = rule_of({{"dispatch.codeflare.dev/cluster-selector", "gpu in (t4)"}});
  choice = choose_clusters(rule, three(), {});
  EXPECT_EQ(choice.allowed, (Names{"west"}));
}

TEST(ClusterChoice, a_preference_comes_before_cost_and_patience_before_both) {
  const ClusterRule rule = rule_of({{"dispatch.codeflare.dev/prefer", "gpu=t4"}});
  EXPECT_EQ(choose_clusters(rule, three(), {}).tiers,
            (std::vector<Names>{{"west"}, {"local"}, {"east"}}));
  EXPECT_EQ(choose_clusters(rule, three(), {.last = {"west"}}).tiers,
            (std::vector<Names>{{"local"}, {"east"}, {"west"}}));
}

TEST(ClusterChoice, closed_clusters_and_those_that_rejected_it_are_out) {
  std::vector<ClusterInfo> clusters = three();
  clusters[1].closed = "is paused";
  const ClusterChoice choice =
      choose_clusters({}, clusters, {.out = {{"west", "rejects user bob: no"}}});
  EXPECT_EQ(choice.allowed, (Names{"local"}));
  EXPECT_EQ(choice.others, "east is paused; west rejects user bob: no");
}

TEST(ClusterRule, bad_names_and_selectors_are_named) {
  model::AppWrapper wrapper;
  wrapper.metadata.annotations = {{"dispatch.codeflare.dev/clusters", "East"},
                                  {"dispatch.codeflare.dev/prefer", "a=b=c"}};
  Problems problems;
  cluster_rule_of(wrapper, problems);
  ASSERT_EQ(problems.found().size(), 2u);
  EXPECT_TRUE(problems.found()[0].starts_with(
      "metadata.annotations[dispatch.codeflare.dev/clusters]: must be the name of a"));
  EXPECT_TRUE(
      problems.found()[1].starts_with("metadata.annotations[dispatch.codeflare.dev/prefer]"));
}

}  // namespace
}  // namespace codeflare::queue
