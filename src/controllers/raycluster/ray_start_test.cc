#include "controllers/raycluster/ray_start.h"

#include <gtest/gtest.h>

namespace codeflare::controllers::raycluster {
namespace {

using model::Quantity;

Quantity quantity(const char* text) {
  return *Quantity::parse(text);
}

TEST(RayStart, a_head_says_what_its_container_has) {
  const auto params = start_params(
      {.type = NodeType::head,
       .params = {{"port", "6380"}},
       .container = {.limits = {{"cpu", quantity("1500m")}, {"memory", quantity("2G")}}}});
  EXPECT_EQ(start_command(NodeType::head, params),
            "ray start --head  --block  --dashboard-agent-listen-port=52365  "
            "--dashboard-host=0.0.0.0  --memory=2000000000  --metrics-export-port=8080  "
            "--num-cpus=2  --port=6380 ");
}

TEST(RayStart, a_worker_knows_its_head) {
  const auto params = start_params({.type = NodeType::worker,
                                    .container = {.limits = {{"nvidia.com/gpu", quantity("2")}},
                                                  .requests = {{"cpu", quantity("3")}}},
                                    .head_address = "h:6379"});
  EXPECT_EQ(start_command(NodeType::worker, params),
            "ray start  --address=h:6379  --block  --dashboard-agent-listen-port=52365  "
            "--metrics-export-port=8080  --num-cpus=3  --num-gpus=2 ");
}

TEST(RayStart, what_the_user_says_stays) {
  const auto params = start_params(
      {.params = {{"num-cpus", "0"}, {"include-dashboard", "false"}, {"no-monitor", "false"}},
       .container = {.limits = {{"cpu", quantity("4")}}}});
  EXPECT_EQ(params.at("num-cpus"), "0");
  const std::string command = start_command(NodeType::head, params);
  EXPECT_TRUE(command.contains(" --include-dashboard=false "));
  EXPECT_FALSE(command.contains("no-monitor"));
}

TEST(RayStart, group_resources_and_labels_are_for_ray) {
  const auto params =
      start_params({.resources = {{"CPU", "8"}, {"memory", "1Gi"}, {"GPU", "2"}, {"slots", "3"}},
                    .labels = {{"zone", "a"}, {"tier", "b"}},
                    .container = {.limits = {{"cpu", quantity("4")}}}});
  EXPECT_EQ(params.at("num-cpus"), "8");
  EXPECT_EQ(params.at("memory"), "1073741824");
  EXPECT_EQ(params.at("num-gpus"), "2");
  EXPECT_EQ(params.at("resources"), R"('{"slots":3}')");
  EXPECT_EQ(params.at("labels"), "tier=b,zone=a");
}

TEST(RayStart, accelerators_have_names_of_their_own) {
  const auto params = start_params({.params = {{"resources", R"('{"slots":3}')"}},
                                    .container = {.limits = {{"google.com/tpu", quantity("4")}}}});
  EXPECT_EQ(params.at("resources"), R"('{"TPU":4,"slots":3}')");
  const auto own = start_params({.params = {{"resources", R"("{\"TPU\":1}")"}},
                                 .container = {.limits = {{"google.com/tpu", quantity("4")}}}});
  EXPECT_EQ(own.at("resources"), R"("{\"TPU\":1}")");
}

TEST(RayStart, knows_gpus_by_name) {
  EXPECT_TRUE(is_gpu("nvidia.com/gpu"));
  EXPECT_TRUE(is_gpu("amd.com/gpu"));
  EXPECT_TRUE(is_gpu("nvidia.com/mig-2g.32gb"));
  EXPECT_FALSE(is_gpu("nvidia.com/mig-g.32gb"));
  EXPECT_FALSE(is_gpu("google.com/tpu"));
}

}  // namespace
}  // namespace codeflare::controllers::raycluster
