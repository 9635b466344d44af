#include "controllers/dispatch/copy_object.h"
#include "controllers/dispatch/marks.h"
#include "controllers/dispatch/testing/dispatch_world.h"
#include "json/parse.h"
#include "json/write.h"
#include "model/codec/training_job.h"
#include "model/condition.h"
#include "queue/marks.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace codeflare::controllers::dispatch {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::DispatchWorld;
using testing::kManagedClusters;
using testing::kTrainingJobs;

constexpr const char* kOneToThree = R"("minSize":1,"maxSize":3,)";

DispatchWorld::Options training() {
  return {.hub_nodes = 0, .training_jobs = true};
}

model::TrainingJobStatus status(testing::Site& site, const std::string& name) {
  return site.training_job(name).status;
}

std::string node_of(const model::TrainingJobStatus& status) {
  return status.plan && !status.plan->places.empty() ? status.plan->places.front().node : "";
}

TEST(DispatchTraining, runs_on_a_worker_and_its_end_shows_here) {
  DispatchWorld world({"east"}, training());
  world.manage("east");
  world.settle(seconds(10));
  world.hub->train("bert", kOneToThree, 300);
  world.settle(seconds(20));
  model::TrainingJobStatus here = status(*world.hub, "bert");
  EXPECT_EQ(here.stage, "Running");
  EXPECT_TRUE(node_of(here).starts_with("east/")) << node_of(here);
  EXPECT_EQ(here.current_size, 3);
  EXPECT_EQ(here.ready_size, 3);
  EXPECT_EQ(here.message, "3 of 3 workers ready");
  const model::Condition* sent = model::find_condition(here.conditions, "Dispatched");
  ASSERT_NE(sent, nullptr);
  EXPECT_EQ(sent->status + " " + sent->message, "True cluster east");
  EXPECT_EQ(world.workers_of("bert"), "east 3");
  world.settle(minutes(6));
  here = status(*world.hub, "bert");
  EXPECT_EQ(here.stage, "Completed");
  EXPECT_TRUE(model::is_condition_true(here.conditions, "Succeeded"));
  EXPECT_FALSE(here.plan.has_value());
  EXPECT_TRUE(here.completion_time.has_value());
  // The copy stays for its logs until the hub's object goes.
  EXPECT_EQ(status(world.worker("east"), "bert").stage, "Completed");
  world.hub->remove(kTrainingJobs, "bert");
  world.settle(seconds(30));
  EXPECT_EQ(world.worker("east").get(kTrainingJobs, "bert"), nullptr);
  EXPECT_EQ(world.hub->get(kTrainingJobs, "bert"), nullptr);
}

TEST(DispatchTraining, bounds_size_and_priority_reach_the_worker) {
  DispatchWorld world({"east"}, training());
  world.manage("east");
  world.settle(seconds(10));
  world.hub->train("bert", kOneToThree);
  world.settle(seconds(20));
  ASSERT_EQ(world.workers_of("bert"), "east 3");
  world.hub->patch(kTrainingJobs, "bert", R"({"spec":{"maxSize":4,"priority":7}})");
  world.settle(minutes(3));
  EXPECT_EQ(world.workers_of("bert"), "east 4");
  EXPECT_EQ(world.worker("east").training_job("bert").spec.priority, 7);
  world.hub->patch(kTrainingJobs, "bert", R"({"spec":{"desiredSize":2}})");
  world.settle(minutes(3));
  EXPECT_EQ(world.workers_of("bert"), "east 2");
  EXPECT_EQ(status(*world.hub, "bert").current_size, 2);
  EXPECT_EQ(status(*world.hub, "bert").stage, "Running");
}

// The sizes of a copy whose plan has `size` places.
std::string sizes_of_copy(const model::TrainingJobSpec& spec, std::int64_t size) {
  model::TrainingJob job;
  job.spec = spec;
  const model::AppWrapper wrapper = as_wrapper(job);
  const RemoteWork work{wrapper, &job, size};
  const std::string patch = wanted_patch({wrapper, job}, work);
  const json::Document read = *json::parse(patch);
  std::string text;
  for (const char* key : {"minSize", "maxSize", "sizeStep", "desiredSize", "sizes"}) {
    const json::Value* value = read.root.get({"spec", key});
    text += (text.empty() ? "" : " ") + (value == nullptr ? "none" : json::to_text(*value));
  }
  return text;
}

