#include "controllers/raycluster/raycluster_controller.h"

#include "controllers/crds/ensure_crds.h"
#include "controllers/fakenode/fake_nodes.h"
#include "controllers/raycluster/testing/sample.h"
#include "controllers/testing/embedded_cluster.h"
#include "model/codec/apps.h"
#include "model/codec/pod.h"
#include "model/codec/service.h"
#include "model/condition.h"
#include "runtime/testing/idempotence.h"

#include <gtest/gtest.h>

namespace codeflare::controllers::raycluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::sample;

// RayClusters on fake nodes; binding is done by hand.
struct World {
  controllers::testing::EmbeddedCluster cluster;
  RayClusterReconciler* reconciler = nullptr;

  World() {
    auto crds = *run(cluster.env.loop, ensure_crds(cluster.client, {.ray_cluster = true}));
    EXPECT_TRUE(crds) << crds.error().to_string();
    auto nodes = *run(cluster.env.loop, fakenode::register_fake_nodes(cluster.client, {}));
    EXPECT_TRUE(nodes) << nodes.error().to_string();
    fakenode::add_fake_node_controllers(cluster.manager);
    reconciler = &add_raycluster_controller(cluster.manager);
    give_way_to_kuberay(cluster.manager, [this] { reconciler->stop(); }, Logger());
    cluster.start();
  }
  void make(const std::string& body) {
    cluster.create<model::RayCluster>(body);
    settle();
  }
  // Binds what is not bound until nothing changes any more.
  void settle() {
    for (int round = 0; round < 4; ++round) {
      cluster.settle(milliseconds(500));
      for (const model::Pod& pod : cluster.list<model::Pod>()) {
        if (pod.spec.node_name.empty()) {
          auto bound = *run(
              cluster.env.loop,
              cluster.client.post(model::resource_type<model::Pod>(), pod.metadata.key(), "binding",
                                  R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":")" +
                                      pod.metadata.name +
                                      R"("},"target":{"kind":"Node","name":"codeflare-fake-0"}})"));
          EXPECT_TRUE(bound) << bound.error().to_string();
        }
      }
    }
  }
  model::RayCluster read() { return cluster.read<model::RayCluster>("demo"); }
  std::vector<model::Pod> workers() {
    return cluster.list<model::Pod>("default", "ray.io/node-type=worker");
  }
  model::Pod head() {
    auto heads = cluster.list<model::Pod>("default", "ray.io/node-type=head");
    EXPECT_EQ(heads.size(), 1u);
    return heads.empty() ? model::Pod() : heads[0];
  }
  ::testing::AssertionResult idle() {
    return runtime::testing::is_idempotent(cluster.env, *reconciler, {"default", "demo"});
  }
};

TEST(RayClusterController, brings_a_cluster_up) {
  World w;
  w.make(sample(2));
  const model::RayCluster cluster = w.read();
  EXPECT_EQ(cluster.status.state, "ready");
  EXPECT_EQ(cluster.status.ready_worker_replicas, 2);
  EXPECT_EQ(cluster.status.head.pod_name, w.head().metadata.name);
  EXPECT_EQ(cluster.status.head.pod_ip, w.head().status.pod_ip);
  EXPECT_EQ(cluster.status.head.service_name, "demo-head-svc");
  EXPECT_EQ(cluster.status.endpoints.at("dashboard"), "8265");
  EXPECT_TRUE(w.head().metadata.name.starts_with("demo-head-"));
  EXPECT_TRUE(w.workers().at(0).metadata.name.starts_with("demo-small-group-worker-"));
  EXPECT_EQ(w.cluster.read<model::Service>("demo-head-svc").spec.cluster_ip, "None");
  EXPECT_TRUE(w.idle());
}

TEST(RayClusterController, old_versions_are_clusters_too) {
  World w;
  const model::ResourceType old{"ray.io", "v1alpha1", "RayCluster", "rayclusters", true};
  auto made =
      *run(w.cluster.env.loop, w.cluster.client.create(old, "default", sample(1, "", "v1alpha1")));
  ASSERT_TRUE(made) << made.error().to_string();
  w.settle();
  EXPECT_EQ(w.read().status.state, "ready");
}

