#include "controllers/appwrapper/conditions.h"
#include "controllers/dispatch/agent_configs.h"
#include "controllers/dispatch/testing/dispatch_world.h"
#include "controllers/submitter/submitter.h"
#include "json/write.h"
#include "model/codec/managed_cluster.h"
#include "queue/marks.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace codeflare::controllers::dispatch {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::DispatchWorld;
using testing::kAppWrappers;
using testing::kManagedClusters;

model::ManagedCluster managed(DispatchWorld& world, const std::string& name) {
  const kube::ObjectRef object = world.hub->get(kManagedClusters, name);
  return object == nullptr ? model::ManagedCluster() : *object->as<model::ManagedCluster>();
}

std::string connected(DispatchWorld& world, const std::string& name) {
  const model::ManagedCluster cluster = managed(world, name);
  for (const model::Condition& condition : cluster.status.conditions) {
    if (condition.type == "Connected") {
      return condition.status + " " + condition.reason;
    }
  }
  return "none";
}

std::string queued_message(DispatchWorld& world, const std::string& name) {
  const std::optional<model::AppWrapper> wrapper = world.hub->wrapper(name);
  const model::AppWrapperCondition* queued =
      wrapper ? newest(wrapper->status, condition::kQueued) : nullptr;
  return queued == nullptr ? "" : queued->message;
}

TEST(AgentConfigs, are_files_and_names) {
  const auto good = parse_agent_configs("/home/me/a.yaml:east,C:b.yaml:west");
  ASSERT_TRUE(good.has_value());
  EXPECT_EQ(good->size(), 2u);
  EXPECT_EQ(good->back().file, "C:b.yaml");
  for (const char* bad : {"", "a.yaml", "a.yaml:", ":east", "a.yaml:East", "a.yaml:east,"}) {
    EXPECT_FALSE(parse_agent_configs(bad).has_value()) << bad;
  }
}

TEST(Dispatch, what_does_not_fit_here_runs_on_a_worker_and_ends_here) {
  DispatchWorld world({"east"});
  world.manage("east");
  world.settle(seconds(10));
  EXPECT_EQ(connected(world, "east"), "True Connected");
  world.hub->submit("a", 3, 60);
  world.settle(seconds(2));
  world.hub->submit("b", 3, 60);
  world.settle(seconds(5));
  EXPECT_EQ(world.hub->state("a") + " " + world.hub->state("b"), "Running Running");
  EXPECT_NE(world.where("a"), world.where("b"));
  EXPECT_EQ(managed(world, "east").status.dispatched, 1);
  world.settle(seconds(120));
  EXPECT_EQ(world.hub->state("a") + " " + world.hub->state("b"), "Completed Completed");
  EXPECT_EQ(world.hub->wrapper("a")->status.succeeded, 3);
  EXPECT_EQ(world.hub->wrapper("b")->status.succeeded, 3);
  // The copy stays for its logs until the hub's object goes.
  EXPECT_EQ(world.worker("east").list(kAppWrappers).size(), 1u);
  world.hub->remove(kAppWrappers, "a");
  world.hub->remove(kAppWrappers, "b");
  world.settle(seconds(60));
  EXPECT_EQ(world.worker("east").list(kAppWrappers).size(), 0u);
  EXPECT_EQ(world.hub->list(kAppWrappers).size(), 0u);
}

TEST(Dispatch, the_status_of_a_managed_cluster_has_numbers) {
  DispatchWorld world({"east"});
  world.manage("east", R"({"cost":2})");
  world.settle(seconds(10));
  const model::ManagedClusterStatus status = managed(world, "east").status;
  EXPECT_EQ(status.nodes, 1);
  EXPECT_EQ(status.capacity.get("cpu").to_string(), "4");
  EXPECT_EQ(status.free.get("cpu").to_string(), "4");
  EXPECT_EQ(status.server, "https://east");
  EXPECT_FALSE(status.cluster_id.empty());
  EXPECT_TRUE(status.last_seen.has_value());
}

TEST(Dispatch, nothing_runs_on_a_cluster_before_its_finalizer_and_its_identity_are_written) {
  for (const std::string closed : {"/managedclusters/east", "/managedclusters/east/status"}) {
    DispatchWorld world({"east"}, {.hub_nodes = 0});
    world.hub->gate.closed = closed;
    world.manage("east");
    world.settle(seconds(10));
    world.hub->submit("a", 1, 7200);
    world.settle(minutes(1));
    EXPECT_EQ(world.where("a"), "") << closed;
    EXPECT_TRUE(queued_message(world, "a").contains("finalizer and cluster ID"))
        << queued_message(world, "a");
    world.hub->gate.closed.clear();
    world.settle(seconds(10));
    EXPECT_EQ(world.where("a"), "east") << closed;
  }
}

