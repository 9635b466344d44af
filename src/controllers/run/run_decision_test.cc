#include "controllers/run/run_decision.h"

#include "model/condition.h"
#include "platform/names.h"

#include <gtest/gtest.h>

namespace codeflare::controllers::runs {
namespace {

using std::chrono::seconds;

const WallTime kNow{seconds(1'000'000)};

Observed observed() {
  Observed made;
  made.input.run.metadata.name = "r";
  made.input.run.metadata.ns = "default";
  made.input.run.metadata.uid = "u";
  made.input.run.metadata.creation_timestamp = kNow;
  made.input.run.spec.application.name = "app";
  made.input.run.spec.size = "xs";
  model::Application& application = made.input.application.emplace();
  application.metadata.name = "app";
  application.metadata.ns = "default";
  application.spec.api = "shell";
  application.spec.image = "i";
  application.spec.command = "true";
  return made;
}

Observed dispatched(std::string state) {
  Observed made = observed();
  const Desired first = decide(made, kNow);
  made.wrapper = first.create;
  made.input.run.status = first.status;
  made.wrapper->status.state = std::move(state);
  return made;
}

RunPod pod(std::string name, std::string phase, std::string trouble = "") {
  return {.name = std::move(name),
          .phase = std::move(phase),
          .index = "0",
          .trouble = std::move(trouble),
          .message = "container main exited with code 3: boom"};
}

TEST(RunDecision, a_good_run_gets_one_app_wrapper) {
  const Desired desired = decide(observed(), kNow);
  ASSERT_TRUE(desired.create);
  EXPECT_EQ(desired.status.phase, "Queued");
  EXPECT_EQ(desired.status.app_wrapper, desired.create->metadata.name);
  EXPECT_TRUE(model::is_condition_true(desired.status.conditions, "Compiled"));
  EXPECT_FALSE(desired.status.effective.empty());
}

TEST(RunDecision, what_is_missing_may_come_within_a_minute) {
  Observed without = observed();
  without.input.application.reset();
  const Desired early = decide(without, kNow + seconds(10));
  EXPECT_EQ(early.status.phase, "Pending");
  EXPECT_EQ(early.status.message, "spec.application: Application default/app does not exist");
  EXPECT_EQ(early.again, Duration(seconds(50)));
  const Desired late = decide(without, kNow + seconds(60));
  EXPECT_EQ(late.status.phase, "Failed");
  EXPECT_EQ(late.status.reason, "Missing");
  EXPECT_EQ(late.events.size(), 1u);
}

TEST(RunDecision, a_wrong_run_fails_at_once) {
  Observed wrong = observed();
  wrong.input.run.spec.parameters = {R"({"x":1})"};
  EXPECT_EQ(decide(wrong, kNow).status.phase, "Failed");
  EXPECT_EQ(decide(wrong, kNow).status.reason, "Invalid");
}

TEST(RunDecision, follows_the_queue_and_the_pods) {
  Observed at = dispatched("Pending");
  EXPECT_EQ(decide(at, kNow).status.phase, "Queued");
  at.wrapper->status.state = "Running";
  EXPECT_EQ(decide(at, kNow).status.phase, "Queued");  // a quick start is not reported
  at.wrapper->status.plan.emplace().started = model::MicroTime{kNow};
  EXPECT_EQ(decide(at, kNow + kStartPatience).status.phase, "Starting");
  at.pods = {pod("p", "Running")};
  const Desired running = decide(at, kNow);
  EXPECT_EQ(running.status.phase, "Running");
  EXPECT_EQ(running.status.head_pod, "p");
  at.wrapper->status.state = "Completed";
  EXPECT_EQ(decide(at, kNow).status.phase, "Completed");
}

TEST(RunDecision, a_slow_start_names_what_is_not_ready_unless_a_pod_does) {
  Observed at = dispatched("Running");
  at.wrapper->status.plan.emplace().started = model::MicroTime{kNow};
  model::Condition ready;
  ready.type = "Ready";
  ready.status = "False";
  ready.message = "spec.repoSecret: Secret default/git does not exist";
  at.input.application->status.conditions = {ready};
  const Desired slow = decide(at, kNow + kStartPatience);
  EXPECT_EQ(slow.status.reason, "NotReady");
  EXPECT_EQ(slow.status.message,
            "Application default/app is not ready: spec.repoSecret: Secret default/git does not "
            "exist");
  at.input.run.status = slow.status;
  EXPECT_EQ(decide(at, kNow + kStartPatience).status, slow.status);
  at.pods = {pod("p", "Pending", "ImagePullBackOff")};
  EXPECT_EQ(decide(at, kNow + kStartPatience).status.reason, "ImagePullBackOff");
  at.pods = {pod("p", "Running")};
  EXPECT_EQ(decide(at, kNow + kStartPatience).status.message, "");
}

TEST(RunDecision, a_failed_run_says_why_also_when_its_pods_are_gone) {
  Observed at = dispatched("Running");
  at.pods = {pod("p", "Failed", "Error")};
  at.input.run.status = decide(at, kNow).status;
  at.wrapper->status.state = "Failed";
  const std::string why = "pod p: container main exited with code 3: boom";
  EXPECT_EQ(decide(at, kNow).status.message, why);
  at.pods.clear();
  const Desired later = decide(at, kNow);
  EXPECT_EQ(later.status.phase, "Failed");
  EXPECT_EQ(later.status.message, why);
}

TEST(RunDecision, an_end_stays) {
  Observed at = dispatched("Completed");
  at.input.run.status = decide(at, kNow).status;
  for (const std::string state : {"Failed", "Running", "Pending"}) {
    at.wrapper->status.state = state;
    EXPECT_EQ(decide(at, kNow).status.phase, "Completed");
  }
  at.wrapper.reset();
  EXPECT_EQ(decide(at, kNow).status, at.input.run.status);
  EXPECT_FALSE(decide(at, kNow).create);
}

TEST(RunDecision, a_deleted_app_wrapper_is_not_made_anew) {
  Observed at = dispatched("Running");
  at.wrapper.reset();
  const Desired desired = decide(at, kNow);
  EXPECT_FALSE(desired.create);
  EXPECT_EQ(desired.status.reason, "AppWrapperDeleted");
}

TEST(RunDecision, another_ones_app_wrapper_is_left_alone) {
  Observed at = dispatched("Running");
  at.wrapper->metadata.owner_references[0].uid = "other";
  const Desired desired = decide(at, kNow);
  EXPECT_EQ(desired.status.reason, "NameTaken");
  EXPECT_TRUE(desired.wrapper_patch.empty());
  EXPECT_FALSE(desired.remove_wrapper);
}

TEST(RunDecision, suspend_and_priority_go_to_the_app_wrapper) {
  Observed at = dispatched("Pending");
  at.input.run.spec.suspend = true;
  at.input.run.spec.priority = "high";
  at.input.run.metadata.generation = 2;
  EXPECT_EQ(decide(at, kNow).wrapper_patch, R"({"spec":{"suspend":true,"priority":100}})");
}

TEST(RunDecision, a_new_priority_does_not_need_the_application) {
  Observed at = dispatched("Pending");
  at.input.run.spec.priority = "low";
  at.input.run.metadata.generation = 2;
  at.input.application.reset();
  const Desired desired = decide(at, kNow);
  EXPECT_EQ(desired.wrapper_patch, R"({"spec":{"priority":-100}})");
  EXPECT_TRUE(desired.events.empty());
}

TEST(RunDecision, a_new_priority_that_a_policy_rejects_is_reported_once) {
  Observed at = dispatched("Pending");
  at.input.run.spec.priority = "high";
  at.input.run.metadata.generation = 2;
  model::RunPolicy& policy = at.input.policies.emplace_back();
  policy.metadata.name = "calm";
  policy.spec.limits.emplace().priorities = {"low", "normal"};
  const Desired desired = decide(at, kNow);
  EXPECT_TRUE(desired.wrapper_patch.empty());
  ASSERT_EQ(desired.events.size(), 1u);
  EXPECT_EQ(desired.events[0].reason, "PriorityRejected");
  EXPECT_EQ(desired.events[0].message,
            "spec.priority: 'high' (from run) is not allowed by RunPolicy calm; allowed: low, "
            "normal; the priority stays 0");
  at.input.run.status = desired.status;
  EXPECT_TRUE(decide(at, kNow).events.empty());
}

TEST(RunDecision, work_that_is_queued_again_is_not_dispatched) {
  Observed at = dispatched("Running");
  at.pods = {pod("p", "Running")};
  at.input.run.status = decide(at, kNow).status;
  EXPECT_TRUE(model::is_condition_true(at.input.run.status.conditions, "Dispatched"));
  at.pods.clear();
  at.wrapper->status.state = "Pending";
  const Desired queued = decide(at, kNow);
  EXPECT_EQ(queued.status.phase, "Queued");
  EXPECT_FALSE(model::is_condition_true(queued.status.conditions, "Dispatched"));
  EXPECT_EQ(decide(dispatched("Pending"), kNow).status.conditions.size(), 1u) << "never dispatched";
}

TEST(RunDecision, a_life_without_trouble_writes_three_statuses) {
  int writes = 0;
  Observed at = observed();
  const auto look = [&] {
    Desired desired = decide(at, kNow);
    writes += desired.status == at.input.run.status ? 0 : 1;
    at.input.run.status = desired.status;
    return desired;
  };
  at.wrapper = look().create;
  for (const std::string state : {"", "Pending", "Running"}) {
    at.wrapper->status.state = state;
    look();
  }
  for (const std::string phase : {"Pending", "Running", "Succeeded"}) {
    at.pods = {pod("p", phase)};
    at.pods[0].message.clear();
    look();
  }
  at.wrapper->status.state = "Completed";
  look();
  EXPECT_EQ(at.input.run.status.phase, "Completed");
  at.pods.clear();
  look();
  EXPECT_EQ(writes, 3);
}

TEST(RunDecision, cancelling_removes_the_app_wrapper_and_keeps_the_run) {
  Observed at = dispatched("Running");
  at.input.run.metadata.annotations.emplace(platform::kCancelAnnotation, "true");
  const Desired desired = decide(at, kNow);
  EXPECT_TRUE(desired.remove_wrapper);
  EXPECT_EQ(desired.status.reason, "Cancelled");
}

TEST(RunDecision, a_run_goes_when_its_time_after_the_end_is_up) {
  Observed at = dispatched("Completed");
  at.input.run.status = decide(at, kNow).status;
  at.input.run.spec.ttl_seconds_after_finished = 10;
  EXPECT_EQ(decide(at, kNow + seconds(4)).again, Duration(seconds(6)));
  EXPECT_TRUE(decide(at, kNow + seconds(10)).remove_run);
}

}  // namespace
}  // namespace codeflare::controllers::runs
