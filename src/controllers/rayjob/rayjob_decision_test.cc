#include "controllers/rayjob/rayjob_decision.h"

#include "controllers/rayjob/rayjob_objects.h"
#include "controllers/rayjob/testing/sample.h"

#include <gtest/gtest.h>

namespace codeflare::controllers::rayjob {
namespace {

using std::chrono::seconds;
using testing::sample_job;

const WallTime kNow{seconds(1'800'000'000)};

// A RayJob at some point of its life; each look carries the status on.
struct Life {
  Observed observed;
  WallTime now = kNow;

  explicit Life(const std::string& more = "") {
    observed.job = sample_job(more);
    observed.suffix = "x1y2z";
  }
  Desired look() {
    Desired desired = decide(observed, now);
    observed.has_finalizer = observed.has_finalizer || desired.add_finalizer;
    if (desired.status) {
      observed.job.status = *desired.status;
    }
    if (desired.create_cluster) {
      observed.cluster = cluster_of(observed.job);
    }
    if (desired.delete_cluster) {
      observed.cluster.reset();
    }
    if (desired.delete_submitter) {
      observed.submitter.reset();
    }
    if (desired.create_submitter) {
      observed.submitter = *submitter_of(observed.job, *observed.cluster);
    }
    return desired;
  }
  void cluster_is_ready() {
    observed.cluster->status.state = "ready";
    observed.cluster->status.endpoints["dashboard"] = "8265";
  }
  // Until its job is submitted, or about to be.
  Life& run() {
    for (int i = 0; i < 3; ++i) {
      look();
    }
    cluster_is_ready();
    look();
    return *this;
  }
  void ray_says(ray::JobStatus status, const std::string& message = "") {
    observed.report = {Report::Kind::present, {.status = status, .message = message}};
    if (ray::is_terminal(status)) {
      observed.report.job.ended = now;
    }
  }
  void submitter_ends(const std::string& type) {
    observed.submitter->status.conditions.push_back({.type = type,
                                                     .status = "True",
                                                     .reason = "BackoffLimitExceeded",
                                                     .message = "too often",
                                                     .last_transition_time = now});
  }
  const model::RayJobStatus& status() const { return observed.job.status; }
  const std::string& deployment() const { return status().job_deployment_status; }
};

TEST(RayJobDecision, names_are_in_the_status_before_anything_is_made) {
  Life life;
  EXPECT_TRUE(life.look().add_finalizer);
  EXPECT_EQ(life.deployment(), "");
  const Desired begun = life.look();
  EXPECT_FALSE(begun.create_cluster);
  EXPECT_EQ(life.deployment(), "Initializing");
  EXPECT_EQ(life.status().job_id, "train-x1y2z");
  EXPECT_EQ(life.status().ray_cluster_name, "train-x1y2z");
  EXPECT_EQ(life.status().start_time, kNow);
  EXPECT_EQ(life.status().failed, 0);
  EXPECT_TRUE(life.look().create_cluster);
  EXPECT_FALSE(life.look().create_cluster);
  EXPECT_EQ(life.deployment(), "Initializing");
}

TEST(RayJobDecision, a_job_is_submitted_by_a_pod_when_its_cluster_is_ready) {
  Life life;
  life.run();
  EXPECT_TRUE(life.observed.submitter.has_value());
  EXPECT_EQ(life.deployment(), "Running");
  EXPECT_EQ(life.status().dashboard_url, "train-x1y2z-head-svc.default.svc.cluster.local:8265");
  EXPECT_EQ(life.status().ray_cluster_status->state, "ready");
  const Desired running = life.look();
  EXPECT_TRUE(running.write_service);
  EXPECT_FALSE(running.submit_ray_job);
  EXPECT_EQ(running.look_again, seconds(3));
}

TEST(RayJobDecision, the_end_is_that_of_ray_and_of_the_submitter) {
  Life life("\"shutdownAfterJobFinishes\":true,\"ttlSecondsAfterFinished\":10,");
  life.run().ray_says(ray::JobStatus::running);
  life.look();
  EXPECT_EQ(life.status().job_status, "RUNNING");
  life.ray_says(ray::JobStatus::succeeded);
  life.look();
  EXPECT_EQ(life.status().job_status, "SUCCEEDED");
  EXPECT_EQ(life.deployment(), "Running");
  life.submitter_ends("Complete");
  life.look();
  EXPECT_EQ(life.deployment(), "Complete");
  EXPECT_EQ(life.status().succeeded, 1);
  EXPECT_EQ(life.status().end_time, kNow);
  const Desired waiting = life.look();
  EXPECT_FALSE(waiting.status.has_value());
  EXPECT_FALSE(waiting.delete_cluster);
  EXPECT_EQ(waiting.look_again, seconds(10));
  life.now += seconds(10);
  EXPECT_TRUE(life.look().delete_cluster);
  EXPECT_FALSE(life.look().look_again.has_value());
}

TEST(RayJobDecision, a_time_of_ray_is_written_once) {
  Life life("\"submissionMode\":\"HTTPMode\",");
  life.run().ray_says(ray::JobStatus::running);
  life.observed.report.job.started = kNow + std::chrono::milliseconds(1500);
  life.look();
  EXPECT_EQ(life.status().ray_job_info.start_time, kNow + seconds(1));
  EXPECT_FALSE(life.look().status.has_value());
}

TEST(RayJobDecision, a_failed_job_is_tried_again_on_a_new_cluster) {
  Life life("\"backoffLimit\":1,");
  life.run().ray_says(ray::JobStatus::failed, "exit code 1");
  life.submitter_ends("Complete");
  life.look();
  EXPECT_EQ(life.deployment(), "Retrying");
  EXPECT_EQ(life.status().failed, 1);
  EXPECT_EQ(life.status().reason, "AppFailed");
  const Desired down = life.look();
  EXPECT_TRUE(down.delete_cluster && down.delete_submitter);
  life.observed.report = {};
  life.observed.suffix = "again";
  life.look();
  EXPECT_EQ(life.deployment(), "");
  life.look();
  EXPECT_EQ(life.status().ray_cluster_name, "train-again");
  life.look();
  life.cluster_is_ready();
  life.look();
  EXPECT_EQ(life.deployment(), "Running");
  life.ray_says(ray::JobStatus::failed, "exit code 1");
  life.submitter_ends("Complete");
  life.look();
  EXPECT_EQ(life.deployment(), "Failed");
  EXPECT_EQ(life.status().failed, 2);
  EXPECT_EQ(life.status().reason, "AppFailed");
  EXPECT_EQ(life.status().message, "exit code 1");
}

TEST(RayJobDecision, a_submitter_that_fails_is_a_failed_submission) {
  Life life;
  life.run().submitter_ends("Failed");
  life.look();
  EXPECT_EQ(life.deployment(), "Failed");
  EXPECT_EQ(life.status().reason, "SubmissionFailed");
  EXPECT_EQ(life.status().message,
            "Job submission has failed. Reason: BackoffLimitExceeded. Message: too often");
}

TEST(RayJobDecision, a_submitter_that_ended_without_a_job_has_failed) {
  Life life;
  life.run().submitter_ends("Complete");
  life.observed.report.kind = Report::Kind::absent;
  life.look();
  EXPECT_EQ(life.deployment(), "Failed");
  EXPECT_EQ(life.status().reason, "AppFailed");
}

TEST(RayJobDecision, a_dashboard_that_is_gone_after_the_submitter_is_waited_for_half_a_minute) {
  Life life;
  life.run().submitter_ends("Complete");
  life.look();
  EXPECT_EQ(life.deployment(), "Running");
  life.now += seconds(30);
  life.look();
  EXPECT_EQ(life.deployment(), "Failed");
  EXPECT_EQ(life.status().reason, "JobDeploymentStatusTransitionGracePeriodExceeded");
}

TEST(RayJobDecision, ray_is_asked_before_a_late_look_gives_up) {
  Life life;
  life.run().submitter_ends("Complete");
  life.now += seconds(600);
  life.ray_says(ray::JobStatus::succeeded);
  life.look();
  EXPECT_EQ(life.deployment(), "Complete");
}

TEST(RayJobDecision, a_submitter_that_never_ends_does_not_keep_the_job) {
  Life life;
  life.run().ray_says(ray::JobStatus::stopped);
  life.look();
  EXPECT_EQ(life.deployment(), "Running");
  life.now += seconds(300);
  life.look();
  EXPECT_EQ(life.deployment(), "Complete");
  EXPECT_EQ(life.status().job_status, "STOPPED");
  EXPECT_EQ(life.status().succeeded, 0);
}

TEST(RayJobDecision, a_deleted_submitter_is_made_anew) {
  Life life;
  life.run();
  life.observed.submitter.reset();
  EXPECT_TRUE(life.look().create_submitter);
  EXPECT_EQ(life.deployment(), "Running");
}

TEST(RayJobDecision, http_mode_submits_when_ray_does_not_know_the_job) {
  Life life("\"submissionMode\":\"HTTPMode\",\"jobId\":\"mine\",");
  life.run();
  EXPECT_FALSE(life.observed.submitter.has_value());
  EXPECT_EQ(life.status().job_id, "mine");
  EXPECT_FALSE(life.look().submit_ray_job);  // no answer: nothing is known
  life.observed.report.kind = Report::Kind::absent;
  EXPECT_TRUE(life.look().submit_ray_job);
  life.ray_says(ray::JobStatus::failed);
  life.look();
  EXPECT_EQ(life.deployment(), "Failed");
}

TEST(RayJobDecision, interactive_mode_waits_for_an_id) {
  Life life("\"submissionMode\":\"InteractiveMode\",");
  life.run();
  EXPECT_EQ(life.deployment(), "Waiting");
  EXPECT_EQ(life.status().job_id, "");
  EXPECT_FALSE(life.look().status.has_value());
  life.observed.job.spec.job_id = "raysubmit_1";
  life.look();
  EXPECT_EQ(life.deployment(), "Running");
  EXPECT_EQ(life.status().job_id, "raysubmit_1");
  life.ray_says(ray::JobStatus::succeeded);
  life.look();
  EXPECT_EQ(life.deployment(), "Complete");
}

TEST(RayJobDecision, a_deadline_fails_the_job_for_good) {
  Life life("\"activeDeadlineSeconds\":60,\"backoffLimit\":3,");
  life.run();
  EXPECT_EQ(life.look().look_again, seconds(3));
  life.now += seconds(58);
  EXPECT_EQ(life.look().look_again, seconds(2));
  life.now += seconds(2);
  EXPECT_TRUE(life.look().stop_ray_job);
  EXPECT_EQ(life.deployment(), "Failed");
  EXPECT_EQ(life.status().reason, "DeadlineExceeded");
  EXPECT_EQ(life.status().end_time, life.now);
}

TEST(RayJobDecision, suspending_takes_everything_down_and_resuming_begins_anew) {
  Life life("\"shutdownAfterJobFinishes\":true,");
  life.run();
  life.observed.job.spec.suspend = true;
  life.look();
  EXPECT_EQ(life.deployment(), "Suspending");
  const Desired down = life.look();
  EXPECT_TRUE(down.delete_cluster && down.delete_submitter);
  EXPECT_EQ(life.deployment(), "Suspending");
  life.look();
  EXPECT_EQ(life.deployment(), "Suspended");
  EXPECT_EQ(life.status().ray_cluster_name, "");
  EXPECT_FALSE(life.look().status.has_value());
  life.observed.job.spec.suspend = false;
  life.look();
  EXPECT_EQ(life.deployment(), "");
  life.look();
  EXPECT_EQ(life.deployment(), "Initializing");
}

TEST(RayJobDecision, a_selected_cluster_is_neither_made_nor_deleted) {
  Life life(R"("clusterSelector":{"ray.io/cluster":"big"},"shutdownAfterJobFinishes":true,)"
            R"("submissionMode":"HTTPMode","jobId":"mine","backoffLimit":1,)");
  life.look();
  life.look();
  EXPECT_EQ(life.status().ray_cluster_name, "big");
  const Desired missing = life.look();
  EXPECT_FALSE(missing.create_cluster);
  ASSERT_EQ(missing.events.size(), 1u);
  EXPECT_EQ(missing.events[0].reason, "RayClusterNotFound");
  life.observed.cluster.emplace().metadata.name = "big";
  life.observed.cluster->metadata.ns = "default";
  life.cluster_is_ready();
  life.look();
  life.ray_says(ray::JobStatus::failed);
  life.look();
  EXPECT_EQ(life.deployment(), "Retrying");
  EXPECT_FALSE(life.look().delete_cluster);
  life.observed.report = {};
  life.look();
  // Ray keeps the first id.
  EXPECT_EQ(life.status().job_id, "train-x1y2z");
  life.look();
  life.ray_says(ray::JobStatus::succeeded);
  life.look();
  EXPECT_EQ(life.deployment(), "Complete");
  EXPECT_FALSE(life.look().delete_cluster);
  EXPECT_FALSE(life.look().write_service);
}

TEST(RayJobDecision, a_deleted_job_is_stopped_once_and_let_go) {
  Life life;
  life.run();
  life.observed.deleting = true;
  EXPECT_FALSE(needs_report(life.observed));
  const Desired going = life.look();
  EXPECT_TRUE(going.stop_ray_job && going.remove_finalizer);
  EXPECT_FALSE(going.status.has_value());
  life.observed.job.status.job_status = "SUCCEEDED";
  EXPECT_FALSE(life.look().stop_ray_job);
}

TEST(RayJobDecision, what_is_not_supported_says_so) {
  const auto message = [](const std::string& more) {
    Life life(more);
    const Desired desired = life.look();
    EXPECT_EQ(desired.events.size(), 1u);
    EXPECT_FALSE(life.look().status.has_value());
    EXPECT_EQ(life.deployment(), "ValidationFailed");
    EXPECT_EQ(life.status().reason, "ValidationFailed");
    return life.status().message;
  };
  EXPECT_EQ(message("\"submissionMode\":\"SidecarMode\","),
            "The RayJob spec is invalid: submissionMode SidecarMode is not supported by this "
            "controller; use K8sJobMode, HTTPMode or InteractiveMode");
  EXPECT_TRUE(message(R"("deletionStrategy":{"deletionRules":[]},)")
                  .contains("deletionStrategy is not supported by this controller"));
  EXPECT_TRUE(message("\"suspend\":true,").contains("is not allowed to be suspended"));
  EXPECT_TRUE(message("\"ttlSecondsAfterFinished\":5,").contains("cannot have TTLSeconds"));
  EXPECT_TRUE(message("\"activeDeadlineSeconds\":0,").contains("must be a positive integer"));
  EXPECT_TRUE(message("\"runtimeEnvYAML\":\"[1]\",").contains("not a YAML mapping"));
  EXPECT_TRUE(message("\"entrypointResources\":\"x\",").contains("not a JSON object"));
  EXPECT_TRUE(message(R"("clusterSelector":{"a":"b"},)").contains("should not be empty"));
  EXPECT_TRUE(message("\"submissionMode\":\"InteractiveMode\",\"backoffLimit\":1,")
                  .contains("incompatible with InteractiveMode"));
}

}  // namespace
}  // namespace codeflare::controllers::rayjob