TEST(DispatchTraining, a_copy_never_has_bounds_beyond_the_plan) {
  EXPECT_EQ(sizes_of_copy({.min_size = 2, .max_size = 4}, 3), "2 4 null 3 null");
  EXPECT_EQ(sizes_of_copy({.min_size = 4, .max_size = 8}, 3), "3 8 null 3 null");
  EXPECT_EQ(sizes_of_copy({.max_size = 4}, 1), "null 4 null 1 null");
  EXPECT_EQ(sizes_of_copy({.min_size = 4, .max_size = 8, .size_step = 2}, 2), "2 8 2 2 null");
  EXPECT_EQ(sizes_of_copy({.min_size = 4, .max_size = 8, .size_step = 2}, 3), "3 3 null 3 null");
  EXPECT_EQ(sizes_of_copy({.min_size = 4, .sizes = {2, 4, 8}}, 2), "2 null null 2 [2,4,8]");
  EXPECT_EQ(sizes_of_copy({.sizes = {2, 4, 8}}, 1), "1 1 null 1 null");
}

TEST(DispatchTraining, a_copy_with_the_sizes_of_its_plan_is_as_wanted) {
  model::TrainingJob job;
  job.spec.min_size = 4;
  job.spec.max_size = 8;
  CopyObject copy{as_wrapper(job), job};
  const model::AppWrapper wrapper = as_wrapper(job);
  copy.job->spec.desired_size = 3;
  EXPECT_FALSE(is_as_wanted(copy, {wrapper, &job, 3}));
  copy.job->spec.min_size = 3;
  EXPECT_TRUE(is_as_wanted(copy, {wrapper, &job, 3}));
  EXPECT_FALSE(is_as_wanted(copy, {wrapper, &job, 4}));
}

TEST(DispatchTraining, a_size_that_could_not_be_written_is_written_later) {
  DispatchWorld world({"east"}, training());
  world.manage("east");
  world.settle(seconds(10));
  world.hub->train("bert", kOneToThree);
  world.settle(seconds(20));
  ASSERT_EQ(world.workers_of("bert"), "east 3");
  world.gate("east").closed = "/trainingjobs/bert";
  world.hub->patch(kTrainingJobs, "bert", R"({"spec":{"desiredSize":2}})");
  world.settle(seconds(15));
  EXPECT_EQ(world.workers_of("bert"), "east 3");
  world.gate("east").closed.clear();
  world.settle(seconds(30));
  EXPECT_EQ(world.workers_of("bert"), "east 2");
}

TEST(DispatchTraining, shrinks_on_its_worker_for_work_that_the_hub_sends_there) {
  DispatchWorld world({"east"}, training());
  world.manage("east");
  world.settle(seconds(10));
  world.hub->train("bert", R"("minSize":1,"maxSize":4,)");
  world.settle(seconds(20));
  ASSERT_EQ(world.workers_of("bert"), "east 4");
  world.hub->submit("a", 2, 7200, "", R"("priority":5,)");
  world.settle(minutes(5));
  EXPECT_EQ(world.where("a"), "east");
  EXPECT_EQ(world.workers_of("bert"), "east 2");
}

TEST(DispatchTraining, suspension_and_deletion_take_the_copy_back) {
  DispatchWorld world({"east"}, training());
  world.manage("east");
  world.settle(seconds(10));
  world.hub->train("bert", kOneToThree);
  world.settle(seconds(20));
  ASSERT_EQ(world.workers_of("bert"), "east 3");
  world.hub->patch(kTrainingJobs, "bert", R"({"spec":{"runPolicy":{"suspend":true}}})");
  world.settle(minutes(1));
  EXPECT_EQ(world.workers_of("bert"), "");
  EXPECT_EQ(world.worker("east").get(kTrainingJobs, "bert"), nullptr);
  EXPECT_EQ(status(*world.hub, "bert").stage, "Suspended");
  EXPECT_FALSE(status(*world.hub, "bert").plan.has_value());
  world.hub->patch(kTrainingJobs, "bert", R"({"spec":{"runPolicy":{"suspend":false}}})");
  world.settle(minutes(1));
  EXPECT_EQ(world.workers_of("bert"), "east 3");
  world.hub->remove(kTrainingJobs, "bert");
  world.settle(minutes(1));
  EXPECT_EQ(world.workers_of("bert"), "");
  EXPECT_EQ(world.hub->get(kTrainingJobs, "bert"), nullptr);
}

