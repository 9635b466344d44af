#include "controllers/raycluster/ray_token.h"

#include "base/env/sim_env.h"
#include "controllers/raycluster/ray_decision.h"
#include "controllers/raycluster/ray_pod.h"
#include "controllers/raycluster/testing/sample.h"
#include "json/parse.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace codeflare::controllers::raycluster {
namespace {

using testing::sample_cluster;

constexpr const char* kToken = R"("authOptions":{"mode":"token"},)";

model::RayCluster with_token(std::string version = "2.60.0") {
  model::RayCluster cluster = sample_cluster(1, kToken);
  cluster.spec.ray_version = std::move(version);
  return cluster;
}

const model::EnvVar* variable(const model::Container& container, std::string_view name) {
  const auto found = std::ranges::find(container.env, name, &model::EnvVar::name);
  return found == container.env.end() ? nullptr : &*found;
}

TEST(RayToken, every_ray_container_gets_it_from_the_secret) {
  const model::RayCluster cluster = with_token();
  const model::Pod head = head_pod(cluster);
  const model::Pod worker = worker_pod(cluster, cluster.spec.worker_groups.front());
  for (const model::Container* container :
       {&head.spec.containers.front(), &worker.spec.containers.front(),
        &worker.spec.init_containers.front()}) {
    ASSERT_NE(variable(*container, "RAY_AUTH_MODE"), nullptr) << container->name;
    EXPECT_EQ(variable(*container, "RAY_AUTH_MODE")->value, "token");
    const model::EnvVar* token = variable(*container, "RAY_AUTH_TOKEN");
    ASSERT_NE(token, nullptr);
    EXPECT_EQ(token->value_from->secret_key_ref->name, cluster.metadata.name);
    EXPECT_EQ(token->value_from->secret_key_ref->key, "auth_token");
  }
  const model::Pod open = head_pod(sample_cluster());
  EXPECT_EQ(variable(open.spec.containers.front(), "RAY_AUTH_MODE"), nullptr);
}

TEST(RayToken, the_secret_is_random_owned_and_made_before_the_head) {
  const model::RayCluster cluster = with_token();
  SimEnv sim;
  const json::Document one = json::parse(token_secret(cluster, sim.env().random)).value();
  const json::Document two = json::parse(token_secret(cluster, sim.env().random)).value();
  const auto token = [](const json::Document& secret) {
    return std::string(secret.root.find("stringData")->string_or_empty("auth_token"));
  };
  EXPECT_EQ(token(one).size(), 44u);  // 32 bytes in base64
  EXPECT_NE(token(one), token(two));
  EXPECT_EQ(one.root.get({"metadata", "ownerReferences"})->items()[0].string_or_empty("uid"),
            "cluster-uid");
  EXPECT_TRUE(decide({.cluster = cluster, .pods = {}}, WallTime()).create_token);
  EXPECT_FALSE(decide({.cluster = sample_cluster(), .pods = {}}, WallTime()).create_token);
}

TEST(RayToken, needs_a_ray_that_knows_it) {
  EXPECT_EQ(invalid(with_token()), "");
  EXPECT_EQ(invalid(with_token("2.51.1")),
            "authOptions.mode is 'token' but minimum Ray version is 2.52.0, got 2.51.1");
  EXPECT_EQ(invalid(sample_cluster(1, R"("authOptions":{"mode":"odd"},)")),
            "authOptions.mode should be disabled or token, not odd");
  EXPECT_EQ(invalid(sample_cluster(1, R"("authOptions":{"mode":"disabled"},)")), "");
}

}  // namespace
}  // namespace codeflare::controllers::raycluster
