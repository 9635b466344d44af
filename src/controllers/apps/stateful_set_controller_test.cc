#include "controllers/apps/stateful_set_controller.h"

#include "controllers/apps/apps_world.h"
#include "controllers/apps/set_revision.h"
#include "controllers/apps/stateful_set_decision.h"
#include "runtime/testing/idempotence.h"

namespace codeflare::controllers::apps {
namespace {

using Names = std::vector<std::string>;

struct World : AppsWorld {
  explicit World(std::string_view spec) {
    cluster.create<model::StatefulSet>(
        workload("StatefulSet", R"("serviceName":"peers",)" + std::string(spec)));
    cluster.settle();
  }
  model::StatefulSet read() { return cluster.read<model::StatefulSet>("web"); }
  void patch(std::string body) {
    cluster.patch<model::StatefulSet>("web", std::move(body));
    cluster.settle();
  }
  void set_image(std::string_view image) { patch(R"({"spec":{)" + pod_template(image) + "}}"); }
  std::vector<std::string> images() {
    std::vector<std::string> found;
    for (const model::Pod& pod : pods()) {
      found.push_back(pod.spec.containers.at(0).image);
    }
    return found;
  }
};

TEST(StatefulSetController, makes_pods_in_order_each_after_the_one_before_is_ready) {
  World w(R"("replicas":3,)");
  EXPECT_EQ(w.names(), Names{"web-0"});
  w.set_ready("web-0");
  EXPECT_EQ(w.names(), (Names{"web-0", "web-1"}));
  w.cluster.settle(std::chrono::minutes(5));
  EXPECT_EQ(w.names(), (Names{"web-0", "web-1"}));
  w.run_until_quiet();
  EXPECT_EQ(w.names(), (Names{"web-0", "web-1", "web-2"}));
  const model::Pod pod = w.pods().at(1);
  EXPECT_EQ(pod.spec.hostname, "web-1");
  EXPECT_EQ(pod.spec.subdomain, "peers");
  EXPECT_EQ(pod.metadata.labels.at("statefulset.kubernetes.io/pod-name"), "web-1");
  EXPECT_EQ(pod.metadata.labels.at("apps.kubernetes.io/pod-index"), "1");
  const model::StatefulSetStatus status = w.read().status;
  EXPECT_EQ(status.replicas, 3);
  EXPECT_EQ(status.ready_replicas, 3);
  EXPECT_EQ(status.available_replicas, 3);
  EXPECT_EQ(status.current_replicas, 3);
  EXPECT_EQ(status.current_revision, status.update_revision);
  EXPECT_EQ(pod.metadata.labels.at(std::string(kRevisionHashLabel)), status.update_revision);
}

TEST(StatefulSetController, scales_down_from_the_highest_and_keeps_the_claims) {
  World w(
      R"("replicas":2,"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"accessModes":)"
      R"(["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}],)");
  w.run_until_quiet();
  const model::Pod second = w.pods().at(1);
  ASSERT_FALSE(second.spec.volumes.empty());
  EXPECT_EQ(second.spec.volumes[0].persistent_volume_claim->claim_name, "data-web-1");
  EXPECT_EQ(w.cluster.list<model::PersistentVolumeClaim>().size(), 2u);
  EXPECT_EQ(w.cluster.read<model::PersistentVolumeClaim>("data-web-0").metadata.labels.at("app"),
            "web");
  w.patch(R"({"spec":{"replicas":1}})");
  EXPECT_EQ(w.names(), Names{"web-0"});
  EXPECT_EQ(w.cluster.list<model::PersistentVolumeClaim>().size(), 2u);
  w.patch(R"({"spec":{"replicas":2}})");
  EXPECT_EQ(w.names(), (Names{"web-0", "web-1"}));
}

TEST(StatefulSetController, parallel_sets_do_not_wait) {
  World w(R"("replicas":3,"podManagementPolicy":"Parallel",)");
  EXPECT_EQ(w.names().size(), 3u);
  w.patch(R"({"spec":{"replicas":0}})");
  EXPECT_TRUE(w.names().empty());
}

