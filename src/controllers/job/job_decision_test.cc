#include "controllers/job/job_decision.h"

#include "model/condition.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace codeflare::controllers::job {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

const WallTime kNow{seconds(1'700'000'000)};

model::Job job(std::int32_t parallelism, std::optional<std::int32_t> completions) {
  model::Job job;
  job.metadata.name = "j";
  job.metadata.ns = "default";
  job.metadata.uid = "job-uid";
  job.spec.parallelism = parallelism;
  job.spec.completions = completions;
  job.spec.backoff_limit = 6;
  job.spec.pod_template.spec.restart_policy = "Never";
  return job;
}

PodDigest pod(std::string name, Phase phase, std::int64_t index = -1) {
  return {.name = name,
          .uid = "uid-" + name,
          .owner_uid = "job-uid",
          .phase = phase,
          .tracked = true,
          .bound = phase != Phase::pending,
          .index = index,
          .created = kNow - minutes(5),
          .ended = kNow - minutes(1)};
}

Desired look(model::Job job, std::vector<PodDigest> pods, WallTime now = kNow) {
  return decide({.job = std::move(job), .ns = "default", .pods = std::move(pods)}, now);
}

bool holds(const Desired& desired, std::string_view type) {
  return desired.status && model::is_condition_true(desired.status->conditions, type);
}

std::vector<std::string> names(const std::vector<PodDigest>& pods) {
  std::vector<std::string> result;
  for (const PodDigest& pod : pods) {
    result.push_back(pod.name);
  }
  return result;
}

using Names = std::vector<std::string>;

TEST(JobDecision, starts_as_many_pods_as_may_run_at_a_time) {
  const Desired first = look(job(3, 5), {});
  EXPECT_EQ(first.create.size(), 3u);
  ASSERT_TRUE(first.status);
  EXPECT_EQ(first.status->active, 3);
  EXPECT_EQ(first.status->ready, 0);
  EXPECT_EQ(first.status->terminating, 0);
  EXPECT_EQ(first.status->start_time, kNow);
  EXPECT_EQ(look(job(3, 2), {}).create.size(), 2u);
}

TEST(JobDecision, a_success_is_written_down_before_its_pod_is_let_go_and_counted_after) {
  const Desired first = look(job(1, 2), {pod("a", Phase::succeeded)});
  ASSERT_TRUE(first.status);
  EXPECT_EQ(first.status->uncounted_terminated_pods->succeeded, Names{"uid-a"});
  EXPECT_EQ(first.status->succeeded, 0);
  EXPECT_EQ(names(first.release), Names{"a"});
  EXPECT_EQ(first.create.size(), 1u);

  model::Job later = job(1, 2);
  later.status = *first.status;
  PodDigest released = pod("a", Phase::succeeded);
  released.tracked = false;
  const Desired second = look(later, {released, pod("b", Phase::running)});
  ASSERT_TRUE(second.status);
  EXPECT_TRUE(second.status->uncounted_terminated_pods->succeeded.empty());
  EXPECT_EQ(second.status->succeeded, 1);
  EXPECT_TRUE(second.create.empty());

  // A deletion of the pod now changes nothing.
  model::Job counted = job(1, 2);
  counted.status = *second.status;
  const Desired third = look(counted, {pod("b", Phase::running)});
  EXPECT_FALSE(third.status);
  EXPECT_TRUE(third.create.empty());
}

TEST(JobDecision, a_written_down_end_that_is_not_let_go_yet_is_not_counted_twice) {
  model::Job again = job(1, 3);
  again.status.uncounted_terminated_pods = {.succeeded = {"uid-a"}};
  again.status.succeeded = 1;
  const Desired desired = look(again, {pod("a", Phase::succeeded)});
  EXPECT_EQ(names(desired.release), Names{"a"});
  EXPECT_EQ(desired.create.size(), 1u);
  EXPECT_FALSE(holds(desired, "Complete"));
}

TEST(JobDecision, the_last_success_completes_it_in_one_write) {
  model::Job running = job(1, 1);
  running.status.start_time = kNow - minutes(2);
  const Desired desired = look(running, {pod("a", Phase::succeeded)});
  EXPECT_FALSE(holds(desired, "SuccessCriteriaMet"));
  EXPECT_TRUE(holds(desired, "Complete"));
  EXPECT_EQ(desired.status->succeeded, 1);
  EXPECT_EQ(desired.status->completion_time, kNow);
  EXPECT_TRUE(desired.status->uncounted_terminated_pods->succeeded.empty());
  EXPECT_EQ(names(desired.release), Names{"a"});
  const model::Condition& complete = desired.status->conditions.back();
  EXPECT_EQ(complete.reason, "CompletionsReached");
  EXPECT_EQ(complete.message, "Reached expected number of succeeded pods");
  EXPECT_EQ(complete.last_probe_time, kNow);

  model::Job over = running;
  over.status = *desired.status;
  const Desired after = look(over, {pod("a", Phase::succeeded)});
  EXPECT_FALSE(after.status);
  EXPECT_EQ(names(after.release), Names{"a"});
}

TEST(JobDecision, without_completions_the_first_success_ends_it_and_the_others_may_finish) {
  const Desired waiting =
      look(job(2, std::nullopt), {pod("a", Phase::succeeded), pod("b", Phase::running)});
  EXPECT_TRUE(waiting.create.empty());
  EXPECT_TRUE(waiting.stop.empty());
  EXPECT_FALSE(holds(waiting, "Complete"));
  EXPECT_TRUE(
      holds(look(job(2, std::nullopt), {pod("a", Phase::succeeded), pod("b", Phase::succeeded)}),
            "Complete"));
}

TEST(JobDecision, failures_in_a_row_wait_longer_each_time) {
  EXPECT_EQ(failure_backoff(1), seconds(10));
  EXPECT_EQ(failure_backoff(2), seconds(20));
  EXPECT_EQ(failure_backoff(6), seconds(320));
  EXPECT_EQ(failure_backoff(7), minutes(10));
  EXPECT_EQ(failure_backoff(1000), minutes(10));

  PodDigest just_failed = pod("a", Phase::failed);
  just_failed.ended = kNow - seconds(4);
  const Desired wait = look(job(1, 1), {just_failed});
  EXPECT_TRUE(wait.create.empty());
  EXPECT_EQ(wait.look_again, seconds(6));
  EXPECT_EQ(look(job(1, 1), {just_failed}, kNow + seconds(6)).create.size(), 1u);
  // A success in between starts the row over.
  PodDigest succeeded = pod("b", Phase::succeeded);
  succeeded.ended = kNow - seconds(1);
  EXPECT_EQ(look(job(1, 2), {just_failed, succeeded}).create.size(), 1u);
}

TEST(JobDecision, too_many_failures_stop_the_rest_and_then_fail_it) {
  model::Job tired = job(2, 2);
  tired.spec.backoff_limit = 0;
  const Desired stopping = look(tired, {pod("a", Phase::failed), pod("b", Phase::running)});
  EXPECT_EQ(names(stopping.stop), Names{"b"});
  EXPECT_TRUE(holds(stopping, "FailureTarget"));
  EXPECT_FALSE(holds(stopping, "Failed"));
  EXPECT_EQ(stopping.status->uncounted_terminated_pods->failed, (Names{"uid-a", "uid-b"}));
  EXPECT_EQ(stopping.status->active, 0);
  EXPECT_EQ(stopping.status->terminating, 1);
  EXPECT_EQ(names(stopping.release), (Names{"a", "b"}));

  model::Job later = tired;
  later.status = *stopping.status;
  PodDigest released = pod("a", Phase::failed);
  released.tracked = false;
  const Desired over = look(later, {released});
  EXPECT_TRUE(holds(over, "Failed"));
  EXPECT_EQ(over.status->failed, 2);
  EXPECT_EQ(over.status->conditions.back().reason, "BackoffLimitExceeded");
  ASSERT_EQ(over.events.size(), 1u);
  EXPECT_TRUE(over.events[0].warning);
}

TEST(JobDecision, restarts_of_containers_count_against_the_limit_when_pods_restart_them) {
  model::Job restarting = job(1, 1);
  restarting.spec.backoff_limit = 3;
  restarting.spec.pod_template.spec.restart_policy = "OnFailure";
  PodDigest flaky = pod("a", Phase::running);
  flaky.restarts = 2;
  EXPECT_FALSE(holds(look(restarting, {flaky}), "FailureTarget"));
  flaky.restarts = 3;
  EXPECT_TRUE(holds(look(restarting, {flaky}), "FailureTarget"));
}

TEST(JobDecision, a_deadline_is_waited_for_and_then_ends_it) {
  model::Job hurried = job(1, 1);
  hurried.spec.active_deadline_seconds = 60;
  hurried.status.start_time = kNow - seconds(50);
  EXPECT_EQ(look(hurried, {pod("a", Phase::running)}).look_again, seconds(10));
  const Desired late = look(hurried, {pod("a", Phase::running)}, kNow + seconds(10));
  EXPECT_EQ(late.status->conditions.front().reason, "DeadlineExceeded");
  EXPECT_EQ(names(late.stop), Names{"a"});
}

TEST(JobDecision, suspending_gives_pods_up_without_counting_them_and_resuming_starts_the_clock) {
  model::Job held = job(2, 2);
  held.spec.suspend = true;
  held.status.start_time = kNow - minutes(9);
  const Desired suspended = look(held, {pod("a", Phase::running), pod("b", Phase::pending)});
  EXPECT_EQ(suspended.give_up.size(), 2u);
  EXPECT_TRUE(suspended.release.empty());
  EXPECT_TRUE(holds(suspended, "Suspended"));
  EXPECT_EQ(suspended.status->active, 0);

  model::Job resumed = held;
  resumed.spec.suspend = false;
  resumed.status = *suspended.status;
  const Desired going = look(resumed, {});
  EXPECT_EQ(going.create.size(), 2u);
  EXPECT_EQ(going.status->start_time, kNow);
  EXPECT_EQ(going.status->conditions.front().status, "False");
  EXPECT_EQ(going.status->conditions.front().reason, "JobResumed");
}

TEST(JobDecision, a_job_that_begins_suspended_has_no_start_time) {
  model::Job held = job(1, 1);
  held.spec.suspend = true;
  const Desired desired = look(held, {});
  EXPECT_TRUE(desired.create.empty());
  EXPECT_FALSE(desired.status->start_time);
  EXPECT_TRUE(holds(desired, "Suspended"));
}

TEST(JobDecision, fewer_pods_are_those_that_have_come_least_far) {
  PodDigest ready = pod("c", Phase::running);
  ready.ready = true;
  const Desired desired =
      look(job(1, 9), {pod("a", Phase::running), pod("b", Phase::pending), ready});
  EXPECT_EQ(names(desired.give_up), (Names{"b", "a"}));
  EXPECT_TRUE(desired.create.empty());
}

TEST(JobDecision, indexes_are_filled_from_below_and_doubles_go) {
  model::Job indexed = job(3, 5);
  indexed.spec.completion_mode = "Indexed";
  EXPECT_EQ(look(indexed, {}).create, (std::vector<std::int64_t>{0, 1, 2}));
  const Desired desired = look(indexed, {pod("a", Phase::succeeded, 1), pod("b", Phase::running, 0),
                                         pod("c", Phase::running, 3)});
  EXPECT_EQ(desired.create, std::vector<std::int64_t>{2});
  EXPECT_EQ(desired.status->completed_indexes, "1");
  EXPECT_EQ(desired.status->succeeded, 1);
  EXPECT_EQ(names(look(indexed, {pod("a", Phase::running, 0), pod("b", Phase::pending, 0),
                                 pod("c", Phase::running, 7)})
                      .give_up),
            (Names{"c", "b"}));
}

TEST(JobDecision, an_index_that_succeeded_stays_so_when_its_pod_is_gone) {
  model::Job indexed = job(2, 2);
  indexed.spec.completion_mode = "Indexed";
  indexed.status.completed_indexes = "0";
  indexed.status.succeeded = 1;
  EXPECT_EQ(look(indexed, {}).create, std::vector<std::int64_t>{1});
  EXPECT_TRUE(holds(look(indexed, {pod("b", Phase::succeeded, 1)}), "Complete"));
}

TEST(JobDecision, a_deleted_pod_counts_as_failed_unless_only_failed_ones_are_replaced) {
  PodDigest leaving = pod("a", Phase::running);
  leaving.deleting = true;
  const Desired desired = look(job(1, 1), {leaving});
  EXPECT_EQ(desired.status->uncounted_terminated_pods->failed, Names{"uid-a"});
  EXPECT_EQ(desired.create.size(), 1u);
  model::Job patient = job(1, 1);
  patient.spec.pod_replacement_policy = "Failed";
  const Desired waiting = look(patient, {leaving});
  EXPECT_TRUE(waiting.status->uncounted_terminated_pods->failed.empty());
  EXPECT_TRUE(waiting.create.empty());
  EXPECT_EQ(waiting.status->terminating, 1);
}

TEST(JobDecision, what_is_not_supported_fails_and_says_so) {
  model::Job special = job(1, 1);
  special.spec.success_policy.text = R"({"rules":[]})";
  const Desired desired = look(special, {});
  EXPECT_TRUE(desired.create.empty());
  EXPECT_TRUE(holds(desired, "Failed"));
  EXPECT_EQ(desired.events.at(0).message,
            "spec.successPolicy is not supported by this Job controller");
}

model::Job with_policy(std::string rules) {
  model::Job result = job(1, 1);
  result.spec.backoff_limit = 0;
  result.spec.pod_failure_policy.text = R"({"rules":[)" + std::move(rules) + "]}";
  return result;
}

TEST(JobDecision, a_disruption_that_the_policy_ignores_does_not_count) {
  const model::Job patient = with_policy(
      R"({"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget","status":"True"}]})");
  PodDigest evicted = pod("a", Phase::failed);
  evicted.exits = {{"main", 143}};
  evicted.conditions = {{"DisruptionTarget", "True"}};
  const Desired desired = look(patient, {evicted});
  EXPECT_EQ(desired.create.size(), 1u);
  EXPECT_EQ(names(desired.release), Names{"a"});
  EXPECT_TRUE(desired.status->uncounted_terminated_pods->failed.empty());
  EXPECT_EQ(desired.status->failed, 0);
  EXPECT_FALSE(holds(desired, "Failed"));
  evicted.conditions.clear();
  EXPECT_TRUE(holds(look(patient, {evicted}), "Failed")) << "its own failure counts";
}

TEST(JobDecision, an_ignored_pod_is_replaced_once_it_has_failed) {
  const model::Job patient = with_policy(
      R"({"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget","status":"True"}]})");
  PodDigest leaving = pod("a", Phase::running);
  leaving.deleting = true;
  const Desired desired = look(patient, {leaving});
  EXPECT_TRUE(desired.create.empty());
  EXPECT_FALSE(holds(desired, "Failed"));
}

TEST(JobDecision, a_pod_that_is_dropped_before_it_ran_does_not_hold_its_place_for_ever) {
  const model::Job patient = with_policy(
      R"({"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget","status":"True"}]})");
  PodDigest dropped = pod("a", Phase::pending);
  dropped.deleting = true;
  dropped.dropped = true;
  EXPECT_TRUE(holds(look(patient, {dropped}), "FailureTarget")) << "its own failure counts";
  dropped.conditions = {{"DisruptionTarget", "True"}};
  const Desired drained = look(patient, {dropped});
  EXPECT_FALSE(holds(drained, "FailureTarget"));
  EXPECT_EQ(names(drained.release), Names{"a"}) << "then it goes, and is replaced";
  EXPECT_TRUE(drained.status->uncounted_terminated_pods->failed.empty());
}

TEST(JobDecision, an_exit_code_that_fails_the_job_ends_it_at_once) {
  model::Job strict =
      with_policy(R"({"action":"FailJob","onExitCodes":{"operator":"In","values":[42]}})");
  strict.spec.backoff_limit = 6;
  PodDigest bug = pod("a", Phase::failed);
  bug.exits = {{"main", 42}};
  const Desired desired = look(strict, {bug});
  EXPECT_TRUE(holds(desired, "Failed"));
  EXPECT_EQ(desired.status->failed, 1);
  ASSERT_EQ(desired.events.size(), 1u);
  EXPECT_EQ(desired.events[0].reason, "PodFailurePolicy");
  EXPECT_EQ(desired.events[0].message,
            "Container main for pod default/a failed with exit code 42 matching FailJob rule at "
            "index 0");
}

TEST(JobDecision, pods_of_a_job_that_is_gone_or_another_are_let_go) {
  EXPECT_EQ(
      names(decide({.job = std::nullopt, .ns = "default", .pods = {pod("a", Phase::running)}}, kNow)
                .release),
      Names{"a"});
  PodDigest stranger = pod("a", Phase::succeeded);
  stranger.owner_uid = "an earlier one";
  const Desired desired = look(job(1, 1), {stranger});
  EXPECT_EQ(names(desired.release), Names{"a"});
  EXPECT_EQ(desired.create.size(), 1u);
  EXPECT_FALSE(holds(desired, "Complete"));
}

TEST(JobDecision, an_ended_job_goes_when_its_time_is_over) {
  model::Job over = job(1, 1);
  over.spec.ttl_seconds_after_finished = 30;
  over.status.conditions.push_back(
      {.type = "Complete", .status = "True", .last_transition_time = kNow - seconds(20)});
  EXPECT_EQ(look(over, {}).look_again, seconds(10));
  EXPECT_FALSE(look(over, {}).expired);
  EXPECT_TRUE(look(over, {}, kNow + seconds(10)).expired);
}

TEST(JobDecision, jobs_of_other_controllers_are_left_alone) {
  model::Job elsewhere = job(1, 1);
  elsewhere.spec.managed_by = "kueue.x-k8s.io/multikueue";
  const Desired desired = look(elsewhere, {});
  EXPECT_TRUE(desired.create.empty());
  EXPECT_FALSE(desired.status);
}

TEST(JobDecision, being_ready_is_told_after_a_second) {
  model::Job running = job(1, 1);
  running.status = *look(running, {}).status;
  PodDigest ready = pod("a", Phase::running);
  ready.ready = true;
  ready.ready_since = kNow;
  const Desired soon = look(running, {ready});
  EXPECT_FALSE(soon.status);
  EXPECT_EQ(soon.look_again, seconds(1));
  const Desired later = look(running, {ready}, kNow + seconds(1));
  ASSERT_TRUE(later.status);
  EXPECT_EQ(later.status->ready, 1);
}

}  // namespace
}  // namespace codeflare::controllers::job
