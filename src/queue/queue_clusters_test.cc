#include "queue/queue.h"
#include "queue/testing/objects.h"
#include "queue/testing/training_jobs.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace codeflare::queue {
namespace {

using testing::kNow;
using testing::node;
using testing::resources;
using testing::wrapper;

std::vector<ClusterInfo> two(const std::string& east_closed = "") {
  return {{.name = "local"},
          {.name = "east", .cost = 1, .closed = east_closed},
          {.name = "west", .cost = 2}};
}

std::string place(const Queue& queue, const std::string& uid) {
  const Standing standing = queue.standing(uid);
  return standing.plan.empty() ? "none" : standing.plan.front().node;
}

Queue with_nodes() {
  Queue queue(QueueOptions{.binds = Binds::all});
  queue.upsert_node(node("n", resources("1")));
  queue.upsert_node(node("east/n", resources("4")));
  queue.upsert_node(node("west/n", resources("4")));
  queue.set_clusters(two());
  return queue;
}

TEST(QueueClusters, a_withdrawn_gang_chooses_among_the_clusters_of_now) {
  Queue queue = with_nodes();
  ASSERT_TRUE(queue.upsert(wrapper("a", {{3, resources("1")}}), kNow));
  queue.step(kNow);
  ASSERT_EQ(place(queue, "uid-a"), "east/n");
  queue.set_clusters(two("is paused"));
  queue.step(kNow);
  EXPECT_EQ(place(queue, "uid-a"), "east/n");  // what holds places stays
  queue.stopping("uid-a");
  queue.withdrawn("uid-a", kNow);
  queue.step(kNow);
  EXPECT_EQ(place(queue, "uid-a"), "west/n");
}

TEST(QueueClusters, a_waiting_gang_takes_a_cluster_that_opens) {
  Queue queue = with_nodes();
  queue.set_clusters({{.name = "local"}, {.name = "east", .closed = "is paused"}});
  ASSERT_TRUE(queue.upsert(wrapper("a", {{3, resources("1")}}), kNow));
  queue.step(kNow);
  EXPECT_EQ(place(queue, "uid-a"), "none");
  EXPECT_TRUE(queue.sentence("uid-a", kNow).contains("clusters not used: east is paused"))
      << queue.sentence("uid-a", kNow);
  queue.set_clusters({{.name = "local"}, {.name = "east"}});
  queue.step(kNow);
  EXPECT_EQ(place(queue, "uid-a"), "east/n");
}

// The copy on a worker may run although none of its nodes is known.
TEST(QueueClusters, a_plan_never_moves_to_another_cluster) {
  for (const char* where : {"east/n", "gone/n", "n-gone"}) {
    Queue queue = with_nodes();
    model::AppWrapper running = wrapper("a", {{1, resources("1")}});
    running.status.can_run = true;
    running.status.state = "Running";
    running.status.plan.emplace();
    running.status.plan->places.push_back({.pod_set = 0, .node = where, .count = 1});
    ASSERT_TRUE(queue.upsert(running, kNow));
    queue.step(kNow);
    queue.remove_node("east/n");
    queue.step(kNow);
    const Standing standing = queue.standing("uid-a");
    const bool here = std::string(where) == "n-gone";
    EXPECT_EQ(standing.plan.front().node, here ? "n" : where);
    EXPECT_EQ(standing.kind, Standing::Kind::started);
  }
}

// Of a cluster that was declared lost the queue still knows pods.
TEST(QueueClusters, a_place_on_a_cordoned_node_never_moves_to_another_cluster) {
  Queue queue = with_nodes();
  const model::AppWrapper owner = wrapper("a", {{1, resources("1")}});
  ASSERT_TRUE(queue.upsert(owner, kNow));
  queue.step(kNow);
  ASSERT_EQ(place(queue, "uid-a"), "n");
  queue.plan_written("uid-a", queue.standing("uid-a").plan);
  model::Node cordoned = node("n", resources("1"));
  cordoned.spec.unschedulable = true;
  queue.upsert_node(cordoned);
  queue.upsert_pod(testing::pod_of(owner, 0, "p", resources("1")));
  EXPECT_TRUE(queue.step(kNow).bindings.empty());
  EXPECT_EQ(place(queue, "uid-a"), "n");
  queue.upsert_node(node("n", resources("1")));
  EXPECT_EQ(queue.step(kNow).bindings.size(), 1U);
}

TEST(QueueClusters, pods_of_another_cluster_are_not_those_of_the_gang) {
  Queue queue = with_nodes();
  const model::AppWrapper work = wrapper("a", {{3, resources("1")}});
  ASSERT_TRUE(queue.upsert(work, kNow));
  queue.step(kNow);
  ASSERT_EQ(place(queue, "uid-a"), "east/n");
  for (const char* name : {"east/p0", "east/p1", "east/p2"}) {
    model::Pod pod = testing::pod_of(work, 0, name, resources("1"), "east/n");
    pod.status.phase = "Running";
    queue.upsert_pod(pod);
  }
  queue.set_clusters(two("is declared lost"));
  queue.stopping("uid-a");
  queue.withdrawn("uid-a", kNow);
  queue.step(kNow);
  queue.step(kNow);
  EXPECT_EQ(place(queue, "uid-a"), "west/n");
}

TEST(QueueClusters, a_training_job_runs_and_grows_within_one_cluster) {
  Queue queue = with_nodes();
  ASSERT_TRUE(queue.upsert(testing::training_job("t", 2, 8), kNow));
  queue.step(kNow);
  queue.step(kNow);
  const Standing standing = queue.standing("uid-t");
  ASSERT_EQ(standing.kind, Standing::Kind::started);
  ASSERT_EQ(standing.plan.size(), 1u);
  EXPECT_EQ(standing.plan.front().node, "east/n");
  EXPECT_EQ(standing.plan.front().count, 4);
}

TEST(QueueClusters, a_training_job_follows_rules_and_the_clusters_of_now) {
  Queue queue = with_nodes();
  std::vector<ClusterInfo> clusters = two();
  clusters[1].closed_to_training = "does not serve TrainingJobs";
  queue.set_clusters(clusters);
  model::TrainingJob job = testing::training_job("t", 2, 2);
  job.metadata.annotations.emplace(kClustersAnnotation, "east");
  ASSERT_TRUE(queue.upsert(job, kNow));
  ASSERT_TRUE(queue.upsert(wrapper("a", {{1, resources("4")}}), kNow));
  queue.step(kNow);
  EXPECT_EQ(place(queue, "uid-t"), "none");
  EXPECT_EQ(place(queue, "uid-a"), "east/n");  // AppWrappers may go there
  EXPECT_TRUE(queue.sentence("uid-t", kNow).contains("east does not serve TrainingJobs"))
      << queue.sentence("uid-t", kNow);
  queue.stopping("uid-a");
  queue.remove("uid-a");
  queue.set_clusters(two());
  queue.step(kNow);
  EXPECT_EQ(place(queue, "uid-t"), "east/n");
  // After it came back, another cluster is tried first.
  queue.stopping("uid-t");
  queue.withdrawn("uid-t", kNow);
  queue.set_cluster_notes("uid-t", {.out = {{"east", "rejects the hub"}}});
  queue.step(kNow);
  EXPECT_EQ(place(queue, "uid-t"), "none");
  queue.set_cluster_notes("uid-t", {});
  queue.step(kNow);
  EXPECT_EQ(place(queue, "uid-t"), "east/n");
}

// The queue of a worker chooses by itself which worker pod goes.
TEST(QueueClusters, a_training_job_that_shrinks_on_a_worker_frees_the_place_of_the_pod_that_went) {
  Queue queue(QueueOptions{.binds = Binds::all});
  queue.upsert_node(node("east/n", resources("1")));
  queue.upsert_node(node("east/m", resources("1")));
  queue.set_clusters({{.name = "local"}, {.name = "east"}});
  model::TrainingJob job = testing::training_job("t", 1, 2);
  ASSERT_TRUE(queue.upsert(job, kNow));
  queue.step(kNow);
  queue.step(kNow);
  ASSERT_EQ(queue.standing("uid-t").plan.size(), 2u);
  std::vector<model::Pod> pods = {testing::worker(job, 0, "east/n"),
                                  testing::worker(job, 1, "east/m")};
  for (model::Pod& pod : pods) {
    pod.metadata.name = "east/" + pod.metadata.name;
    pod.status.phase = "Running";
    queue.upsert_pod(pod);
  }
  queue.step(kNow);
  job.spec.max_size = 1;
  ASSERT_TRUE(queue.upsert(job, kNow));
  const Time later = kNow + std::chrono::hours(1);
  queue.step(later);
  ASSERT_EQ(queue.standing("uid-t").leaving.size(), 1u);
  const std::string told = queue.standing("uid-t").leaving.front().node;
  const model::Pod& gone = pods[told == "east/n" ? 1 : 0];
  queue.remove_pod({}, gone.metadata.uid);
  queue.step(later);
  const Standing standing = queue.standing("uid-t");
  EXPECT_TRUE(standing.leaving.empty());
  ASSERT_EQ(standing.plan.size(), 1u);
  EXPECT_EQ(standing.plan.front().node, told);
  model::AppWrapper next = wrapper("a", {{1, resources("1")}});
  ASSERT_TRUE(queue.upsert(next, later));
  queue.step(later);
  EXPECT_EQ(place(queue, "uid-a"), gone.spec.node_name);
}

// The queue of a worker moved a pod, and the new one was seen before the end of the old one.
TEST(QueueClusters, a_training_job_that_moves_on_a_worker_holds_each_place_once) {
  Queue queue(QueueOptions{.binds = Binds::all});
  for (const char* name : {"east/l", "east/m", "east/n"}) {
    queue.upsert_node(node(name, resources("1")));
  }
  queue.set_clusters({{.name = "local"}, {.name = "east"}});
  const model::TrainingJob job = testing::training_job("t", 2, 2);
  ASSERT_TRUE(queue.upsert(job, kNow));
  queue.step(kNow);
  const std::vector<model::PlannedPlace> plan = queue.standing("uid-t").plan;
  ASSERT_EQ(plan.size(), 2u);
  std::string spare = "east/l";
  for (const model::PlannedPlace& each : plan) {
    spare = each.node == spare ? (spare == "east/l" ? "east/m" : "east/n") : spare;
  }
  std::vector<model::Pod> pods = {testing::worker(job, 0, plan[0].node),
                                  testing::worker(job, 1, plan[1].node),
                                  testing::worker(job, 2, spare)};
  for (model::Pod& pod : pods) {
    pod.metadata.name = "east/" + pod.metadata.name;
    pod.status.phase = "Running";
    queue.upsert_pod(pod);
  }
  queue.step(kNow);
  queue.remove_pod({}, pods[0].metadata.uid);
  queue.step(kNow);
  const Standing standing = queue.standing("uid-t");
  ASSERT_EQ(standing.plan.size(), 2u);
  for (const model::PlannedPlace& each : standing.plan) {
    EXPECT_NE(each.node, plan[0].node);
  }
  ASSERT_TRUE(queue.upsert(wrapper("a", {{1, resources("1")}}), kNow));
  queue.step(kNow);
  EXPECT_EQ(place(queue, "uid-a"), plan[0].node);
}

TEST(QueueClusters, pods_of_this_cluster_stay_here) {
  Queue queue = with_nodes();
  model::Pod pod = testing::pod("p", resources("2"));
  queue.upsert_pod(pod);
  EXPECT_TRUE(queue.step(kNow).bindings.empty());
  pod = testing::pod("q", resources("1"));
  queue.upsert_pod(pod);
  const StepOutcome outcome = queue.step(kNow);
  ASSERT_EQ(outcome.bindings.size(), 1u);
  EXPECT_EQ(outcome.bindings.front().node, "n");
}

}  // namespace
}  // namespace codeflare::queue
