#include "controllers/apps/deployment_decision.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::controllers::apps {
namespace {

model::Deployment sized(std::int32_t replicas, std::optional<model::IntOrString> surge,
                        std::optional<model::IntOrString> unavailable) {
  model::Deployment deployment;
  deployment.spec.replicas = replicas;
  deployment.spec.strategy.rolling_update.emplace();
  deployment.spec.strategy.rolling_update->max_surge = std::move(surge);
  deployment.spec.strategy.rolling_update->max_unavailable = std::move(unavailable);
  return deployment;
}

model::IntOrString percent(const char* text) {
  return model::IntOrString::of(std::string(text));
}

TEST(DeploymentLeeway, percentages_round_in_favour_of_progress_and_of_availability) {
  struct Case {
    std::int32_t replicas;
    std::optional<model::IntOrString> surge;
    std::optional<model::IntOrString> unavailable;
    std::int32_t more;
    std::int32_t fewer;
  };
  const Case cases[] = {
      {10, percent("25%"), percent("25%"), 3, 2},
      {1, percent("25%"), percent("25%"), 1, 0},
      {4, std::nullopt, std::nullopt, 1, 1},
      {5, model::IntOrString::of(2), model::IntOrString::of(0), 2, 0},
      {5, model::IntOrString::of(0), model::IntOrString::of(0), 0, 1},
      {2, model::IntOrString::of(0), model::IntOrString::of(9), 0, 2},
      {3, percent("100%"), percent("0%"), 3, 0},
  };
  for (const Case& c : cases) {
    const Leeway found = leeway(sized(c.replicas, c.surge, c.unavailable));
    EXPECT_EQ(found.surge, c.more) << c.replicas;
    EXPECT_EQ(found.unavailable, c.fewer) << c.replicas;
  }
}

TEST(DeploymentLeeway, recreate_has_none) {
  model::Deployment deployment = sized(4, percent("50%"), percent("50%"));
  deployment.spec.strategy.type = "Recreate";
  EXPECT_EQ(leeway(deployment).surge, 0);
  EXPECT_EQ(leeway(deployment).unavailable, 0);
}

TEST(DeploymentDecision, one_without_a_selector_is_left_alone) {
  ObservedDeployment observed;
  observed.deployment.spec.replicas = 3;
  const DesiredDeployment desired = decide(observed, WallTime());
  EXPECT_FALSE(desired.create);
  EXPECT_FALSE(desired.status);
}

}  // namespace
}  // namespace codeflare::controllers::apps
