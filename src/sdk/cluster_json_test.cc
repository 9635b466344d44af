#include "sdk/cluster_json.h"

#include "json/write.h"
#include "model/codec/ray_cluster.h"
#include "sdk/cluster_manifest.h"
#include "sdk/read_config.h"

#include <gtest/gtest.h>

namespace codeflare::sdk {
namespace {

TEST(ConfigJson, holds_what_differs_from_the_default_and_reads_back) {
  const ClusterConfig config{.name = "demo",
                             .ns = "team",
                             .num_workers = 2,
                             .worker_extended_resource_requests = {{"nvidia.com/gpu", "1"}},
                             .image_pull_secrets = {"login"},
                             .volumes = {R"([{"name":"a"}])"},
                             .queueing = Queueing::none,
                             .priority = std::nullopt};
  json::Arena arena;
  const json::Value value = to_json(arena, config);
  EXPECT_EQ(json::to_text(value),
            R"({"name":"demo","namespace":"team","num_workers":2,)"
            R"("worker_extended_resource_requests":{"nvidia.com/gpu":"1"},)"
            R"("image_pull_secrets":["login"],"volumes":[{"name":"a"}],"queueing":"none"})");
  EXPECT_EQ(read_config(value).config, config);
}

TEST(ConfigJson, holds_every_member_of_a_worker_group) {
  ClusterConfig config{.name = "demo"};
  config.additional_worker_groups.push_back(
      {.group_name = "spot",
       .min_replicas = 0,
       .max_replicas = 5,
       .memory_limits = "8Gi",
       .extended_resource_requests = {{"nvidia.com/gpu", "1"}},
       .image = "example.com/ray:spot",
       .envs = {{"SIZE", "small"}},
       .labels = {{"team", "a"}},
       .tolerations = {{R"([{"key":"spot"}])"}},
       .node_selector = {{"spot", "true"}}});
  json::Arena arena;
  EXPECT_EQ(read_config(to_json(arena, config)).config, config);
}

TEST(ConfigOf, gives_back_what_the_manifest_was_made_of) {
  ClusterConfig config{.name = "demo",
                       .num_workers = 3,
                       .worker_cpu_requests = "500m",
                       .worker_extended_resource_requests = {{"nvidia.com/gpu", "2"}},
                       .head_memory_limits = "16Gi",
                       .image = "example.com/ray:1",
                       .envs = {{"A", "1"}, {"RAY_USAGE_STATS_ENABLED", "0"}},
                       .labels = {{"team", "a"}}};
  config.additional_worker_groups.push_back(
      {.group_name = "big", .replicas = 2, .cpu_requests = "8", .cpu_limits = "8"});
  const json::Document manifest = ray_cluster_manifest(config);
  const auto ray = model::from_json<model::RayCluster>(manifest.root);
  ASSERT_TRUE(ray);
  config.additional_worker_groups.front().image = "example.com/ray:1";
  EXPECT_EQ(config_of(*ray), config);
}

}  // namespace
}  // namespace codeflare::sdk
