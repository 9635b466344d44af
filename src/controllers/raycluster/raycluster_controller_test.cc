#include "controllers/raycluster/raycluster_controller.h"

#include "controllers/crds/ensure_crds.h"
#include "controllers/fakenode/fake_nodes.h"
#include "controllers/raycluster/testing/sample.h"
#include "controllers/testing/embedded_cluster.h"
#include "model/codec/apps.h"
#include "model/codec/core.h"
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
  std::shared_ptr<KubeRayWatch> kuberay = std::make_shared<KubeRayWatch>(cluster.client, Logger());
  RayClusterReconciler* reconciler = nullptr;

  World() {
    auto crds = *run(cluster.env.loop, ensure_crds(cluster.client, {.ray_cluster = true}));
    EXPECT_TRUE(crds) << crds.error().to_string();
    auto nodes = *run(cluster.env.loop, fakenode::register_fake_nodes(cluster.client, {}));
    EXPECT_TRUE(nodes) << nodes.error().to_string();
    fakenode::add_fake_node_controllers(cluster.manager);
    reconciler = &add_raycluster_controller(cluster.manager, kuberay);
    cluster.manager.add_work([this] { return kuberay->run(); });
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

TEST(RayClusterController, makes_the_account_of_an_autoscaler_before_its_head) {
  World w;
  w.make(sample(1, R"("enableInTreeAutoscaling":true,)"));
  EXPECT_NE(w.cluster.get<model::ServiceAccount>("demo"), nullptr);
  const model::Pod head = w.head();
  EXPECT_EQ(head.spec.service_account_name, "demo");
  EXPECT_EQ(head.spec.containers.size(), 2u);
  EXPECT_EQ(w.workers().size(), 1u);
  EXPECT_TRUE(w.idle());
}

constexpr std::string_view kOperatorDeployment =
    R"({"metadata":{"name":"kuberay-operator"},"spec":{"selector":{"matchLabels":{"a":"b"}},)"
    R"("template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c",)"
    R"("image":"x"}]}}}})";

// An operator writes it when the operator begins to lead.
std::string lease(World& w) {
  return R"({"metadata":{"name":"ray-operator-leader"},"spec":{"holderIdentity":"h","renewTime":")" +
         to_rfc3339(w.cluster.env.clock.wall(), 6) + R"("}})";
}

TEST(RayClusterController, gives_way_to_an_operator_and_takes_over_when_it_is_gone) {
  World w;
  w.make(sample(1));
  EXPECT_EQ(w.workers().size(), 1u);
  w.cluster.create<model::Deployment>(std::string(kOperatorDeployment));
  w.cluster.settle(milliseconds(100));
  // From its first second on the operator decides.
  w.cluster.patch<model::RayCluster>("demo", R"({"spec":{"workerGroupSpecs":[]}})");
  w.settle();
  EXPECT_EQ(w.workers().size(), 1u);
  w.cluster.remove<model::Deployment>("kuberay-operator");
  w.cluster.settle(seconds(50));
  EXPECT_EQ(w.workers().size(), 1u);
  w.cluster.settle(seconds(15));
  EXPECT_TRUE(w.workers().empty());
}

TEST(RayClusterController, looks_for_an_operator_before_it_creates_a_head) {
  World w;
  // The watch has not told yet: both are written before the controller gets to run.
  auto both = [](World& world) -> Task<Result<void>> {
    CO_TRY(co_await world.cluster.client.create(model::resource_type<model::Lease>(), "default",
                                                lease(world)));
    CO_TRY(co_await world.cluster.client.create(model::resource_type<model::RayCluster>(),
                                                "default", sample(1)));
    co_return Result<void>();
  };
  ASSERT_TRUE(*run(w.cluster.env.loop, both(w)));
  w.settle();
  EXPECT_TRUE(w.cluster.list<model::Pod>().empty());
  w.cluster.settle(seconds(70));
  w.settle();
  EXPECT_EQ(w.cluster.list<model::Pod>().size(), 2u);
}

TEST(RayClusterController, removes_a_second_head_after_a_hand_over) {
  World w;
  w.make(sample(1));
  const std::string first = w.head().metadata.name;
  w.cluster.create<model::Lease>(lease(w));
  w.cluster.settle(milliseconds(100));
  // The operator had not seen ours when it made its own.
  model::Pod second = w.head();
  second.metadata = {.name = "demo-head-other",
                     .ns = "default",
                     .labels = second.metadata.labels,
                     .owner_references = second.metadata.owner_references};
  second.spec.node_name.clear();
  second.status = {};
  w.cluster.create<model::Pod>(model::to_json_text(second));
  w.cluster.settle(seconds(2));
  EXPECT_EQ(w.head().metadata.name, first);
  EXPECT_EQ(w.workers().size(), 1u);
}

}  // namespace
}  // namespace codeflare::controllers::raycluster
