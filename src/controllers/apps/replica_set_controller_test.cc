#include "controllers/apps/replica_set_controller.h"

#include "controllers/apps/apps_world.h"
#include "runtime/testing/idempotence.h"

namespace codeflare::controllers::apps {
namespace {

struct World : AppsWorld {
  explicit World(std::string_view spec) {
    cluster.create<model::ReplicaSet>(workload("ReplicaSet", spec));
    cluster.settle();
  }
  model::ReplicaSet read() { return cluster.read<model::ReplicaSet>("web"); }
};

TEST(ReplicaSetController, keeps_as_many_pods_as_asked_for) {
  World w(R"("replicas":3,)");
  const auto pods = w.pods();
  ASSERT_EQ(pods.size(), 3u);
  EXPECT_EQ(pods[0].metadata.generate_name, "web-");
  EXPECT_EQ(pods[0].metadata.labels.at("app"), "web");
  ASSERT_NE(model::controller_of(pods[0].metadata), nullptr);
  EXPECT_EQ(model::controller_of(pods[0].metadata)->uid, w.read().metadata.uid);
  EXPECT_EQ(w.read().status.replicas, 3);
  EXPECT_EQ(w.read().status.fully_labeled_replicas, 3);
  EXPECT_EQ(w.read().status.ready_replicas, 0);
  EXPECT_EQ(w.read().status.observed_generation, 1);

  w.cluster.remove<model::Pod>(pods[1].metadata.name);
  w.cluster.settle();
  EXPECT_EQ(w.pods().size(), 3u);
}

TEST(ReplicaSetController, counts_ready_and_available_pods) {
  World w(R"("replicas":2,"minReadySeconds":30,)");
  w.all_ready();
  EXPECT_EQ(w.read().status.ready_replicas, 2);
  EXPECT_EQ(w.read().status.available_replicas, 0);
  w.cluster.settle(std::chrono::seconds(31));
  EXPECT_EQ(w.read().status.available_replicas, 2);
}

TEST(ReplicaSetController, scales_down_by_the_pods_that_are_worth_least) {
  World w(R"("replicas":3,)");
  const auto names = w.names();
  w.set_ready(names[0]);
  w.set_ready(names[2]);
  w.cluster.patch<model::ReplicaSet>("web", R"({"spec":{"replicas":2}})");
  w.cluster.settle();
  EXPECT_EQ(w.names(), (std::vector{names[0], names[2]}));
  w.cluster.patch<model::ReplicaSet>("web", R"({"spec":{"replicas":0}})");
  w.cluster.settle();
  EXPECT_TRUE(w.names().empty());
  EXPECT_EQ(w.read().status.replicas, 0);
}

TEST(ReplicaSetController, replaces_pods_that_have_ended) {
  World w(R"("replicas":1,)");
  const std::string first = w.names().at(0);
  w.cluster.patch<model::Pod>(first, R"({"status":{"phase":"Failed"}})", "status");
  w.cluster.settle();
  EXPECT_EQ(w.names().size(), 2u);
  EXPECT_EQ(w.read().status.replicas, 1);
}

TEST(ReplicaSetController, a_pod_that_is_relabelled_is_released_and_replaced) {
  World w(R"("replicas":1,)");
  const std::string first = w.names().at(0);
  w.cluster.patch<model::Pod>(first, R"({"metadata":{"labels":{"app":"debug"}}})");
  w.cluster.settle();
  EXPECT_EQ(w.names().size(), 2u);
  EXPECT_EQ(model::controller_of(w.cluster.read<model::Pod>(first).metadata), nullptr);
  // And adopted again when it fits again; then one is too many.
  w.cluster.patch<model::Pod>(first, R"({"metadata":{"labels":{"app":"web"}}})");
  w.cluster.settle();
  EXPECT_EQ(w.names().size(), 1u);
}

TEST(ReplicaSetController, adopts_a_lonely_pod_instead_of_making_one) {
  AppsWorld w;
  w.cluster.create<model::Pod>(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"lonely",)"
                               R"("labels":{"app":"web"}},"spec":{"containers":[{"name":"c",)"
                               R"("image":"x"}]}})");
  w.cluster.create<model::ReplicaSet>(workload("ReplicaSet", R"("replicas":1,)"));
  w.cluster.settle();
  EXPECT_EQ(w.names(), std::vector<std::string>{"lonely"});
  EXPECT_NE(model::controller_of(w.cluster.read<model::Pod>("lonely").metadata), nullptr);
}

TEST(ReplicaSetController, its_pods_go_with_it_or_stay_as_orphans) {
  World w(R"("replicas":2,)");
  w.cluster.remove<model::ReplicaSet>("web", {.propagation_policy = "Orphan"});
  w.cluster.settle();
  EXPECT_EQ(w.names().size(), 2u);
  EXPECT_EQ(model::controller_of(w.pods().at(0).metadata), nullptr);
  w.cluster.create<model::ReplicaSet>(workload("ReplicaSet", R"("replicas":2,)"));
  w.cluster.settle();
  EXPECT_EQ(w.names().size(), 2u);  // adopted
  w.cluster.remove<model::ReplicaSet>("web", {.propagation_policy = "Foreground"});
  w.cluster.settle();
  EXPECT_TRUE(w.names().empty());
  EXPECT_EQ(w.cluster.get<model::ReplicaSet>("web"), nullptr);
}

TEST(ReplicaSetController, a_second_look_finds_nothing_to_do) {
  testing::EmbeddedCluster cluster;
  auto pods = std::make_shared<const WorkloadPods>(
      cluster.manager.cache().informer(model::resource_type<model::Pod>()));
  ReplicaSetReconciler& reconciler = add_replica_set_controller(cluster.manager, pods);
  cluster.start();
  cluster.create<model::ReplicaSet>(workload("ReplicaSet", R"("replicas":3,)"));
  cluster.settle();
  EXPECT_EQ(cluster.list<model::Pod>().size(), 3u);
  EXPECT_TRUE(runtime::testing::is_idempotent(cluster.env, reconciler, {"default", "web"}));
  cluster.patch<model::ReplicaSet>("web", R"({"spec":{"replicas":1}})");
  cluster.settle();
  EXPECT_EQ(cluster.list<model::Pod>().size(), 1u);
  EXPECT_TRUE(runtime::testing::is_idempotent(cluster.env, reconciler, {"default", "web"}));
}

}  // namespace
}  // namespace codeflare::controllers::apps
