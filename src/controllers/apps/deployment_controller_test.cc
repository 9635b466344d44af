#include "controllers/apps/deployment_controller.h"

#include "controllers/apps/apps_world.h"
#include "controllers/apps/template_hash.h"
#include "runtime/testing/idempotence.h"

#include <map>

namespace codeflare::controllers::apps {
namespace {

struct World : AppsWorld {
  explicit World(std::string_view spec) {
    cluster.create<model::Deployment>(workload("Deployment", spec));
    cluster.settle();
  }
  model::Deployment read() { return cluster.read<model::Deployment>("web"); }
  void patch(std::string body) {
    cluster.patch<model::Deployment>("web", std::move(body));
    cluster.settle();
  }
  void set_image(std::string_view image) { patch(R"({"spec":{)" + pod_template(image) + "}}"); }
  // Replicas asked for by image.
  std::map<std::string, int> by_image() {
    std::map<std::string, int> found;
    for (const model::ReplicaSet& set : cluster.list<model::ReplicaSet>()) {
      found[set.spec.pod_template.spec.containers.at(0).image] += set.spec.replicas.value_or(1);
    }
    return found;
  }
  const model::Condition progressing() {
    const model::Deployment deployment = read();
    const model::Condition* found =
        model::find_condition(deployment.status.conditions, "Progressing");
    return found == nullptr ? model::Condition() : *found;
  }
};

using Images = std::map<std::string, int>;

TEST(DeploymentController, makes_one_replica_set_and_says_how_far_it_is) {
  World w(R"("replicas":2,)");
  const auto sets = w.cluster.list<model::ReplicaSet>();
  ASSERT_EQ(sets.size(), 1u);
  const std::string hash = sets[0].metadata.labels.at(std::string(kTemplateHashLabel));
  EXPECT_EQ(sets[0].metadata.name, "web-" + hash);
  EXPECT_EQ(sets[0].spec.selector->match_labels.at(std::string(kTemplateHashLabel)), hash);
  EXPECT_EQ(sets[0].metadata.annotations.at(std::string(kRevision)), "1");
  EXPECT_EQ(w.read().metadata.annotations.at(std::string(kRevision)), "1");
  EXPECT_EQ(w.names().size(), 2u);
  EXPECT_TRUE(w.has_event("ScalingReplicaSet",
                          "Scaled up replica set " + sets[0].metadata.name + " from 0 to 2"));
  EXPECT_FALSE(model::is_condition_true(w.read().status.conditions, "Available"));
  w.run_until_quiet();
  const model::Deployment done = w.read();
  EXPECT_EQ(done.status.replicas, 2);
  EXPECT_EQ(done.status.updated_replicas, 2);
  EXPECT_EQ(done.status.available_replicas, 2);
  EXPECT_EQ(done.status.unavailable_replicas, 0);
  EXPECT_TRUE(model::is_condition_true(done.status.conditions, "Available"));
  EXPECT_EQ(w.progressing().reason, "NewReplicaSetAvailable");
  EXPECT_EQ(w.progressing().message,
            "ReplicaSet \"" + sets[0].metadata.name + "\" has successfully progressed.");
}

TEST(DeploymentController, rolls_without_going_below_or_above_what_is_allowed) {
  World w(R"("replicas":4,"strategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":1}},)");
  w.run_until_quiet();
  w.set_image("two");
  bool both = false;
  for (int round = 0; round < 30 && w.by_image() != Images{{"one", 0}, {"two", 4}}; ++round) {
    const Images images = w.by_image();
    EXPECT_LE(images.at("one") + images.at("two"), 5);
    const auto pods = w.pods();
    const auto ready = std::ranges::count_if(pods, [](const model::Pod& pod) {
      return model::is_condition_true(pod.status.conditions, "Ready");
    });
    EXPECT_GE(ready, 3);
    both = both || (images.at("one") > 0 && images.at("two") > 0);
    for (const model::Pod& pod : pods) {
      if (!model::is_condition_true(pod.status.conditions, "Ready")) {
        w.set_ready(pod.metadata.name);
        break;  // one at a time
      }
    }
    w.cluster.settle();
  }
  EXPECT_TRUE(both);
  EXPECT_EQ(w.by_image(), (Images{{"one", 0}, {"two", 4}}));
  w.run_until_quiet();
  EXPECT_EQ(w.progressing().reason, "NewReplicaSetAvailable");
  EXPECT_EQ(w.read().metadata.annotations.at(std::string(kRevision)), "2");
  EXPECT_EQ(w.read().metadata.generation, 2);  // of the new image, and of nothing that we wrote
}

TEST(DeploymentController, a_broken_update_stops_and_is_reported_after_its_deadline) {
  World w(R"("replicas":4,"progressDeadlineSeconds":60,)");
  w.run_until_quiet();
  w.set_image("broken");  // its pods never become ready
  EXPECT_EQ(w.by_image(), (Images{{"broken", 2}, {"one", 3}}));
  w.cluster.settle(std::chrono::seconds(70));
  EXPECT_EQ(w.progressing().status, "False");
  EXPECT_EQ(w.progressing().reason, "ProgressDeadlineExceeded");
  EXPECT_TRUE(model::is_condition_true(w.read().status.conditions, "Available"));
  // Back to what worked: the old set is the new one again.
  w.set_image("one");
  w.run_until_quiet();
  EXPECT_EQ(w.by_image(), (Images{{"broken", 0}, {"one", 4}}));
  EXPECT_EQ(w.read().metadata.annotations.at(std::string(kRevision)), "3");
  EXPECT_EQ(w.progressing().reason, "NewReplicaSetAvailable");
}

TEST(DeploymentController, a_rollback_remembers_the_revisions_a_set_has_had) {
  World w(R"("replicas":1,)");
  w.run_until_quiet();
  w.set_image("two");
  w.run_until_quiet();
  w.set_image("one");
  w.run_until_quiet();
  for (const model::ReplicaSet& set : w.cluster.list<model::ReplicaSet>()) {
    const bool first = set.spec.pod_template.spec.containers.at(0).image == "one";
    EXPECT_EQ(set.metadata.annotations.at(std::string(kRevision)), first ? "3" : "2");
    EXPECT_EQ(model::find_or_empty(set.metadata.annotations, kRevisionHistory), first ? "1" : "");
  }
}

TEST(DeploymentController, recreate_waits_until_every_old_pod_is_gone) {
  World w(R"("replicas":2,"strategy":{"type":"Recreate"},)");
  w.run_until_quiet();
  // One of them takes its time to go.
  const std::string slow = w.names().at(0);
  w.cluster.patch<model::Pod>(slow, R"({"metadata":{"finalizers":["test/hold"]}})");
  w.set_image("two");
  EXPECT_EQ(w.by_image(), (Images{{"one", 0}}));
  EXPECT_TRUE(w.names().empty());
  w.cluster.patch<model::Pod>(slow, R"({"metadata":{"finalizers":null}})");
  w.cluster.settle();
  EXPECT_EQ(w.by_image(), (Images{{"one", 0}, {"two", 2}}));
  EXPECT_EQ(w.names().size(), 2u);
}

TEST(DeploymentController, scales_and_shares_out_in_the_middle_of_a_rollout) {
  World w(R"("replicas":4,)");
  w.run_until_quiet();
  w.patch(R"({"spec":{"replicas":6}})");
  EXPECT_EQ(w.by_image(), (Images{{"one", 6}}));
  w.run_until_quiet();
  w.set_image("two");  // 25 % of 6: two more, one fewer
  EXPECT_EQ(w.by_image(), (Images{{"one", 5}, {"two", 3}}));
  w.patch(R"({"spec":{"replicas":12}})");
  // 15 pods are allowed; 5 and 3 of 8 become 9 and 6 in proportion.
  EXPECT_EQ(w.by_image(), (Images{{"one", 9}, {"two", 6}}));
  w.run_until_quiet();
  EXPECT_EQ(w.by_image(), (Images{{"one", 0}, {"two", 12}}));
  w.patch(R"({"spec":{"replicas":0}})");
  w.cluster.settle();
  EXPECT_TRUE(w.names().empty());
}

TEST(DeploymentController, a_paused_one_scales_but_does_not_roll) {
  World w(R"("replicas":2,)");
  w.run_until_quiet();
  w.patch(R"({"spec":{"paused":true}})");
  EXPECT_EQ(w.progressing().reason, "DeploymentPaused");
  w.set_image("two");
  w.patch(R"({"spec":{"replicas":3}})");
  EXPECT_EQ(w.by_image(), (Images{{"one", 3}}));
  w.patch(R"({"spec":{"paused":false}})");
  w.run_until_quiet();
  EXPECT_EQ(w.by_image(), (Images{{"one", 0}, {"two", 3}}));
}

TEST(DeploymentController, forgets_what_is_beyond_its_history_limit) {
  World w(R"("replicas":1,"revisionHistoryLimit":1,)");
  w.run_until_quiet();
  for (const char* image : {"two", "three", "four"}) {
    w.set_image(image);
    w.run_until_quiet();
  }
  EXPECT_EQ(w.by_image(), (Images{{"four", 1}, {"three", 0}}));
}

TEST(DeploymentController, a_name_that_is_taken_gives_another_hash) {
  AppsWorld w;
  // Learn the name first.
  w.cluster.create<model::Deployment>(workload("Deployment", ""));
  w.cluster.settle();
  const std::string name = w.cluster.list<model::ReplicaSet>().at(0).metadata.name;
  w.cluster.remove<model::Deployment>("web", {.propagation_policy = "Foreground"});
  w.cluster.settle();
  w.cluster.create<model::ReplicaSet>(
      R"({"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":")" + name +
      R"("},"spec":{"replicas":0,"selector":{"matchLabels":{"app":"other"}},"template":{)"
      R"("metadata":{"labels":{"app":"other"}},"spec":{"containers":[{"name":"c","image":"x"}]}}}})");
  w.cluster.create<model::Deployment>(workload("Deployment", ""));
  w.cluster.settle();
  EXPECT_EQ(w.cluster.read<model::Deployment>("web").status.collision_count, 1);
  EXPECT_EQ(w.names().size(), 1u);
}

TEST(DeploymentController, a_second_look_finds_nothing_to_do) {
  testing::EmbeddedCluster cluster;
  auto pods = std::make_shared<const WorkloadPods>(
      cluster.manager.cache().informer(model::resource_type<model::Pod>()));
  DeploymentReconciler& reconciler = add_deployment_controller(cluster.manager, pods);
  cluster.start();
  cluster.create<model::Deployment>(workload("Deployment", R"("replicas":3,)"));
  cluster.settle();
  EXPECT_TRUE(runtime::testing::is_idempotent(cluster.env, reconciler, {"default", "web"}));
}

}  // namespace
}  // namespace codeflare::controllers::apps