TEST(Dispatch, a_cluster_that_loses_its_finalizer_gets_it_back) {
  DispatchWorld world({"east"}, {.hub_nodes = 0});
  world.manage("east");
  world.settle(seconds(10));
  world.hub->patch(kManagedClusters, "east", R"({"metadata":{"finalizers":[]}})");
  world.settle(seconds(10));
  EXPECT_EQ(managed(world, "east").metadata.finalizers.size(), 1u);
  world.hub->submit("a", 1, 7200);
  world.settle(seconds(5));
  EXPECT_EQ(world.where("a"), "east");
}

TEST(Dispatch, a_gang_stays_within_one_cluster) {
  DispatchWorld world({"east", "west"});
  world.manage("east");
  world.manage("west");
  world.settle(seconds(10));
  world.hub->submit("wide", 6);
  world.settle(seconds(20));
  EXPECT_EQ(world.hub->state("wide"), "Pending");
  EXPECT_EQ(world.where("wide"), "");
  EXPECT_TRUE(queued_message(world, "wide").contains("codeflare.dev/cluster"))
      << queued_message(world, "wide");
}

TEST(Dispatch, names_selector_preference_and_cost_decide_where) {
  DispatchWorld world({"east", "north", "west"});
  world.manage("east", R"({"cost":5})", R"({"gpu":"a100"})");
  world.manage("north", R"({"cost":1})", R"({"gpu":"t4"})");
  world.manage("west", R"({"cost":3})", R"({"gpu":"t4"})");
  world.settle(seconds(10));
  world.hub->submit("named", 1, 600, R"("dispatch.codeflare.dev/clusters":"west")");
  world.hub->submit("mcad", 1, 600, "",
                    R"("schedulingSpec":{"clusterScheduling":{"clusters":[{"name":"east"}]}},)");
  world.hub->submit("selected", 1, 600, R"("dispatch.codeflare.dev/cluster-selector":"gpu=a100")");
  world.hub->submit("preferred", 1, 600, R"("dispatch.codeflare.dev/prefer":"gpu=a100")");
  world.hub->submit("cheap", 1, 600, R"("dispatch.codeflare.dev/clusters":"east,north,west")");
  world.settle(seconds(10));
  EXPECT_EQ(world.where("named"), "west");
  EXPECT_EQ(world.where("mcad"), "east");
  EXPECT_EQ(world.where("selected"), "east");
  EXPECT_EQ(world.where("preferred"), "east");
  EXPECT_EQ(world.where("cheap"), "north");
}

TEST(Dispatch, a_cluster_with_an_object_of_that_name_or_without_the_namespace_is_ruled_out) {
  DispatchWorld world({"east", "west"}, {.hub_nodes = 0});
  world.manage("east");
  world.settle(seconds(10));
  world.worker("east").submit("taken", 1, 600);
  world.settle(seconds(3));
  const std::string theirs(world.worker("east").get(kAppWrappers, "taken")->uid());
  world.hub->submit("taken", 1, 600);
  world.settle(seconds(10));
  EXPECT_EQ(world.hub->state("taken"), "Pending");
  EXPECT_TRUE(queued_message(world, "taken").contains("has another AppWrapper default/taken"))
      << queued_message(world, "taken");
  EXPECT_EQ(world.worker("east").get(kAppWrappers, "taken")->uid(), theirs);
  world.manage("west");
  world.settle(seconds(15));
  EXPECT_EQ(world.hub->state("taken"), "Running");
  EXPECT_EQ(world.worker("east").get(kAppWrappers, "taken")->uid(), theirs);
}

TEST(Dispatch, a_cluster_that_does_not_start_it_in_time_gives_it_back) {
  DispatchWorld world({"east", "west"}, {.patience = seconds(20), .hub_nodes = 0});
  world.manage("east", R"({"cost":0})");
  world.manage("west", R"({"cost":9})");
  world.settle(seconds(10));
  // Its queue is paused: the hub cannot know.
  world.worker("east").create(
      {"", "v1", "ConfigMap", "configmaps", true},
      R"({"metadata":{"name":"codeflare-queue"},"data":{"paused":"true"}})");
  world.hub->submit("a", 1, 600);
  world.settle(seconds(10));
  EXPECT_EQ(world.worker("east").state("a"), "Pending");
  EXPECT_EQ(managed(world, "east").status.waiting, 1);
  world.settle(seconds(30));
  EXPECT_EQ(world.where("a"), "west");
  EXPECT_EQ(world.worker("east").state("a"), "none");
}