TEST(DispatchTraining, pods_that_end_slowly_are_gone_before_it_starts_elsewhere) {
  DispatchWorld world({"east", "west"}, training());
  world.manage("east", R"({"cost":0})");
  world.manage("west", R"({"cost":9})");
  world.settle(seconds(10));
  world.hub->train("bert", kOneToThree);
  world.settle(seconds(20));
  ASSERT_EQ(world.workers_of("bert"), "east 3");
  const auto hold = [&](const std::string& finalizers) {
    for (const kube::ObjectRef& pod : world.worker("east").list(testing::kPods)) {
      world.worker("east").patch(testing::kPods, std::string(pod->name()),
                                 R"({"metadata":{"finalizers":)" + finalizers + "}}");
    }
  };
  hold(R"(["test.codeflare.dev/slow"])");
  world.hub->patch(kManagedClusters, "east", R"({"spec":{"paused":true,"evict":true}})");
  world.settle(minutes(2));
  EXPECT_EQ(world.worker("east").list(testing::kPods).size(), 3u);
  EXPECT_TRUE(world.worker("west").list(testing::kPods).empty()) << "it runs twice";
  EXPECT_TRUE(status(*world.hub, "bert").plan.has_value());
  hold("[]");
  world.settle(minutes(1));
  EXPECT_EQ(world.workers_of("bert"), "west 3");
  EXPECT_EQ(world.worker("east").get(kTrainingJobs, "bert"), nullptr);
}

TEST(DispatchTraining, a_hub_that_dies_at_any_moment_sends_it_to_one_cluster) {
  DispatchWorld world({"east", "west"}, training());
  world.manage("east");
  world.manage("west");
  world.settle(seconds(10));
  world.hub->train("bert", kOneToThree);
  for (int i = 1; i <= 25; ++i) {
    world.settle(milliseconds(i * 7));
    world.hub->kill();
    world.hub->start();
  }
  world.settle(minutes(2));
  const std::string where = world.workers_of("bert");
  EXPECT_TRUE(where == "east 3" || where == "west 3") << where;
  EXPECT_EQ(world.worker("east").list(kTrainingJobs).size() +
                world.worker("west").list(kTrainingJobs).size(),
            1u);
  EXPECT_EQ(status(*world.hub, "bert").stage, "Running");
}

TEST(DispatchTraining, what_lost_its_nodes_here_stops_here_before_it_starts_on_a_worker) {
  DispatchWorld world({"east"}, {.training_jobs = true});
  world.manage("east", R"({"cost":1})");
  world.settle(seconds(10));
  world.hub->train("bert", kOneToThree);
  world.settle(seconds(20));
  ASSERT_EQ(world.workers_of("bert"), "local 3");
  world.hub->remove(testing::kNodes, "codeflare-fake-0");
  for (int i = 0; i < 60; ++i) {
    world.settle(seconds(5));
    const std::string where = world.workers_of("bert");
    EXPECT_FALSE(where.contains("local") && where.contains("east")) << where;
  }
  EXPECT_EQ(world.workers_of("bert"), "east 3");
  EXPECT_EQ(status(*world.hub, "bert").stage, "Running");
}

TEST(DispatchTraining, silence_concludes_nothing_until_the_cluster_is_declared_lost) {
  DispatchWorld world({"east", "west"}, training());
  world.manage("east", R"({"cost":0})");
  world.manage("west", R"({"cost":9})");
  world.settle(seconds(10));
  world.hub->train("bert", kOneToThree);
  world.settle(seconds(20));
  ASSERT_EQ(world.workers_of("bert"), "east 3");
  world.road("east").partition();
  world.settle(minutes(40));
  EXPECT_EQ(world.workers_of("bert"), "east 3");
  EXPECT_EQ(status(*world.hub, "bert").reason, "ClusterLost");
  world.hub->kill();
  world.hub->start();
  world.settle(minutes(5));
  EXPECT_EQ(world.workers_of("bert"), "east 3");
  world.hub->patch(kManagedClusters, "east", R"({"spec":{"lost":true}})");
  world.settle(minutes(2));
  EXPECT_EQ(world.workers_of("bert"), "east 3 west 3");  // what the administrator's word may cost
}

TEST(DispatchTraining, a_fence_stops_it_before_it_starts_elsewhere) {
  DispatchWorld world({"east", "west"}, training());
  world.manage("east", R"({"cost":0,"onLost":"Redispatch","lostAfter":"1m"})");
  world.manage("west", R"({"cost":9})");
  world.settle(minutes(2));
  world.hub->train("bert", kOneToThree);
  world.settle(minutes(2));
  ASSERT_EQ(world.workers_of("bert"), "east 3");
  world.road("east").partition();
  for (int i = 0; i < 40; ++i) {
    world.settle(seconds(10));
    const std::string where = world.workers_of("bert");
    EXPECT_FALSE(where.contains("east") && where.contains("west")) << where;
  }
  EXPECT_EQ(world.workers_of("bert"), "west 3");
  EXPECT_TRUE(world.worker("east").training_job("bert").spec.run_policy.suspend);
  world.road("east").heal();
  world.settle(minutes(3));
  EXPECT_EQ(world.workers_of("bert"), "west 3");
  EXPECT_EQ(world.worker("east").get(kTrainingJobs, "bert"), nullptr);
}