TEST(RayClusterController, scales_a_group_in_place) {
  World w;
  w.make(sample(1));
  const std::string head = w.head().metadata.name;
  const std::string first = w.workers().at(0).metadata.name;
  const auto scale = [&](int replicas) {
    model::RayCluster cluster = w.read();
    cluster.spec.worker_groups[0].replicas = replicas;
    auto done = *run(w.cluster.env.loop,
                     w.cluster.client.update(model::resource_type<model::RayCluster>(),
                                             cluster.metadata.key(), model::to_json_text(cluster)));
    EXPECT_TRUE(done) << done.error().to_string();
    w.settle();
  };
  scale(4);
  EXPECT_EQ(w.workers().size(), 4u);
  EXPECT_EQ(w.read().status.desired_worker_replicas, 4);
  EXPECT_EQ(w.read().status.ready_worker_replicas, 4);
  scale(0);
  EXPECT_TRUE(w.workers().empty());
  EXPECT_EQ(w.head().metadata.name, head);
  EXPECT_EQ(w.read().status.ready_worker_replicas, 0);
  EXPECT_TRUE(w.idle());
}

TEST(RayClusterController, makes_up_for_pods_that_are_lost) {
  World w;
  w.make(sample(2));
  const std::string head = w.head().metadata.name;
  w.cluster.remove<model::Pod>(w.workers().at(0).metadata.name);
  w.cluster.remove<model::Pod>(head);
  w.settle();
  EXPECT_EQ(w.workers().size(), 2u);
  EXPECT_NE(w.head().metadata.name, head);
  EXPECT_EQ(w.read().status.head.pod_name, w.head().metadata.name);
  const std::string failing = w.workers().at(0).metadata.name;
  w.cluster.patch<model::Pod>(failing, R"({"status":{"phase":"Failed"}})", "status");
  w.settle();
  EXPECT_EQ(w.cluster.get<model::Pod>(failing), nullptr);
  EXPECT_EQ(w.workers().size(), 2u);
}

TEST(RayClusterController, suspends_and_resumes) {
  World w;
  w.make(sample(1));
  w.cluster.patch<model::RayCluster>("demo", R"({"spec":{"suspend":true}})");
  w.settle();
  EXPECT_TRUE(w.cluster.list<model::Pod>().empty());
  EXPECT_EQ(w.read().status.state, "suspended");
  EXPECT_TRUE(model::is_condition_true(w.read().status.conditions, "RayClusterSuspended"));
  EXPECT_NE(w.cluster.get<model::Service>("demo-head-svc"), nullptr);
  EXPECT_TRUE(w.idle());
  w.cluster.patch<model::RayCluster>("demo", R"({"spec":{"suspend":false}})");
  w.settle();
  EXPECT_EQ(w.cluster.list<model::Pod>().size(), 2u);
  EXPECT_EQ(w.read().status.state, "ready");
  EXPECT_FALSE(model::is_condition_true(w.read().status.conditions, "RayClusterSuspended"));
}

TEST(RayClusterController, a_deleted_cluster_takes_everything_along) {
  World w;
  w.make(sample(1));
  w.cluster.remove<model::RayCluster>("demo", {.propagation_policy = "Background"});
  w.cluster.settle(seconds(5));
  EXPECT_TRUE(w.cluster.list<model::Pod>().empty());
  EXPECT_EQ(w.cluster.get<model::Service>("demo-head-svc"), nullptr);
}

TEST(RayClusterController, leaves_clusters_of_other_controllers_alone) {
  World w;
  w.make(sample(1, R"("managedBy":"kueue.x-k8s.io/multikueue",)"));
  EXPECT_TRUE(w.cluster.list<model::Pod>().empty());
}

TEST(RayClusterController, gives_way_to_an_operator_that_comes_later) {
  World w;
  w.make(sample(1));
  EXPECT_EQ(w.workers().size(), 1u);
  w.cluster.create<model::Deployment>(
      R"({"metadata":{"name":"kuberay-operator"},"spec":{"selector":{"matchLabels":{"a":"b"}},)"
      R"("template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c",)"
      R"("image":"x"}]}}}})");
  w.cluster.settle(std::chrono::minutes(2));
  // Whatever is asked for now is the operator's business.
  w.cluster.patch<model::RayCluster>("demo", R"({"spec":{"workerGroupSpecs":[]}})");
  w.settle();
  EXPECT_EQ(w.workers().size(), 1u);
}

}  // namespace
}  // namespace codeflare::controllers::raycluster
