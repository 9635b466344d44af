#include "sdk/cluster_state.h"

#include "json/write.h"
#include "sdk/cluster_manifest.h"

#include <gtest/gtest.h>

namespace codeflare::sdk {
namespace {

using model::AppWrapper;
using model::Pod;
using model::RayCluster;

AppWrapper wrapper(int workers = 2) {
  AppWrapper wrapper;
  wrapper.metadata.name = "demo";
  wrapper.metadata.ns = "team";
  wrapper.spec.resources.generic_items.emplace_back();
  wrapper.spec.resources.generic_items.front().generic_template.text =
      json::to_text(ray_cluster_manifest({.name = "demo", .num_workers = workers}).root);
  return wrapper;
}

AppWrapper dispatched() {
  AppWrapper made = wrapper();
  made.status.can_run = true;
  made.status.plan.emplace();
  return made;
}

RayCluster ray() {
  return *wrapped_cluster(wrapper());
}

Pod pod(const std::string& name, const std::string& type, bool ready) {
  Pod pod;
  pod.metadata.name = name;
  pod.metadata.labels = {{"ray.io/node-type", type}};
  pod.status.conditions.push_back({.type = "Ready", .status = ready ? "True" : "False"});
  pod.status.container_statuses.push_back({.name = "ray-" + type});
  return pod;
}

std::string line(const ClusterObjects& objects) {
  return progress_line(state_of(objects));
}

TEST(ClusterState, waits_with_the_reason_of_its_app_wrapper) {
  AppWrapper waiting = wrapper();
  EXPECT_EQ(line({.wrapper = waiting}), "Queued");
  waiting.status.conditions.push_back({.type = "Queued",
                                       .status = "True",
                                       .reason = "InsufficientResources",
                                       .message = "needs 3 CPUs"});
  EXPECT_EQ(line({.wrapper = waiting}), "Queued: InsufficientResources: needs 3 CPUs");
  EXPECT_FALSE(state_of({.wrapper = waiting}).stuck);
  waiting.status.conditions.back().reason = "UnknownQuota";
  EXPECT_TRUE(state_of({.wrapper = waiting}).stuck);
  waiting.spec.suspend = true;
  EXPECT_EQ(line({.wrapper = waiting}), "Held");
}

TEST(ClusterState, ends_with_its_app_wrapper) {
  AppWrapper ended = wrapper();
  ended.status.state = "Failed";
  ended.status.conditions.push_back(
      {.type = "Failed", .status = "True", .reason = "Bad", .message = "why"});
  EXPECT_EQ(line({.wrapper = ended}), "Failed: Bad: why");
  ended.status.state = "Completed";
  EXPECT_EQ(line({.wrapper = ended}), "Completed");
  ended.metadata.deletion_timestamp = WallTime();
  EXPECT_EQ(line({.wrapper = ended}), "Deleting");
}

TEST(ClusterState, work_that_is_being_stopped_waits_again) {
  AppWrapper stopping = dispatched();
  stopping.status.can_run = false;
  stopping.status.conditions.push_back(
      {.type = "PreemptCandidate", .status = "True", .reason = "Preempted", .message = "by b"});
  EXPECT_EQ(line({.wrapper = stopping}), "Queued: Preempted: by b");
}

TEST(ClusterState, says_how_far_a_dispatched_cluster_is) {
  EXPECT_EQ(line({.wrapper = dispatched()}), "Starting: RayCluster not created yet");
  EXPECT_EQ(line({.wrapper = dispatched(), .ray = ray()}),
            "Starting: head starting, 0 of 2 workers ready");
  EXPECT_EQ(
      line({.ray = ray(),
            .pods = {pod("h", "head", true), pod("a", "worker", true), pod("b", "worker", false)}}),
      "Starting: head ready, 1 of 2 workers ready");
}

TEST(ClusterState, is_ready_when_ray_says_so_and_names_missing_workers) {
  RayCluster ready = ray();
  ready.status.state = "ready";
  ready.status.ready_worker_replicas = 2;
  ready.status.conditions.push_back({.type = "HeadPodReady", .status = "True"});
  EXPECT_EQ(line({.ray = ready}), "Ready");
  ready.status.ready_worker_replicas = 1;
  EXPECT_EQ(line({.ray = ready}), "Ready: head ready, 1 of 2 workers ready");
  ready.status.state = "suspended";
  EXPECT_EQ(line({.ray = ready}), "Suspended");
  ready.status.state = "failed";
  ready.status.reason = "no quota";
  EXPECT_EQ(line({.ray = ready}), "Failed: no quota");
  ready.metadata.deletion_timestamp = WallTime();
  EXPECT_EQ(state_of({.ray = ready}).phase, ClusterPhase::deleting);
}

TEST(ClusterState, an_image_that_cannot_be_pulled_is_named_and_will_hardly_heal) {
  Pod head = pod("h", "head", false);
  head.spec.containers.push_back({.name = "ray-head", .image = "example.com/none:1"});
  head.status.container_statuses.front().state.waiting =
      model::ContainerStateWaiting{.reason = "ErrImagePull", .message = "no such image"};
  const ClusterState state = state_of({.ray = ray(), .pods = {head}});
  EXPECT_EQ(progress_line(state),
            "Starting: pod h, container ray-head: image example.com/none:1 is missing "
            "(ErrImagePull): no such image");
  EXPECT_TRUE(state.stuck);
}

TEST(ClusterState, a_crash_loop_shows_the_last_words) {
  Pod worker = pod("w", "worker", false);
  model::ContainerStatus& container = worker.status.container_statuses.front();
  container.state.waiting = model::ContainerStateWaiting{.reason = "CrashLoopBackOff"};
  container.last_state.terminated =
      model::ContainerStateTerminated{.exit_code = 137, .reason = "OOMKilled", .message = "bye"};
  const ClusterState state = state_of({.ray = ray(), .pods = {worker}});
  EXPECT_EQ(state.message,
            "pod w, container ray-worker: crash loop, 0 restarts, last OOMKilled (137), without a "
            "limit: the node ran out of memory");
  EXPECT_TRUE(state.stuck);
}

TEST(ClusterState, a_program_that_is_missing_points_at_the_image) {
  Pod head = pod("h", "head", false);
  head.spec.containers.push_back({.name = "ray-head", .image = "example.com/none:1"});
  model::ContainerStatus& container = head.status.container_statuses.front();
  container.state.waiting = model::ContainerStateWaiting{.reason = "CrashLoopBackOff"};
  container.last_state.terminated = model::ContainerStateTerminated{.exit_code = 127};
  EXPECT_EQ(
      state_of({.ray = ray(), .pods = {head}}).message,
      "pod h, container ray-head: crash loop, 0 restarts, last exit code 127 (command not "
      "found); image example.com/none:1 lacks the program (on 'codeflare up': codeflare image "
      "add 'example.com/none:1' --python-venv DIR)");
}

TEST(ClusterState, pods_without_a_node_say_why) {
  Pod worker = pod("w", "worker", false);
  worker.status.conditions.push_back({.type = "PodScheduled",
                                      .status = "False",
                                      .reason = "Unschedulable",
                                      .message = "0/1 nodes"});
  const ClusterState state = state_of({.ray = ray(), .pods = {worker}});
  EXPECT_EQ(progress_line(state), "Starting: pod w: Unschedulable: 0/1 nodes");
  EXPECT_FALSE(state.stuck);
}

TEST(ClusterSizes, sum_the_head_and_every_worker) {
  const ClusterConfig config{.name = "demo",
                             .num_workers = 2,
                             .worker_extended_resource_requests = {{"nvidia.com/gpu", "2"}}};
  AppWrapper made = wrapper();
  made.spec.resources.generic_items.front().generic_template.text =
      json::to_text(ray_cluster_manifest(config).root);
  const ClusterSizes sizes = sizes_of(wrapped_cluster(made)->spec);
  EXPECT_EQ(sizes.workers, 2);
  EXPECT_EQ(sizes.cpus().to_string(), "3");
  EXPECT_EQ(sizes.memory().to_string(), "11G");
  EXPECT_EQ(sizes.gpus().to_string(), "4");
  EXPECT_EQ(sizes.image, "rayproject/ray:2.60.0");
}

TEST(WrappedCluster, is_nothing_in_other_work) {
  AppWrapper other;
  EXPECT_FALSE(wrapped_cluster(other));
  other.spec.resources.generic_items.emplace_back();
  other.spec.resources.generic_items.front().generic_template.text = R"({"kind":"Job"})";
  EXPECT_FALSE(wrapped_cluster(other));
}

}  // namespace
}  // namespace codeflare::sdk