TEST(DispatchTraining, a_copy_without_business_is_removed_and_that_of_another_hub_stays) {
  DispatchWorld world({"east"}, training());
  world.manage("east");
  world.settle(seconds(10));
  const std::string hub(
      world.hub->get({"", "v1", "Namespace", "namespaces", false}, "kube-system")->uid());
  for (const std::string& whose : {hub, std::string("another")}) {
    const std::string name = whose == hub ? "ours" : "theirs";
    world.worker("east").train(
        name, kOneToThree, 7200,
        R"("dispatch.codeflare.dev/hub":")" + whose + R"(","dispatch.codeflare.dev/hub-uid":"x")");
    world.worker("east").patch(
        kTrainingJobs, name,
        R"({"metadata":{"labels":{"dispatch.codeflare.dev/copy-of-hub":")" + whose + R"("}}})");
  }
  world.settle(minutes(2));
  EXPECT_EQ(world.worker("east").get(kTrainingJobs, "ours"), nullptr);
  EXPECT_NE(world.worker("east").get(kTrainingJobs, "theirs"), nullptr);
}

TEST(DispatchTraining, a_worker_that_does_not_start_it_gives_it_back) {
  DispatchWorld world({"east", "west"},
                      {.patience = seconds(20), .hub_nodes = 0, .training_jobs = true});
  world.manage("east", R"({"cost":0})");
  world.manage("west", R"({"cost":9})");
  world.settle(seconds(10));
  // Its queue is paused: the hub cannot know.
  world.worker("east").create(
      {"", "v1", "ConfigMap", "configmaps", true},
      R"({"metadata":{"name":"codeflare-queue"},"data":{"paused":"true"}})");
  world.hub->train("bert", kOneToThree);
  world.settle(seconds(10));
  EXPECT_NE(world.worker("east").get(kTrainingJobs, "bert"), nullptr);
  world.settle(minutes(1));
  EXPECT_EQ(world.workers_of("bert"), "west 3");
  EXPECT_EQ(world.worker("east").get(kTrainingJobs, "bert"), nullptr);
}

TEST(DispatchTraining, waits_as_long_as_its_worker_waits_for_machines_or_cools_down) {
  DispatchWorld world({"east", "west"},
                      {.patience = seconds(20), .hub_nodes = 0, .training_jobs = true});
  world.manage("east", R"({"cost":0})");
  world.manage("west", R"({"cost":9})");
  world.settle(seconds(10));
  world.hub->train("bert", kOneToThree);
  world.settle(seconds(20));
  ASSERT_EQ(world.workers_of("bert"), "east 3");
  world.worker("east").kill();  // so that the copy says what we write
  const auto say = [&](const std::string& stage, const std::string& reason) {
    world.worker("east").patch(
        kTrainingJobs, "bert",
        R"({"status":{"plan":null,"stage":")" + stage + R"(","reason":")" + reason + R"("}})",
        "status");
    world.settle(minutes(1));
    return world.worker("east").training_job("bert").metadata.deleting();
  };
  EXPECT_FALSE(say("Waiting", "ScalingUp"));
  EXPECT_FALSE(say("RequeueCooldown", ""));
  EXPECT_TRUE(say("Waiting", "NoRoom"));
}

TEST(DispatchTraining, goes_only_to_clusters_that_serve_it_and_may_create_it) {
  DispatchWorld::Options options = training();
  options.links.submitters = SubmitterTrust{.built_in = true};
  DispatchWorld world({"east", "north"}, options);
  world.worker("east").remove({"apiextensions.k8s.io", "v1", "CustomResourceDefinition",
                               "customresourcedefinitions", false},
                              "trainingjobs.breezeml.ai");
  world.settle(seconds(5));
  world.manage("east", R"({"submitter":"Fixed"})");
  world.manage("north");
  world.settle(seconds(10));
  world.hub->train("bert", kOneToThree);
  world.settle(seconds(20));
  EXPECT_EQ(world.workers_of("bert"), "");
  const std::string why = status(*world.hub, "bert").message;
  EXPECT_TRUE(why.contains("east does not serve trainingjobs")) << why;
  EXPECT_TRUE(why.contains("north creates copies as their submitters")) << why;
  world.hub->patch(kManagedClusters, "north", R"({"spec":{"submitter":"Fixed"}})");
  world.settle(seconds(20));
  EXPECT_EQ(world.workers_of("bert"), "north 3");
}

}  // namespace
}  // namespace codeflare::controllers::dispatch
