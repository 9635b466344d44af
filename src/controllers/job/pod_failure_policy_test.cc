#include "controllers/job/pod_failure_policy.h"

#include <gtest/gtest.h>

namespace codeflare::controllers::job {
namespace {

using Action = PodFailurePolicy::Action;

PodFailurePolicy::Verdict verdict(std::string rules, const PodDigest& pod) {
  return PodFailurePolicy::read({R"({"rules":[)" + std::move(rules) + "]}"})
      .verdict_on(pod, "default");
}

PodDigest failed(std::vector<PodExit> exits, std::vector<PodCondition> conditions = {}) {
  return {.name = "p",
          .phase = Phase::failed,
          .exits = std::move(exits),
          .conditions = std::move(conditions)};
}

TEST(PodFailurePolicy, without_a_rule_that_fits_a_failure_counts) {
  EXPECT_EQ(PodFailurePolicy().verdict_on(failed({{"main", 1}}), "default").action, Action::count);
  EXPECT_EQ(PodFailurePolicy::read({"broken"}).verdict_on(failed({{"main", 1}}), "x").action,
            Action::count);
  EXPECT_EQ(verdict(R"({"action":"Ignore","onExitCodes":{"operator":"In","values":[2]}})",
                    failed({{"main", 1}}))
                .action,
            Action::count);
}

TEST(PodFailurePolicy, the_first_rule_that_fits_decides) {
  const char* rules = R"({"action":"Count","onExitCodes":{"operator":"In","values":[1]}},
                         {"action":"Ignore","onExitCodes":{"operator":"NotIn","values":[7]}},
                         {"action":"FailJob","onExitCodes":{"operator":"In","values":[7]}})";
  EXPECT_EQ(verdict(rules, failed({{"main", 1}})).action, Action::count);
  EXPECT_EQ(verdict(rules, failed({{"main", 3}})).action, Action::ignore);
  EXPECT_EQ(verdict(rules, failed({{"main", 7}})).action, Action::fail_job);
}

TEST(PodFailurePolicy, an_exit_with_zero_never_fits) {
  const char* rules = R"({"action":"Ignore","onExitCodes":{"operator":"NotIn","values":[7]}})";
  EXPECT_EQ(verdict(rules, failed({{"side", 0}, {"main", 7}})).action, Action::count);
}

TEST(PodFailurePolicy, a_rule_may_name_its_container) {
  const char* rules =
      R"({"action":"FailJob","onExitCodes":{"containerName":"main","operator":"In","values":[7]}})";
  EXPECT_EQ(verdict(rules, failed({{"side", 7}})).action, Action::count);
  EXPECT_EQ(verdict(rules, failed({{"side", 7}, {"main", 7}})).action, Action::fail_job);
}

TEST(PodFailurePolicy, a_condition_counts_with_its_status) {
  const char* rules =
      R"({"action":"FailJob","onPodConditions":[{"type":"ConfigIssue"},
         {"type":"Ready","status":"False"}]})";
  EXPECT_EQ(verdict(rules, failed({}, {{"ConfigIssue", "False"}})).action, Action::count);
  EXPECT_EQ(verdict(rules, failed({}, {{"Ready", "False"}})).action, Action::fail_job);
  EXPECT_EQ(verdict(rules, failed({}, {{"ConfigIssue", "True"}})).message,
            "Pod default/p has condition ConfigIssue matching FailJob rule at index 0");
}

}  // namespace
}  // namespace codeflare::controllers::job
