#include "controllers/raycluster/ray_decision.h"

#include "controllers/raycluster/ray_pod.h"
#include "controllers/raycluster/testing/sample.h"
#include "model/condition.h"

#include <gtest/gtest.h>

namespace codeflare::controllers::raycluster {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::sample_cluster;

const WallTime kNow{seconds(1'700'000'000)};

RayPod pod(std::string name, NodeType type, std::string phase = "Running") {
  RayPod pod{.name = name, .uid = "uid-" + name, .owner_uid = "cluster-uid", .type = type};
  pod.group = type == NodeType::head ? "headgroup" : "small-group";
  pod.phase = std::move(phase);
  pod.ready = pod.phase == "Running" ? "True" : "False";
  pod.address = "10.244.0.9";
  return pod;
}

RayPod head(std::string phase = "Running") {
  return pod("head", NodeType::head, std::move(phase));
}

Observed seen(model::RayCluster cluster, std::vector<RayPod> pods) {
  Observed observed{.cluster = std::move(cluster), .pods = std::move(pods)};
  observed.head_service = head_service(observed.cluster);
  for (model::ServicePort& port : observed.head_service->spec.ports) {
    port.target_port = model::IntOrString::of(port.port);  // as the server fills it in
  }
  return observed;
}

std::vector<std::string> removed(const Desired& desired) {
  std::vector<std::string> names;
  for (const Removal& removal : desired.remove) {
    names.push_back(removal.pod.name);
  }
  return names;
}

using Names = std::vector<std::string>;

TEST(RayDecision, a_new_cluster_gets_service_head_and_workers) {
  const Desired desired = decide({.cluster = sample_cluster(3)}, kNow);
  EXPECT_TRUE(desired.create_service);
  EXPECT_TRUE(desired.create_head);
  EXPECT_EQ(desired.create_workers, std::vector<std::size_t>{3});
  EXPECT_FALSE(desired.status);
}

TEST(RayDecision, replicas_stay_within_their_bounds) {
  EXPECT_EQ(decide(seen(sample_cluster(9), {head()}), kNow).create_workers.at(0), 5u);
  model::RayCluster cluster = sample_cluster(0);
  cluster.spec.worker_groups[0].min_replicas = 2;
  EXPECT_EQ(decide(seen(cluster, {head()}), kNow).create_workers.at(0), 2u);
  cluster.spec.worker_groups[0].num_of_hosts = 4;
  EXPECT_EQ(decide(seen(cluster, {head()}), kNow).create_workers.at(0), 8u);
}

TEST(RayDecision, of_two_heads_the_one_that_works_stays) {
  RayPod late = pod("another", NodeType::head, "Pending");
  EXPECT_EQ(removed(decide(seen(sample_cluster(1), {head(), late}), kNow)), Names{"another"});
  late.deleting = true;
  EXPECT_TRUE(decide(seen(sample_cluster(1), {late, head()}), kNow).remove.empty());
}

TEST(RayDecision, an_ended_head_is_removed_and_then_made_anew_and_workers_stay) {
  const RayPod worker = pod("w", NodeType::worker);
  Desired desired = decide(seen(sample_cluster(1), {head("Failed"), worker}), kNow);
  EXPECT_EQ(removed(desired), Names{"head"});
  EXPECT_FALSE(desired.create_head);
  desired = decide(seen(sample_cluster(1), {worker}), kNow);
  EXPECT_TRUE(desired.create_head);
  EXPECT_TRUE(desired.remove.empty());
}

TEST(RayDecision, a_head_whose_ray_has_ended_for_good_goes_too) {
  RayPod ended = head();
  ended.ray_ended = true;
  EXPECT_EQ(removed(decide(seen(sample_cluster(1), {ended}), kNow)), Names{"head"});
}

TEST(RayDecision, the_head_of_a_job_that_ran_is_not_made_anew) {
  model::RayCluster cluster = sample_cluster(1);
  cluster.metadata.labels["ray.io/originated-from-crd"] = "RayJob";
  EXPECT_TRUE(decide(seen(cluster, {}), kNow).create_head);
  cluster.status.conditions.push_back({.type = "RayClusterProvisioned", .status = "True"});
  EXPECT_FALSE(decide(seen(cluster, {}), kNow).create_head);
}

TEST(RayDecision, ended_workers_are_replaced_once_they_are_gone) {
  Desired desired = decide(seen(sample_cluster(2), {head(), pod("a", NodeType::worker, "Failed"),
                                                    pod("b", NodeType::worker)}),
                           kNow);
  EXPECT_EQ(removed(desired), Names{"a"});
  EXPECT_EQ(desired.create_workers.at(0), 0u);
  RayPod leaving = pod("a", NodeType::worker, "Failed");
  leaving.deleting = true;
  desired = decide(seen(sample_cluster(2), {head(), leaving, pod("b", NodeType::worker)}), kNow);
  EXPECT_TRUE(desired.remove.empty());
  EXPECT_EQ(desired.create_workers.at(0), 0u);
  desired = decide(seen(sample_cluster(2), {head(), pod("b", NodeType::worker)}), kNow);
  EXPECT_EQ(desired.create_workers.at(0), 1u);
}

TEST(RayDecision, fewer_replicas_take_those_that_have_come_least_far) {
  const Desired desired = decide(
      seen(sample_cluster(1), {head(), pod("a", NodeType::worker),
                               pod("b", NodeType::worker, "Pending"), pod("c", NodeType::worker)}),
      kNow);
  EXPECT_EQ(removed(desired), (Names{"b", "a"}));
}

TEST(RayDecision, workers_named_for_deletion_go_and_those_that_leave_are_not_made_up_for_yet) {
  model::RayCluster cluster = sample_cluster(1);
  cluster.spec.worker_groups[0].scale_strategy.workers_to_delete = {"a", "not there"};
  Desired desired =
      decide(seen(cluster, {head(), pod("a", NodeType::worker), pod("b", NodeType::worker)}), kNow);
  EXPECT_EQ(removed(desired), Names{"a"});
  EXPECT_EQ(desired.create_workers.at(0), 0u);
}

TEST(RayDecision, pods_of_a_group_that_is_gone_go) {
  RayPod stranger = pod("x", NodeType::worker);
  stranger.group = "old";
  EXPECT_EQ(removed(decide(seen(sample_cluster(0), {head(), stranger}), kNow)), Names{"x"});
}

TEST(RayDecision, suspending_is_one_step_that_ends_before_resuming) {
  model::RayCluster cluster = sample_cluster(1, R"("suspend":true,)");
  std::vector<RayPod> pods = {head(), pod("a", NodeType::worker)};
  Desired desired = decide(seen(cluster, pods), kNow);
  EXPECT_TRUE(desired.remove.empty());
  ASSERT_TRUE(desired.status);
  EXPECT_TRUE(model::is_condition_true(desired.status->conditions, "RayClusterSuspending"));

  cluster.status = *desired.status;
  cluster.spec.suspend = false;  // too late: it is on its way
  EXPECT_EQ(removed(decide(seen(cluster, pods), kNow)), (Names{"head", "a"}));

  desired = decide(seen(cluster, {}), kNow);
  ASSERT_TRUE(desired.status);
  EXPECT_FALSE(desired.create_head);
  EXPECT_TRUE(model::is_condition_true(desired.status->conditions, "RayClusterSuspended"));
  EXPECT_FALSE(model::is_condition_true(desired.status->conditions, "RayClusterSuspending"));
  cluster.status = *desired.status;
  desired = decide(seen(cluster, {}), kNow);
  EXPECT_FALSE(model::is_condition_true(desired.status->conditions, "RayClusterSuspended"));
  cluster.status = *desired.status;
  EXPECT_TRUE(decide(seen(cluster, {}), kNow).create_head);
}

TEST(RayDecision, a_suspended_cluster_says_so) {
  model::RayCluster cluster = sample_cluster(1, R"("suspend":true,)");
  EXPECT_EQ(status_of(seen(cluster, {}), kNow).state, "suspended");
  EXPECT_TRUE(status_of(seen(cluster, {}), kNow).state_transition_times.contains("suspended"));
}

TEST(RayDecision, the_status_of_a_cluster_that_runs) {
  const model::RayClusterStatus status = status_of(
      seen(sample_cluster(2), {head(), pod("a", NodeType::worker), pod("b", NodeType::worker)}),
      kNow);
  EXPECT_EQ(status.state, "ready");
  EXPECT_EQ(status.desired_worker_replicas, 2);
  EXPECT_EQ(status.ready_worker_replicas, 2);
  EXPECT_EQ(status.available_worker_replicas, 2);
  EXPECT_EQ(status.min_worker_replicas, 0);
  EXPECT_EQ(status.max_worker_replicas, 5);
  EXPECT_EQ(status.desired_cpu->to_string(), "5");
  EXPECT_EQ(status.desired_memory->to_string(), "6G");
  EXPECT_EQ(status.desired_gpu->to_string(), "2");
  EXPECT_EQ(status.desired_tpu->to_string(), "0");
  EXPECT_EQ(status.head.pod_name, "head");
  EXPECT_EQ(status.head.pod_ip, "10.244.0.9");
  EXPECT_EQ(status.head.service_ip, "10.244.0.9");
  EXPECT_EQ(status.head.service_name, "demo-head-svc");
  EXPECT_EQ(status.endpoints,
            (model::StringMap{
                {"client", "10001"}, {"dashboard", "8265"}, {"gcs", "6379"}, {"metrics", "8080"}}));
  EXPECT_EQ(status.observed_generation, 1);
  std::vector<std::string> conditions;
  for (const model::Condition& condition : status.conditions) {
    conditions.push_back(condition.type + "=" + condition.status + " " + condition.reason);
  }
  EXPECT_EQ(conditions, (Names{"HeadPodReady=True HeadPodRunningAndReady",
                               "RayClusterProvisioned=True AllPodRunningAndReadyFirstTime",
                               "RayClusterSuspended=False RayClusterSuspended",
                               "RayClusterSuspending=False RayClusterSuspending"}));
}

TEST(RayDecision, the_status_of_a_cluster_that_comes_up) {
  const model::RayClusterStatus status =
      status_of(seen(sample_cluster(1), {head("Pending")}), kNow);
  EXPECT_EQ(status.state, "");
  EXPECT_EQ(status.conditions.at(1).reason, "RayClusterPodsProvisioning");
  RayPod stuck = head("Pending");
  stuck.ready_reason = "ContainersNotReady";
  stuck.ready_message = "containers with unready status: [ray-head]";
  stuck.stuck_reason = "ImagePullBackOff";
  stuck.stuck_message = "ray-head: no such image";
  const model::RayClusterStatus told = status_of(seen(sample_cluster(1), {stuck}), kNow);
  EXPECT_EQ(told.conditions.at(0).reason, "ImagePullBackOff");
  EXPECT_EQ(told.conditions.at(0).message,
            "containers with unready status: [ray-head]; ray-head: no such image");
  EXPECT_EQ(status_of(seen(sample_cluster(1), {}), kNow).conditions.at(0).reason,
            "HeadPodNotFound");
}

TEST(RayDecision, a_status_that_is_right_is_not_written_again) {
  model::RayCluster cluster = sample_cluster(0);
  cluster.status = *decide(seen(cluster, {head()}), kNow).status;
  EXPECT_EQ(cluster.status.last_update_time, kNow);
  EXPECT_FALSE(decide(seen(cluster, {head()}), kNow + minutes(5)).status);
}

TEST(RayDecision, having_been_provisioned_is_not_forgotten_when_a_pod_fails) {
  model::RayCluster cluster = sample_cluster(0);
  cluster.status = status_of(seen(cluster, {head()}), kNow);
  const model::RayClusterStatus later = status_of(seen(cluster, {head("Failed")}), kNow);
  EXPECT_EQ(later.state, "ready");
  EXPECT_TRUE(model::is_condition_true(later.conditions, "RayClusterProvisioned"));
  EXPECT_FALSE(model::is_condition_true(later.conditions, "HeadPodReady"));
}

TEST(RayDecision, what_cannot_be_run_is_told) {
  model::RayCluster cluster = sample_cluster(1);
  cluster.spec.head_group.pod_template.spec.containers.clear();
  const Desired desired = decide({.cluster = cluster}, kNow);
  EXPECT_FALSE(desired.create_head);
  EXPECT_EQ(desired.events.at(0).reason, "InvalidRayClusterSpec");
  model::RayCluster named = sample_cluster(1);
  named.metadata.name = "0abc";
  EXPECT_FALSE(invalid(named).empty());
  named.metadata.name = std::string(54, 'a');
  EXPECT_FALSE(invalid(named).empty());
}

TEST(RayDecision, what_is_not_acted_upon_is_told) {
  const Desired desired =
      decide(seen(sample_cluster(1, R"("gcsFaultToleranceOptions":{},)"), {}), kNow);
  EXPECT_EQ(desired.events.at(0).message,
            "spec.gcsFaultToleranceOptions: not supported by this controller, ignored");
}

TEST(RayDecision, only_the_autoscaler_chooses_workers_that_go) {
  model::RayCluster cluster = sample_cluster(1, R"("enableInTreeAutoscaling":true,)");
  EXPECT_TRUE(decide(seen(cluster, {}), kNow).create_autoscaler);
  const RayPod one = pod("one", NodeType::worker);
  const RayPod two = pod("two", NodeType::worker);
  const Desired unchosen = decide(seen(cluster, {head(), one, two}), kNow);
  EXPECT_TRUE(unchosen.remove.empty());
  EXPECT_FALSE(unchosen.create_autoscaler);
  cluster.spec.worker_groups[0].scale_strategy.workers_to_delete = {"two"};
  EXPECT_EQ(removed(decide(seen(cluster, {head(), one, two}), kNow)), Names{"two"});
  cluster.spec.worker_groups[0].suspend = true;
  EXPECT_EQ(invalid(cluster),
            "worker group small-group cannot be suspended with Autoscaler enabled");
}

TEST(RayDecision, after_a_hand_over_only_a_second_head_goes) {
  Observed observed = seen(sample_cluster(3), {head()});
  observed.handed_over = true;
  const Desired left = decide(observed, kNow);
  EXPECT_TRUE(left.remove.empty());
  EXPECT_TRUE(left.create_workers.empty());
  EXPECT_FALSE(left.status);
  observed.pods.push_back(pod("other", NodeType::head, "Pending"));
  EXPECT_EQ(removed(decide(observed, kNow)), Names{"other"});
  observed.pods.clear();
  EXPECT_FALSE(decide(observed, kNow).create_head);
}

}  // namespace
}  // namespace codeflare::controllers::raycluster