TEST(Dispatch, silence_concludes_nothing_and_a_worker_that_is_back_goes_on) {
  DispatchWorld world({"east", "west"}, {.hub_nodes = 0});
  world.manage("east", R"({"cost":0})");
  world.manage("west", R"({"cost":9})");
  world.settle(seconds(10));
  world.hub->submit("a", 3, 7200);
  world.settle(seconds(10));
  ASSERT_EQ(world.where("a"), "east");
  world.road("east").partition();
  world.settle(minutes(40));
  EXPECT_EQ(world.hub->state("a"), "Running");
  EXPECT_TRUE(world.hub->wrapper("a")->status.message.starts_with("ClusterLost: cluster east"))
      << world.hub->wrapper("a")->status.message;
  EXPECT_EQ(connected(world, "east"), "False Unreachable");
  EXPECT_EQ(world.where("a"), "east");
  // Nor does a hub that has forgotten everything.
  world.hub->kill();
  world.hub->start();
  world.settle(minutes(10));
  EXPECT_EQ(world.where("a"), "east");
  EXPECT_EQ(world.hub->state("a"), "Running");
  // New work goes elsewhere.
  world.hub->submit("b", 3, 7200);
  world.settle(seconds(10));
  EXPECT_EQ(world.where("b"), "west");
  world.road("east").heal();
  world.settle(minutes(10));
  EXPECT_EQ(world.hub->wrapper("a")->status.message, "");
  EXPECT_EQ(connected(world, "east"), "True Connected");
  world.settle(minutes(120));
  EXPECT_EQ(world.hub->state("a"), "Completed");
}

TEST(Dispatch, calls_to_a_silent_worker_leave_reconcilers_to_other_work) {
  DispatchWorld world({"east", "west"}, {.cpus = 64});
  world.manage("east");
  world.manage("west");
  world.settle(seconds(10));
  world.road("east").partition();
  // More than there are reconcilers; no probe has failed yet.
  for (int i = 0; i < 40; ++i) {
    world.hub->submit("east-" + std::to_string(i), 1, 7200,
                      R"("dispatch.codeflare.dev/clusters":"east")");
  }
  world.hub->submit("here", 1, 7200, R"("dispatch.codeflare.dev/clusters":"local")");
  world.hub->submit("there", 1, 7200, R"("dispatch.codeflare.dev/clusters":"west")");
  world.settle(seconds(3));
  ASSERT_EQ(connected(world, "east"), "True Connected");
  EXPECT_EQ(world.where("here"), "local");
  EXPECT_EQ(world.where("there"), "west");
  world.road("east").heal();
  world.settle(minutes(3));
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(world.where("east-" + std::to_string(i)), "east") << i;
  }
}

TEST(Dispatch, work_that_ended_before_its_withdrawal_arrived_does_not_run_again) {
  DispatchWorld world({"east", "west"}, {.hub_nodes = 0});
  world.manage("east", R"({"cost":0})");
  world.manage("west", R"({"cost":9})");
  world.settle(seconds(10));
  world.hub->submit("a", 3, 60);
  world.hub->submit("gone", 1, 60);
  world.settle(seconds(10));
  ASSERT_EQ(world.where("a"), "east");
  world.road("east").partition();
  world.settle(seconds(30));
  world.hub->patch(kAppWrappers, "a", R"({"spec":{"suspend":true}})");
  world.settle(minutes(2));
  ASSERT_EQ(world.worker("east").state("a"), "Completed");
  ASSERT_EQ(world.hub->wrapper("a")->status.can_run, false);
  world.hub->patch(kAppWrappers, "a", R"({"spec":{"suspend":false}})");
  world.hub->remove(kAppWrappers, "gone");
  world.settle(seconds(5));
  world.road("east").heal();
  world.settle(minutes(3));
  EXPECT_EQ(world.hub->state("a"), "Completed");
  EXPECT_EQ(world.hub->wrapper("a")->status.succeeded, 3);
  EXPECT_FALSE(world.hub->wrapper("a")->status.plan.has_value());
  EXPECT_EQ(world.where("a"), "east");
  // The copy stays for its logs; that of a deleted AppWrapper goes.
  EXPECT_EQ(world.worker("east").state("a"), "Completed");
  EXPECT_EQ(world.worker("east").state("gone"), "none");
  EXPECT_EQ(world.hub->get(kAppWrappers, "gone"), nullptr);
}

