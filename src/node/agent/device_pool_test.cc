#include "node/agent/device_pool.h"

#include <gtest/gtest.h>

namespace codeflare::node {
namespace {

constexpr const char* kGpu = "nvidia.com/gpu";

model::Container wants(std::string name, std::int64_t count, std::string restart_policy = {}) {
  model::Container container;
  container.name = std::move(name);
  container.restart_policy = std::move(restart_policy);
  container.resources.limits.set(kGpu, model::Quantity(count));
  return container;
}

model::Pod pod(std::string uid, std::vector<model::Container> containers) {
  model::Pod one;
  one.metadata.uid = std::move(uid);
  one.spec.containers = std::move(containers);
  return one;
}

TEST(DevicePool, gives_the_lowest_free_numbers) {
  DevicePool pool(kGpu, 4);
  EXPECT_EQ((*pool.grant(pod("a", {wants("c", 2)})))[0].ids, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ((*pool.grant(pod("b", {wants("c", 1)})))[0].ids, (std::vector<std::int32_t>{2}));
  pool.release("a");
  EXPECT_EQ((*pool.grant(pod("d", {wants("c", 3)})))[0].ids, (std::vector<std::int32_t>{0, 1, 3}));
  EXPECT_EQ(pool.free(), 0u);
}

TEST(DevicePool, a_pod_keeps_what_it_has) {
  DevicePool pool(kGpu, 4);
  const model::Pod one = pod("a", {wants("x", 1), wants("y", 2)});
  const auto first = *pool.grant(one);
  EXPECT_EQ(*pool.grant(one), first);
  EXPECT_EQ(pool.free(), 1u);
}

TEST(DevicePool, all_or_none) {
  DevicePool pool(kGpu, 2);
  EXPECT_EQ(pool.grant(pod("a", {wants("x", 1), wants("y", 2)})).error().code,
            ErrorCode::resource_exhausted);
  EXPECT_EQ(pool.free(), 2u);
}

TEST(DevicePool, init_containers_share_with_those_that_come_after) {
  DevicePool pool(kGpu, 2);
  model::Pod one = pod("a", {wants("main", 1)});
  one.spec.init_containers = {wants("side", 1, "Always"), wants("init", 1)};
  const auto grants = pool.grant(one);
  ASSERT_TRUE(grants) << grants.error().to_string();
  EXPECT_EQ(pool.free(), 0u);
}

TEST(DevicePool, what_is_adopted_is_not_given_again) {
  DevicePool pool(kGpu, 2);
  pool.adopt("a", {{.container = "c", .resource = kGpu, .ids = {0}}});
  EXPECT_EQ((*pool.grant(pod("b", {wants("c", 1)})))[0].ids, (std::vector<std::int32_t>{1}));
}

}  // namespace
}  // namespace codeflare::node