TEST(StatefulSetController, updates_from_the_highest_ordinal_one_at_a_time) {
  World w(R"("replicas":3,)");
  w.run_until_quiet();
  const std::string before = w.read().status.current_revision;
  w.set_image("two");
  EXPECT_EQ(w.images(), (Names{"one", "one", "two"}));
  w.cluster.settle(std::chrono::minutes(1));
  EXPECT_EQ(w.images(), (Names{"one", "one", "two"}));  // it is not ready
  EXPECT_EQ(w.read().status.updated_replicas, 1);
  EXPECT_EQ(w.read().status.current_revision, before);
  w.run_until_quiet();
  EXPECT_EQ(w.images(), (Names{"two", "two", "two"}));
  EXPECT_EQ(w.read().status.current_revision, w.read().status.update_revision);
  EXPECT_NE(w.read().status.current_revision, before);
}

TEST(StatefulSetController, a_partition_keeps_the_lower_ordinals_back_even_when_they_are_remade) {
  World w(
      R"("replicas":3,"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":2}},)");
  w.run_until_quiet();
  w.set_image("two");
  w.run_until_quiet();
  EXPECT_EQ(w.images(), (Names{"one", "one", "two"}));
  w.cluster.remove<model::Pod>("web-0");
  w.cluster.settle();
  EXPECT_EQ(w.images(), (Names{"one", "one", "two"}));
}

TEST(StatefulSetController, on_delete_updates_only_what_somebody_removes) {
  World w(R"("replicas":2,"updateStrategy":{"type":"OnDelete"},)");
  w.run_until_quiet();
  w.set_image("two");
  w.run_until_quiet();
  EXPECT_EQ(w.images(), (Names{"one", "one"}));
  w.cluster.remove<model::Pod>("web-0");
  w.cluster.settle();
  EXPECT_EQ(w.images(), (Names{"two", "one"}));
}

TEST(StatefulSetController, replaces_a_pod_that_has_failed) {
  World w(R"("replicas":1,)");
  w.run_until_quiet();
  const std::string first = w.pods().at(0).metadata.uid;
  w.cluster.patch<model::Pod>("web-0", R"({"status":{"phase":"Failed"}})", "status");
  w.cluster.settle();
  ASSERT_EQ(w.names(), Names{"web-0"});
  EXPECT_NE(w.pods().at(0).metadata.uid, first);
}

TEST(StatefulSetController, an_earlier_template_gets_its_old_revision_back) {
  World w(R"("replicas":1,)");
  w.run_until_quiet();
  const std::string first = w.read().status.update_revision;
  w.set_image("two");
  w.run_until_quiet();
  w.set_image("one");
  w.run_until_quiet();
  EXPECT_EQ(w.read().status.update_revision, first);
  EXPECT_EQ(w.images(), Names{"one"});
}

TEST(StatefulSetController, ordinals_are_read_from_names) {
  EXPECT_EQ(ordinal_of("web-0", "web"), 0);
  EXPECT_EQ(ordinal_of("web-12", "web"), 12);
  EXPECT_EQ(ordinal_of("web-a-1", "web-a"), 1);
  for (const char* other :
       {"web", "web-", "web-x", "web-01", "web-1x", "web2-1", "we-1", "web--1"}) {
    EXPECT_EQ(ordinal_of(other, "web"), -1) << other;
  }
}

TEST(StatefulSetController, a_second_look_finds_nothing_to_do) {
  testing::EmbeddedCluster cluster;
  auto pods = std::make_shared<const WorkloadPods>(
      cluster.manager.cache().informer(model::resource_type<model::Pod>()));
  StatefulSetReconciler& reconciler = add_stateful_set_controller(cluster.manager, pods);
  cluster.start();
  cluster.create<model::StatefulSet>(workload("StatefulSet",
                                              R"("serviceName":"peers","replicas":2,)"
                                              R"("podManagementPolicy":"Parallel",)"));
  cluster.settle();
  EXPECT_EQ(cluster.list<model::Pod>().size(), 2u);
  EXPECT_TRUE(runtime::testing::is_idempotent(cluster.env, reconciler, {"default", "web"}));
  cluster.patch<model::StatefulSet>("web", R"({"spec":{"replicas":1}})");
  cluster.settle();
  EXPECT_EQ(cluster.list<model::Pod>().size(), 1u);
  EXPECT_TRUE(runtime::testing::is_idempotent(cluster.env, reconciler, {"default", "web"}));
}

}  // namespace
}  // namespace codeflare::controllers::apps