TEST(Dispatch, a_cluster_declared_lost_gives_its_work_to_others) {
  DispatchWorld world({"east", "west"}, {.hub_nodes = 0});
  world.manage("east", R"({"cost":0})");
  world.manage("west", R"({"cost":9})");
  world.settle(seconds(10));
  world.hub->submit("a", 3, 7200);
  world.settle(seconds(10));
  world.road("east").partition();
  world.settle(minutes(5));
  world.hub->patch(kManagedClusters, "east", R"({"spec":{"lost":true}})");
  world.settle(seconds(30));
  EXPECT_EQ(world.hub->state("a"), "Running");
  EXPECT_EQ(world.where("a"), "east west");  // what the administrator's word may cost
  world.hub->remove(kManagedClusters, "east");
  world.settle(seconds(30));
  EXPECT_EQ(world.hub->get(kManagedClusters, "east"), nullptr);
}

TEST(Dispatch, deletion_suspension_and_priority_reach_the_worker) {
  DispatchWorld world({"east"}, {.hub_nodes = 0});
  world.manage("east");
  world.settle(seconds(10));
  world.hub->submit("a", 1, 7200);
  world.hub->submit("b", 1, 7200);
  world.settle(seconds(10));
  world.hub->patch(kAppWrappers, "a", R"({"spec":{"priority":7}})");
  world.settle(seconds(10));
  EXPECT_EQ(world.worker("east").wrapper("a")->spec.priority, 7);
  world.gate("east").closed = "/appwrappers/a";
  world.hub->patch(kAppWrappers, "a", R"({"spec":{"priority":8}})");
  world.settle(seconds(10));
  world.gate("east").closed.clear();
  world.settle(seconds(40));
  EXPECT_EQ(world.worker("east").wrapper("a")->spec.priority, 8);
  world.hub->patch(kAppWrappers, "a", R"({"spec":{"suspend":true}})");
  world.hub->remove(kAppWrappers, "b");
  world.settle(seconds(60));
  EXPECT_EQ(world.worker("east").list(kAppWrappers).size(), 0u);
  EXPECT_EQ(world.hub->state("a"), "Pending");
  EXPECT_EQ(world.hub->get(kAppWrappers, "b"), nullptr);
  world.hub->patch(kAppWrappers, "a", R"({"spec":{"suspend":false}})");
  world.settle(seconds(10));
  EXPECT_EQ(world.where("a"), "east");
}

TEST(Dispatch, copies_without_business_are_removed_and_those_of_other_hubs_stay) {
  DispatchWorld world({"east"}, {.hub_nodes = 0});
  world.manage("east");
  world.settle(seconds(10));
  const std::string hub(
      world.hub->get({"", "v1", "Namespace", "namespaces", false}, "kube-system")->uid());
  for (const std::string& whose : {hub, std::string("another")}) {
    const std::string name = whose == hub ? "ours" : "theirs";
    world.worker("east").submit(
        name, 1, 7200,
        R"("dispatch.codeflare.dev/hub":")" + whose + R"(","dispatch.codeflare.dev/hub-uid":"x")");
    world.worker("east").patch(
        kAppWrappers, name,
        R"({"metadata":{"labels":{"dispatch.codeflare.dev/copy-of-hub":")" + whose + R"("}}})");
  }
  world.settle(minutes(2));
  EXPECT_EQ(world.worker("east").state("ours"), "none");
  EXPECT_EQ(world.worker("east").state("theirs"), "Running");
}

TEST(Dispatch, a_paused_cluster_gets_no_new_work_and_keeps_what_runs) {
  DispatchWorld world({"east", "west"}, {.hub_nodes = 0});
  world.manage("east", R"({"cost":0})");
  world.manage("west", R"({"cost":9})");
  world.settle(seconds(10));
  world.hub->submit("a", 1, 7200);
  world.settle(seconds(5));
  world.hub->patch(kManagedClusters, "east", R"({"spec":{"paused":true}})");
  world.settle(seconds(5));
  world.hub->submit("b", 1, 7200);
  world.settle(seconds(5));
  EXPECT_EQ(world.where("a"), "east");
  EXPECT_EQ(world.where("b"), "west");
}

std::string json_string(std::string_view text) {
  std::string body;
  json::Writer(body).string(text);
  return body;
}

// The user may create AppWrappers there.
void grant(testing::Site& site, const std::string& user) {
  site.create({"rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", false},
              R"({"metadata":{"name":"wrap"},"rules":[{"apiGroups":["workload.codeflare.dev"],)"
              R"("resources":["appwrappers"],"verbs":["create"]}]})");
  site.create(
      {"rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings", false},
      R"({"metadata":{"name":"wrap"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",)"
      R"("kind":"ClusterRole","name":"wrap"},"subjects":[{"apiGroup":"rbac.authorization.k8s.io",)"
      R"("kind":"User","name":")" +
          user + R"("}]})");
}

