#include "controllers/raycluster/kuberay_present.h"

#include "controllers/testing/embedded_cluster.h"
#include "model/codec/apps.h"
#include "model/codec/core.h"

#include <gtest/gtest.h>

namespace codeflare::controllers::raycluster {
namespace {

std::optional<std::string> found(controllers::testing::EmbeddedCluster& cluster) {
  auto answer = *run(cluster.env.loop, kuberay_present(cluster.client));
  EXPECT_TRUE(answer) << answer.error().to_string();
  return answer ? *answer : std::nullopt;
}

TEST(KuberayPresent, sees_its_deployment) {
  controllers::testing::EmbeddedCluster cluster;
  EXPECT_EQ(found(cluster), std::nullopt);
  cluster.create<model::Deployment>(
      R"({"metadata":{"name":"kuberay-operator"},"spec":{"selector":{"matchLabels":{"a":"b"}},)"
      R"("template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c",)"
      R"("image":"x"}]}}}})");
  EXPECT_EQ(found(cluster), "deployment default/kuberay-operator");
  cluster.patch<model::Deployment>("kuberay-operator", R"({"spec":{"replicas":0}})");
  EXPECT_EQ(found(cluster), std::nullopt);
}

TEST(KuberayPresent, sees_its_lease_while_it_is_renewed) {
  controllers::testing::EmbeddedCluster cluster;
  cluster.create<model::Lease>(
      R"({"metadata":{"name":"ray-operator-leader"},"spec":{"holderIdentity":"h","renewTime":")" +
      to_rfc3339(cluster.env.clock.wall(), 6) + R"("}})");
  EXPECT_EQ(found(cluster), "lease default/ray-operator-leader held by h");
  cluster.settle(std::chrono::minutes(2));
  EXPECT_EQ(found(cluster), std::nullopt);
}

}  // namespace
}  // namespace codeflare::controllers::raycluster
