#include "controllers/appwrapper/published_settings.h"

#include "controllers/appwrapper/testing/queue_world.h"

#include <gtest/gtest.h>

namespace codeflare::controllers {
namespace {

using testing::QueueWorld;

constexpr const char* kNs = "codeflare-system";

Result<void> publish(QueueWorld& world, queue::Settings settings) {
  return *run(world.env.loop, publish_settings(world.admin, kNs, settings));
}

Result<kube::ObjectRef> note(QueueWorld& world) {
  return *run(world.env.loop, world.admin.get(testing::kConfigMaps, {kNs, "codeflare-queue"}));
}

TEST(PublishedSettings, are_written_when_they_are_not_the_usual_ones) {
  QueueWorld world;
  EXPECT_TRUE(publish(world, {}));
  ASSERT_FALSE(note(world));
  EXPECT_EQ(note(world).error().code, ErrorCode::not_found);
  // Neither the namespace nor the ConfigMap is there yet.
  const queue::Settings settings{.preemption = true, .holding_time = std::chrono::seconds(5)};
  EXPECT_TRUE(publish(world, settings));
  ASSERT_TRUE(note(world));
  EXPECT_EQ(queue::settings_from((*note(world))->string_at({"data", "settings"})), settings);
}

TEST(PublishedSettings, go_back_to_the_usual_ones_beside_what_others_wrote) {
  QueueWorld world;
  ASSERT_TRUE(publish(world, {.priority_slope = true}));
  const auto paused = *run(
      world.env.loop, world.admin.patch(testing::kConfigMaps, {kNs, "codeflare-queue"},
                                        kube::PatchKind::merge, R"({"data":{"paused":"true"}})"));
  ASSERT_TRUE(paused) << paused.error().to_string();
  EXPECT_TRUE(publish(world, {}));
  const auto now = note(world);
  ASSERT_TRUE(now);
  EXPECT_EQ(queue::settings_from((*now)->string_at({"data", "settings"})), queue::Settings{});
  EXPECT_EQ((*now)->string_at({"data", "paused"}), "true");
}

}  // namespace
}  // namespace codeflare::controllers