TEST(Dispatch, copies_are_created_as_the_submitter_where_the_cluster_lets_them) {
  LinkOptions links;
  links.submitters = SubmitterTrust{.built_in = true};
  DispatchWorld world({"east", "north", "west"}, {.links = std::move(links), .hub_nodes = 0});
  world.manage("east", R"({"cost":0})");
  world.manage("north", R"({"cost":5,"submitter":"Fixed","fixedUser":"robot"})");
  world.manage("west", R"({"cost":9})");
  grant(world.worker("west"), "ann");
  world.settle(seconds(10));
  const std::string by_ann =
      json_string(queue::kUserAnnotation) + ":" + json_string(record_of({"ann"}));
  world.hub->submit("a", 1, 7200, by_ann);
  world.settle(seconds(20));
  EXPECT_EQ(world.where("a"), "west") << "she has rights on that cluster alone";
  const std::string named = R"("dispatch.codeflare.dev/clusters":"east,north",)" + by_ann;
  world.hub->submit("b", 1, 7200, named);
  world.settle(seconds(20));
  EXPECT_EQ(world.where("b"), "");
  EXPECT_TRUE(queued_message(world, "b").contains("east rejects user ann"))
      << queued_message(world, "b");
  EXPECT_TRUE(queued_message(world, "b").contains("north rejects user robot"))
      << queued_message(world, "b");
  grant(world.worker("north"), "robot");
  world.settle(minutes(6));
  EXPECT_EQ(world.where("b"), "north") << "the fixed user may, five minutes later";
}

TEST(Dispatch, namespaces_are_created_on_workers_where_the_cluster_says_so) {
  DispatchWorld world({"east", "west"}, {.hub_nodes = 0});
  world.manage("east", R"({"cost":0})");
  world.manage("west", R"({"cost":9,"namespaces":"Create"})");
  world.settle(seconds(10));
  const model::ResourceType namespaces{"", "v1", "Namespace", "namespaces", false};
  world.hub->create(namespaces, R"({"metadata":{"name":"team"}})");
  world.hub->create(
      kAppWrappers,
      R"({"metadata":{"name":"a"},"spec":{"resources":{"GenericItems":[{"generictemplate":)"
      R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"a"},"spec":{"template":)"
      R"({"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i",)"
      R"("resources":{"requests":{"cpu":"1"}}}]}}}}}]}}})",
      "team");
  world.settle(seconds(20));
  EXPECT_EQ(world.worker("east").list(testing::kJobs).size(), 0u) << "it has no such namespace";
  EXPECT_EQ(world.worker("west").list(testing::kJobs).size(), 1u);
  EXPECT_EQ(world.worker("east").get(namespaces, "team"), nullptr);
  EXPECT_NE(world.worker("west").get(namespaces, "team"), nullptr);
}

TEST(Dispatch, a_kubeconfig_that_does_not_work_is_told_and_the_others_go_on) {
  DispatchWorld world({"east"}, {.hub_nodes = 0});
  world.manage("nowhere");
  world.hub->create(kManagedClusters, R"({"metadata":{"name":"bare"},"spec":{}})");
  world.hub->create(kManagedClusters, R"({"metadata":{"name":"local"},"spec":{}})");
  world.manage("east");
  world.hub->create(kManagedClusters,
                    R"({"metadata":{"name":"twin"},"spec":{"kubeconfigSecret":"cluster-east"}})");
  world.settle(seconds(20));
  EXPECT_EQ(connected(world, "nowhere"), "False SecretInvalid");
  EXPECT_EQ(connected(world, "bare"), "False SecretMissing");
  EXPECT_EQ(connected(world, "local"), "False NameInvalid");
  EXPECT_EQ(connected(world, "east"), "True Connected");
  EXPECT_EQ(connected(world, "twin"), "False ManagedTwice");
  world.hub->submit("a", 1, 7200);
  world.settle(seconds(5));
  EXPECT_EQ(world.where("a"), "east");
}

TEST(Dispatch, without_managed_clusters_nothing_is_watched_and_work_runs_here) {
  DispatchWorld world({});
  world.hub->submit("a", 1, 7200);
  world.settle(seconds(5));
  EXPECT_EQ(world.where("a"), "local");
  EXPECT_FALSE(queued_message(world, "a").contains("cluster"));
}

}  // namespace
}  // namespace codeflare::controllers::dispatch
