#include "controllers/trainingjob/training_decision.h"
#include "controllers/trainingjob/worker_pod.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

// Jobs whose pods have no agents: failures, limits and what is left at the end.
namespace codeflare::controllers::trainingjob {
namespace {

using std::chrono::seconds;

constexpr WallTime kNow{seconds(1'000'000)};

WorkerPod pod(std::int64_t index, Phase phase) {
  return {.name = "bert-worker-" + std::to_string(index),
          .uid = "u" + std::to_string(index),
          .index = index,
          .node = "a",
          .phase = phase,
          .ready = phase == Phase::running,
          .created = kNow};
}

// A job of two workers that runs since kNow.
Observed two_workers(Phase first = Phase::running, Phase second = Phase::running) {
  Observed observed;
  model::TrainingJob& job = observed.job;
  job.metadata.name = "bert";
  job.metadata.ns = "default";
  job.metadata.uid = "job";
  job.spec.min_size = 2;
  job.spec.max_size = 2;
  job.spec.replica_specs.pod_template.spec.containers.push_back({.name = "trainingjob"});
  job.status.stage = "Running";
  job.status.start_time = kNow;
  job.status.current_size = 2;
  observed.standing.kind = queue::Standing::Kind::started;
  observed.standing.plan = {{.pod_set = 0, .node = "a", .count = 2}};
  observed.pods = {pod(0, Phase::running), pod(1, Phase::running)};
  job.status.plan = decide(observed, kNow).status->plan;
  observed.pods = {pod(0, first), pod(1, second)};
  return observed;
}

// Decides, and has the status written.
Desired step(Observed& observed, WallTime now = kNow) {
  Desired desired = decide(observed, now);
  if (desired.status) {
    observed.job.status = *desired.status;
  }
  return desired;
}

std::vector<std::string> removed(const Desired& desired) {
  std::vector<std::string> uids;
  for (const WorkerPod& each : desired.remove) {
    uids.push_back(each.uid);
  }
  return uids;
}

// The kubelet would restart a program for as long as it fails, and backoffLimit would never count.
TEST(TrainingEnds, only_pods_with_an_agent_are_restarted_in_place) {
  model::TrainingJob job = two_workers().job;
  job.spec.replica_specs.restart_policy = "OnFailure";
  job.spec.replica_specs.pod_template.spec.containers[0].command = {"train"};
  const WorkerOptions options{.agent_image = "codeflare:1"};
  EXPECT_EQ(worker_pod(job, 0, options).spec.restart_policy, "Never");
  job.spec.inject_lattice = true;
  EXPECT_EQ(worker_pod(job, 0, options).spec.restart_policy, "OnFailure");
  job.spec.replica_specs.restart_policy = "ExitCode";
  EXPECT_EQ(worker_pod(job, 0, options).spec.restart_policy, "Never");
}

TEST(TrainingEnds, pods_report_the_last_line_of_a_program_that_fails) {
  model::TrainingJob job = two_workers().job;
  auto& containers = job.spec.replica_specs.pod_template.spec.containers;
  containers.push_back({.name = "own", .termination_message_policy = "File"});
  const model::Pod made = worker_pod(job, 0, {});
  EXPECT_EQ(made.spec.containers[0].termination_message_policy, "FallbackToLogsOnError");
  EXPECT_EQ(made.spec.containers[1].termination_message_policy, "File");
}

TEST(TrainingEnds, the_last_line_of_the_last_failure_is_in_the_message) {
  Observed observed = two_workers(Phase::running, Phase::failed);
  observed.job.spec.run_policy.backoff_limit = 0;
  observed.pods[1].exit_code = 7;
  observed.pods[1].message = "loading\nno such file: /data\n";
  step(observed);
  EXPECT_EQ(observed.job.status.reason, "BackoffLimitExceeded");
  EXPECT_TRUE(
      observed.job.status.message.ends_with("worker 1 failed: exit code 7: no such file: /data"))
      << observed.job.status.message;
}

TEST(TrainingEnds, an_exit_code_below_128_is_permanent_with_the_policy_exit_code) {
  for (const auto& [code, reason] : {std::pair(127, "PermanentExitCode"), std::pair(130, "")}) {
    Observed observed = two_workers(Phase::running, Phase::failed);
    observed.job.spec.replica_specs.restart_policy = "ExitCode";
    observed.pods[1].exit_code = code;
    step(observed);
    EXPECT_EQ(observed.job.status.stage == "Completed", *reason != '\0') << code;
    EXPECT_EQ(observed.job.status.restart_counts.user, 1) << code;
    if (*reason != '\0') {
      EXPECT_EQ(observed.job.status.reason, reason);
    }
  }
}

TEST(TrainingEnds, a_job_that_runs_longer_than_its_deadline_fails) {
  Observed observed = two_workers();
  observed.job.spec.run_policy.active_deadline_seconds = 60;
  EXPECT_EQ(step(observed, kNow + seconds(59)).look_again, std::optional<Duration>(seconds(1)));
  EXPECT_EQ(observed.job.status.stage, "Running");
  const Desired desired = step(observed, kNow + seconds(60));
  EXPECT_EQ(observed.job.status.reason, "DeadlineExceeded");
  EXPECT_EQ(removed(desired), (std::vector<std::string>{"u0", "u1"}));
}

TEST(TrainingEnds, the_deadline_counts_only_time_that_the_job_runs) {
  Observed observed = two_workers();
  observed.job.spec.run_policy.active_deadline_seconds = 60;
  observed.job.status.plan.reset();
  observed.standing = {};
  observed.standing.kind = queue::Standing::Kind::waiting;
  step(observed, kNow + seconds(600));
  EXPECT_EQ(observed.job.status.stage, "Waiting");
}

TEST(TrainingEnds, a_job_expires_its_time_to_live_after_its_end) {
  Observed observed = two_workers(Phase::succeeded, Phase::succeeded);
  observed.job.spec.run_policy.ttl_seconds_after_finished = 30;
  step(observed);
  ASSERT_EQ(observed.job.status.stage, "Completed");
  observed.pods.clear();
  const Desired early = step(observed, kNow + seconds(29));
  EXPECT_FALSE(early.expired);
  EXPECT_EQ(early.look_again, std::optional<Duration>(seconds(1)));
  EXPECT_TRUE(step(observed, kNow + seconds(30)).expired);
}

TEST(TrainingEnds, the_policy_of_cleaning_chooses_the_pods_that_stay) {
  struct Case {
    const char* policy;
    std::vector<std::string> removed;
  };
  // Worker 0 succeeded; worker 1 has not started yet.
  for (const Case& each : {Case{"All", {"u0", "u1"}}, Case{"Running", {"u1"}}, Case{"None", {}}}) {
    Observed observed = two_workers(Phase::succeeded, Phase::pending);
    observed.job.spec.run_policy.clean_pod_policy = each.policy;
    observed.job.spec.run_policy.active_deadline_seconds = 1;
    EXPECT_EQ(removed(step(observed, kNow + seconds(1))), each.removed) << each.policy;
    EXPECT_EQ(observed.job.status.stage, "Completed");
  }
}

TEST(TrainingEnds, a_job_of_another_manager_is_left_alone) {
  Observed observed = two_workers(Phase::failed, Phase::failed);
  observed.job.spec.run_policy.managed_by = "kueue.x-k8s.io/multikueue";
  observed.job.status = {};
  const Desired desired = step(observed);
  EXPECT_FALSE(desired.status);
  EXPECT_TRUE(desired.remove.empty());
  EXPECT_TRUE(desired.create.empty());
}

}  // namespace
}  // namespace codeflare::controllers::trainingjob
