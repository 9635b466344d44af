#include "queue/settings.h"

#include <gtest/gtest.h>

#include <chrono>

namespace codeflare::queue {
namespace {

TEST(Settings, come_back_as_they_were_written) {
  const Settings all{.preemption = true,
                     .priority_slope = true,
                     .holding_time = std::chrono::seconds(90),
                     .quota_trees = false,
                     .growth_cooldown = std::chrono::seconds(60),
                     .elastic_policy = sched::ElasticPolicy::fair,
                     .max_scaleout = 3,
                     .scale_budget = 12.5,
                     .scale_namespace_budget = 0.25};
  EXPECT_EQ(settings_from(to_text(all)), all);
  EXPECT_EQ(settings_from(to_text({})), Settings{});
  EXPECT_EQ(core_options(all).holding_time, std::chrono::seconds(90));
  EXPECT_TRUE(core_options(all).preemption);
  EXPECT_TRUE(core_options(all).priority_slope);
  EXPECT_EQ(core_options(all).growth_cooldown, std::chrono::seconds(60));
  EXPECT_EQ(core_options(all).elastic_policy, sched::ElasticPolicy::fair);
  EXPECT_EQ(core_options(all).resize_cost, kResizeCost);
}

TEST(Settings, that_make_no_sense_are_the_default) {
  for (const char* text : {"", "[]", "{", R"({"preemption":"yes","holdingSeconds":-5})",
                           R"({"holdingSeconds":true,"prioritySlope":1})"}) {
    EXPECT_EQ(settings_from(text), Settings{}) << text;
  }
}

}  // namespace
}  // namespace codeflare::queue
