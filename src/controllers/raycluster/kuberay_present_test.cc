#include "controllers/raycluster/kuberay_present.h"

#include "base/async/task_group.h"
#include "controllers/testing/embedded_cluster.h"
#include "model/codec/apps.h"
#include "model/codec/core.h"
#include "net/http.h"

#include <gtest/gtest.h>

namespace codeflare::controllers::raycluster {
namespace {

std::optional<std::string> found(controllers::testing::EmbeddedCluster& cluster) {
  KubeRayWatch kuberay(cluster.client, Logger());
  const auto looked = *run(cluster.env.loop, kuberay.look());
  EXPECT_TRUE(looked) << looked.error().to_string();
  return kuberay.where();
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

// A server that answers no watch.
class WithoutWatches final : public net::HttpService {
 public:
  explicit WithoutWatches(net::HttpService& target) : target_(target) {}
  Task<Result<net::Response>> send(net::Request request) override {
    if (request.target.contains("watch=")) {
      co_return fail(unavailable("no watches"));
    }
    co_return co_await target_.send(std::move(request));
  }

 private:
  net::HttpService& target_;
};

std::string lease_spec(controllers::testing::EmbeddedCluster& cluster) {
  return R"("spec":{"holderIdentity":"h","renewTime":")" + to_rfc3339(cluster.env.clock.wall(), 6) +
         R"("}})";
}

TEST(KuberayPresent, counts_as_gone_only_after_a_look_whatever_the_watches_miss) {
  controllers::testing::EmbeddedCluster cluster;
  WithoutWatches service(cluster.service());
  kube::Client client(cluster.env, service);
  KubeRayWatch kuberay(client, Logger());
  int changes = 0;
  kuberay.on_change([&] { ++changes; });
  cluster.create<model::Lease>(R"({"metadata":{"name":"ray-operator-leader"},)" +
                               lease_spec(cluster));
  ASSERT_TRUE(*run(cluster.env.loop, kuberay.look()));
  TaskGroup group(cluster.env.loop);
  group.spawn(kuberay.run());
  for (int i = 0; i < 5; ++i) {
    cluster.settle(std::chrono::seconds(40));
    EXPECT_TRUE(kuberay.where());
    cluster.patch<model::Lease>("ray-operator-leader", "{" + lease_spec(cluster));
  }
  EXPECT_EQ(changes, 1);
  cluster.settle(std::chrono::minutes(3));
  EXPECT_EQ(kuberay.where(), std::nullopt);
  EXPECT_EQ(changes, 2);
  EXPECT_TRUE(run(cluster.env.loop, group.close()));
}

}  // namespace
}  // namespace codeflare::controllers::raycluster
