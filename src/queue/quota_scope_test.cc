#include "queue/quota_scope.h"

#include "json/parse.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::queue {
namespace {

std::optional<QuotaRule> rule_of(const std::string& spec) {
  return quota_rule(json::parse(R"({"spec":)" + spec + "}")->root);
}

bool concerns(const std::string& scopes, const PodTraits& pod) {
  return rule_of(R"({"hard":{"pods":"1"},)" + scopes + "}")->concerns(pod);
}

TEST(QuotaScope, hard_limits_are_read_as_text_and_as_numbers) {
  const auto rule = rule_of(R"({"hard":{"requests.cpu":"500m","pods":3}})");
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->hard.get("requests.cpu").to_string(), "500m");
  EXPECT_EQ(rule->hard.get("pods").to_string(), "3");
  EXPECT_TRUE(rule->concerns({}));
  EXPECT_FALSE(rule_of("{}"));
}

TEST(QuotaScope, each_scope_looks_at_its_trait) {
  const PodTraits hurried{.terminating = true};
  const PodTraits modest{.best_effort = true};
  EXPECT_TRUE(concerns(R"("scopes":["Terminating"])", hurried));
  EXPECT_FALSE(concerns(R"("scopes":["Terminating"])", modest));
  EXPECT_FALSE(concerns(R"("scopes":["NotTerminating"])", hurried));
  EXPECT_TRUE(concerns(R"("scopes":["BestEffort"])", modest));
  EXPECT_TRUE(concerns(R"("scopes":["NotBestEffort"])", hurried));
  EXPECT_FALSE(concerns(R"("scopes":["Terminating","BestEffort"])", hurried)) << "all must match";
}

TEST(QuotaScope, priority_classes_are_chosen_by_name) {
  const auto chosen = [](const std::string& op, const std::string& values,
                         const std::string& priority_class) {
    return concerns(R"("scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass",
                       "operator":")" +
                        op + R"(","values":[)" + values + "]}]}",
                    {.priority_class = priority_class});
  };
  EXPECT_TRUE(chosen("In", R"("high","low")", "high"));
  EXPECT_FALSE(chosen("In", R"("high")", ""));
  EXPECT_FALSE(chosen("NotIn", R"("high")", "high"));
  EXPECT_TRUE(chosen("NotIn", R"("high")", ""));
  EXPECT_TRUE(chosen("Exists", "", "high"));
  EXPECT_FALSE(chosen("Exists", "", ""));
  EXPECT_TRUE(chosen("DoesNotExist", "", ""));
}

TEST(QuotaScope, what_cannot_be_decided_here_makes_no_rule) {
  EXPECT_FALSE(rule_of(R"({"hard":{"pods":"1"},"scopes":["CrossNamespacePodAffinity"]})"));
  EXPECT_FALSE(rule_of(R"({"hard":{"pods":"1"},"scopeSelector":{"matchExpressions":[
      {"scopeName":"PriorityClass","operator":"Near"}]}})"));
}

TEST(QuotaScope, traits_are_read_from_the_pod) {
  model::PodSpec spec;
  spec.containers.emplace_back();
  EXPECT_EQ(traits_of(spec), (PodTraits{.best_effort = true}));
  spec.containers[0].resources.limits.set("cpu", model::Quantity(1));
  spec.active_deadline_seconds = 5;
  spec.priority_class_name = "high";
  EXPECT_EQ(traits_of(spec), (PodTraits{.terminating = true, .priority_class = "high"}));
}

}  // namespace
}  // namespace codeflare::queue
