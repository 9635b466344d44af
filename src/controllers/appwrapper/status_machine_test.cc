#include "controllers/appwrapper/status_machine.h"

#include "controllers/appwrapper/conditions.h"
#include "controllers/appwrapper/testing/status_story.h"
#include "queue/status_words.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace codeflare::controllers {
namespace {

using namespace testing;  // NOLINT
using std::chrono::minutes;
using std::chrono::seconds;

// --- the queue ---

TEST(StatusMachine, a_refusal_by_quota_has_mcads_words) {
  Story s;
  s.waits(Reason::insufficient_quota);
  s.settle();
  EXPECT_EQ(s.history().back(),
            "Backoff True [quota limit exceeded] [Insufficient quota and/or resources to dispatch "
            "AppWrapper.]");
}

TEST(StatusMachine, one_for_whom_quota_is_taken_back_is_refused_by_quota) {
  Story s;
  s.waits(Reason::preempting);
  s.world.standing.quota = true;
  s.settle();
  EXPECT_TRUE(s.history().back().starts_with("Backoff True [quota limit exceeded]"));
  EXPECT_EQ(s.wrapper.status.conditions.back().reason, "Preempting");
}

TEST(StatusMachine, a_held_one_is_not_called_head_of_line) {
  Story s;
  s.waits(Reason::held);
  s.settle();
  EXPECT_EQ(s.history(), (Lines{kInit, kQueueing}));
  EXPECT_EQ(s.wrapper.status.conditions.back().reason, "Held");
}

TEST(StatusMachine, one_that_was_not_tried_yet_is_left_alone) {
  Story s;
  s.waits(Reason::evaluating);
  EXPECT_EQ(s.settle().act, Act::none);
  EXPECT_TRUE(s.acts.empty());
}

TEST(StatusMachine, queued_is_written_again_when_it_lacks_the_note_on_machines) {
  Story s;
  s.waits(Reason::insufficient_resources);
  s.settle();
  s.world.standing.message = "needs 3 machines of type big";
  s.world.sentence = [] { return "cpu: 4 asked, 2 free; needs 3 machines of type big, max is 2"; };
  s.pass(minutes(1)).settle();
  EXPECT_TRUE(s.wrapper.status.conditions.back().message.ends_with("max is 2"));
  EXPECT_EQ(s.pass(minutes(1)).look().act, Act::none);
}

TEST(StatusMachine, queued_is_written_again_only_for_another_reason_and_not_too_often) {
  Story s;
  s.waits(Reason::insufficient_resources);
  s.settle();
  s.world.sentence = [] { return "cpu: 4 asked, 3 free"; };
  s.pass(minutes(1)).settle();
  EXPECT_EQ(s.acts.size(), 1u);
  s.waits(Reason::fragmented);
  s.settle();
  EXPECT_EQ(s.acts.size(), 2u);
  s.waits(Reason::insufficient_resources);
  EXPECT_EQ(s.pass(seconds(1)).settle().again, seconds(4));
  EXPECT_EQ(s.acts.size(), 2u);
  s.pass(seconds(4)).settle();
  EXPECT_EQ(s.acts.size(), 3u);
  EXPECT_EQ(s.history().size(), 4u) << "one entry per type and reason";
}

TEST(StatusMachine, a_missing_finalizer_comes_before_the_intent) {
  Story s;
  s.wrapper.metadata.finalizers.clear();
  s.waits(Reason::insufficient_resources);
  s.settle();
  s.starts();
  s.settle();
  EXPECT_EQ(s.acts, (std::vector<Act>{Act::write, Act::add_finalizer, Act::write, Act::create,
                                      Act::write}));
}

TEST(StatusMachine, a_start_that_never_reached_the_status_never_happened) {
  Story s;
  s.starts();
  s.world.standing.kind = Standing::Kind::stopping;
  const Decision decision = s.look();
  EXPECT_EQ(decision.act, Act::none);
  EXPECT_EQ(decision.tell, Tell::withdrawn);
}

// --- dispatched ---

TEST(StatusMachine, counts_are_written_at_most_every_five_seconds_and_running_rides_along) {
  Story s;
  s.dispatch();
  const std::size_t before = s.acts.size();
  s.world.pods.pending = 2;
  EXPECT_EQ(s.pass(seconds(1)).settle().again, seconds(4));
  s.world.pods = {.running = 2};
  EXPECT_EQ(s.pass(seconds(1)).settle().again, seconds(3));
  EXPECT_EQ(s.acts.size(), before);
  EXPECT_TRUE(decide(s.pass(seconds(3)).world).idle) << "nobody waits for them";
  s.settle();
  EXPECT_EQ(s.acts.size(), before + 1);
  EXPECT_EQ(s.wrapper.status.running, 2);
  EXPECT_EQ(s.history().back(), kRunning);
  EXPECT_EQ(s.pass(minutes(10)).settle().act, Act::none);
  EXPECT_EQ(s.acts.size(), before + 1);
}

TEST(StatusMachine, complete_items_with_running_pods_hold_completion) {
  Story s;
  s.dispatch();
  s.world.items[0].complete = true;
  s.world.pods.running = 1;
  s.world.settled_since = s.world.now;
  EXPECT_EQ(s.settle().again, seconds(1));
  s.pass(seconds(1)).settle();
  EXPECT_EQ(s.wrapper.status.state, "RunningHoldCompletion");
  EXPECT_EQ(s.history().back(), "RunningHoldCompletion True [SomeItemsCompleted] []");
  s.world.pods = {.succeeded = 1};
  s.pass(seconds(1)).settle();
  EXPECT_EQ(s.wrapper.status.state, "Completed");
}

TEST(StatusMachine, nothing_completes_without_a_completionstatus) {
  Story s;
  s.world.items[0].counts = false;
  s.dispatch();
  s.world.pods.succeeded = 2;
  s.pass(minutes(10)).settle();
  EXPECT_EQ(s.wrapper.status.state, "Running");
}

TEST(StatusMachine, a_failed_item_whose_pods_are_done_fails_it_and_stays_to_be_looked_at) {
  Story s;
  s.dispatch();
  s.world.pods = {.failed = 3};
  s.world.items[0].failure = "BackoffLimitExceeded: it failed too often";
  s.settle();
  EXPECT_EQ(s.wrapper.status.state, "Failed");
  EXPECT_FALSE(s.wrapper.status.plan);
  EXPECT_EQ(s.wrapper.status.failed, 3);
  EXPECT_EQ(std::ranges::count(s.acts, Act::take_back), 0);
}

TEST(StatusMachine, a_failed_item_does_not_leave_others_behind_that_may_bring_pods) {
  Story s;
  s.world.items.push_back({.name = "rayclusters.ray.io team/c", .pods = 1});
  s.dispatch();
  s.world.items[0].failure = "BackoffLimitExceeded";
  s.world.items[0].finished = true;
  s.world.settled_since = s.world.now;
  EXPECT_EQ(s.settle().again, seconds(10));
  s.pass(seconds(10)).settle();
  EXPECT_EQ(s.wrapper.status.state, "Failed");
  EXPECT_TRUE(s.wrapper.status.plan) << "until they are gone";
  EXPECT_EQ(s.acts.back(), Act::take_back);
}

TEST(StatusMachine, an_item_that_is_never_done_must_be_quiet_for_a_while) {
  Story s;
  s.world.items.push_back({.name = "rayclusters.ray.io team/c", .pods = 1});
  s.dispatch();
  s.world.items[0].complete = s.world.items[0].finished = true;
  s.world.pods = {.succeeded = 1};
  s.world.quiet_since = s.world.settled_since = s.world.now;
  // Its head is being replaced.
  s.pass(seconds(29)).settle();
  EXPECT_EQ(s.wrapper.status.state, "Running");
  s.pass(seconds(1)).settle();
  EXPECT_EQ(s.wrapper.status.state, "Completed");
}

TEST(StatusMachine, an_item_that_went_after_it_was_done_is_no_loss) {
  Story s;
  s.world.items[0].pods = 2;
  s.dispatch();
  s.world.pods = {.succeeded = 2};
  s.pass(seconds(5)).settle();
  s.world.pods = {};
  s.world.items[0].lost = true;
  s.pass(minutes(1)).settle();
  EXPECT_EQ(s.wrapper.status.state, "Completed");
  Story lost;
  lost.world.items[0].pods = 2;
  lost.dispatch();
  lost.world.pods = {.succeeded = 1};
  lost.world.items[0].lost = true;
  lost.settle();
  EXPECT_EQ(lost.wrapper.status.state, "Failed");
}

TEST(StatusMachine, one_without_any_pod_is_withdrawn_after_the_wait) {
  Story s;
  s.world.items[0].pods = 1;
  s.wrapper.spec.scheduling_spec->requeuing = model::Requeuing{.time_in_seconds = 60};
  s.dispatch();
  EXPECT_EQ(s.settle().again, seconds(60));
  s.pass(seconds(60)).settle();
  EXPECT_FALSE(s.wrapper.status.can_run);
  EXPECT_EQ(s.history()[s.history().size() - 2],
            "PreemptCandidate True [PodsNotCreated] [No pod was created for the items.]");
}

TEST(StatusMachine, lost_places_count_also_where_enough_pods_run) {
  Story s;
  s.wrapper.spec.scheduling_spec->min_available = 1;
  s.dispatch();
  s.world.pods.running = 1;
  s.world.standing.pods_lost = 1;
  s.pass(seconds(10)).settle();
  s.pass(minutes(5)).settle();
  EXPECT_FALSE(s.wrapper.status.can_run);
}

TEST(StatusMachine, the_wait_grows_as_asked_and_no_further_than_allowed) {
  struct Case {
    std::string growth;
    std::int64_t most;
    std::vector<std::int64_t> waits;
  };
  for (const Case& c : {Case{"", 0, {60, 120, 240}}, Case{"exponential", 100, {60, 100, 100}},
                        Case{"linear", 0, {60, 120, 180}}, Case{"none", 0, {60, 60, 60}}}) {
    Story s;
    s.wrapper.spec.scheduling_spec->min_available = 1;
    s.wrapper.spec.scheduling_spec->requeuing = model::Requeuing{
        .time_in_seconds = 60, .max_time_in_seconds = c.most, .growth_type = c.growth};
    for (const std::int64_t wait : c.waits) {
      s.dispatch();
      EXPECT_EQ(s.settle().again, seconds(wait)) << c.growth;
      s.pass(seconds(wait)).settle();
      EXPECT_FALSE(s.wrapper.status.can_run) << c.growth;
      s.clear();
    }
  }
}

TEST(StatusMachine, one_requeued_too_often_is_deleted_and_its_object_stays) {
  Story s;
  s.wrapper.spec.scheduling_spec->min_available = 1;
  s.wrapper.spec.scheduling_spec->requeuing =
      model::Requeuing{.time_in_seconds = 60, .growth_type = "none", .max_num_requeuings = 2};
  for (int i = 0; i < 2; ++i) {
    s.dispatch();
    s.pass(minutes(1)).settle();
    s.clear();
    EXPECT_EQ(s.wrapper.status.state, "Pending");
  }
  s.dispatch();
  s.pass(minutes(1)).settle();
  EXPECT_EQ(s.wrapper.status.state, "Deleted");
  s.clear();
  const model::AppWrapperCondition& why = s.wrapper.status.conditions.back();
  EXPECT_EQ(why.type + " " + why.status + " " + why.reason, "Queued False RequeuedTooOften");
  EXPECT_EQ(why.message,
            "Insufficient number of Running and Completed pods, minimum=1, running=0, completed=0. "
            "Requeued 2 times, the limit of schedulingSpec.requeuing.maxNumRequeuings");
  EXPECT_FALSE(s.wrapper.status.plan);
  EXPECT_EQ(s.tells.back(), Tell::forget);
  EXPECT_EQ(s.look().act, Act::none);
}

TEST(StatusMachine, pods_that_no_scheduler_takes_are_withdrawn_after_the_wait) {
  Story s;
  s.wrapper.spec.scheduling_spec->requeuing = model::Requeuing{.time_in_seconds = 60};
  s.dispatch();
  s.world.pods = {.pending = 1, .running = 1, .unschedulable = 1};
  s.pass(seconds(59)).settle();
  EXPECT_TRUE(s.wrapper.status.can_run);
  // Running was written just now; the wait begins with it.
  s.pass(minutes(1)).settle();
  EXPECT_FALSE(s.wrapper.status.can_run);
  EXPECT_EQ(s.history()[s.history().size() - 2],
            "PreemptCandidate True [PodsFailedScheduling] [Pods failed scheduling failed=1, "
            "running=1.]");
}

TEST(StatusMachine, surplus_pods_that_no_scheduler_takes_change_nothing) {
  Story s;
  s.dispatch();
  s.world.pods = {.pending = 1, .running = 2, .unschedulable = 1};
  s.pass(std::chrono::hours(1)).settle();
  EXPECT_TRUE(s.wrapper.status.can_run);
  // A planned pod may take long to start: that does not count as unschedulable either.
  s.world.pods = {.pending = 2, .running = 1, .unschedulable = 1};
  s.world.surplus_waiting = 1;
  s.pass(std::chrono::hours(1)).settle();
  EXPECT_TRUE(s.wrapper.status.can_run);
  s.world.pods.unschedulable = 2;
  s.pass(std::chrono::hours(1)).settle();
  s.pass(std::chrono::hours(1)).settle();
  EXPECT_FALSE(s.wrapper.status.can_run) << "a planned one is refused too";
}

TEST(StatusMachine, growth_that_no_scheduler_takes_does_not_stop_an_elastic_one) {
  Story s;
  s.dispatch();
  s.world.smallest = 1;
  s.world.pods = {.pending = 1, .running = 1, .unschedulable = 1};
  s.pass(std::chrono::hours(1)).settle();
  s.pass(std::chrono::hours(1)).settle();
  EXPECT_TRUE(s.wrapper.status.can_run);
  s.world.pods = {.pending = 2, .unschedulable = 1};
  s.pass(std::chrono::hours(1)).settle();
  s.pass(std::chrono::hours(1)).settle();
  EXPECT_FALSE(s.wrapper.status.can_run) << "fewer than its smallest size run";
}

TEST(StatusMachine, a_refused_pod_of_no_known_set_stands_for_a_planned_one_that_is_missing) {
  Story s;
  s.dispatch();
  s.world.pods = {.pending = 1, .running = 1, .unschedulable = 1};
  s.world.surplus_waiting = 1;
  EXPECT_FALSE(is_healthy(s.world));
  s.world.pods.pending = 2;
  EXPECT_TRUE(is_healthy(s.world));
}

TEST(StatusMachine, a_short_dip_of_a_healthy_one_has_the_wait_too) {
  Story s;
  s.wrapper.spec.scheduling_spec->min_available = 2;
  s.dispatch();
  s.world.pods.running = 2;
  s.pass(minutes(60)).settle();
  s.world.pods.running = 1;
  s.world.unhealthy_since = s.world.now;
  s.pass(seconds(299)).settle();
  EXPECT_TRUE(s.wrapper.status.can_run);
  s.pass(seconds(1)).settle();
  EXPECT_FALSE(s.wrapper.status.can_run);
}

TEST(StatusMachine, the_limit_counts_the_time_of_all_dispatches) {
  Story s;
  s.wrapper.spec.scheduling_spec->dispatch_duration = model::DispatchDuration{.limit = 100};
  s.dispatch();
  s.pass(seconds(60));
  s.wrapper.spec.suspend = true;
  s.settle();
  s.clear();
  EXPECT_EQ(s.wrapper.status.consumed_seconds, 60);
  s.wrapper.spec.suspend = false;
  s.pass(minutes(5)).dispatch();
  EXPECT_EQ(s.settle().again, seconds(40));
  s.pass(seconds(40)).settle();
  EXPECT_EQ(s.wrapper.status.state, "Failed");
  EXPECT_TRUE(s.wrapper.status.plan);
  const std::string message = "[Dispatch deadline exceeded. allowed to run for 100 seconds]";
  EXPECT_EQ(s.history()[s.history().size() - 2],
            "PreemptCandidate True [DispatchDeadlineExceeded] " + message);
  EXPECT_EQ(s.wrapper.status.queue_job_state, "Failed");
  EXPECT_EQ(s.wrapper.status.number_of_requeueings, 0) << "a suspension is no requeuing";
}

TEST(StatusMachine, an_absurd_limit_is_no_limit) {
  Story s;
  s.wrapper.spec.scheduling_spec->dispatch_duration =
      model::DispatchDuration{.limit = std::numeric_limits<std::int64_t>::max()};
  s.dispatch();
  EXPECT_EQ(s.pass(minutes(5)).settle().act, Act::none);
  EXPECT_EQ(s.wrapper.status.state, "Running");
}

TEST(StatusMachine, one_preempted_by_the_queue_says_for_whom) {
  Story s;
  s.dispatch();
  s.world.standing.kind = Standing::Kind::stopping;
  s.world.standing.reason = Reason::preempted;
  s.world.standing.message = "for team/b of priority 10";
  s.settle();
  EXPECT_FALSE(s.wrapper.status.can_run);
  EXPECT_EQ(s.history().back(), "Backoff True [PreemptionTriggered] [for team/b of priority 10]");
  EXPECT_EQ(s.wrapper.status.number_of_requeueings, 0);
  s.clear();
  EXPECT_EQ(s.tells.back(), Tell::withdrawn);
  EXPECT_EQ(s.wrapper.status.state, "Pending");
}

TEST(StatusMachine, one_that_has_ended_well_is_not_taken_back_for_another) {
  Story s;
  s.dispatch();
  s.world.standing.kind = Standing::Kind::stopping;
  s.world.standing.reason = Reason::preempted;
  s.world.items[0].complete = true;
  s.settle();
  EXPECT_EQ(s.wrapper.status.state, "Completed");
  EXPECT_EQ(s.tells.back(), Tell::forget);
  EXPECT_FALSE(s.wrapper.status.plan);
}

TEST(StatusMachine, what_mcad_dispatched_is_adopted_and_not_created_again) {
  Story s;
  s.wrapper.metadata.finalizers.clear();
  s.wrapper.status.state = "Running";
  s.wrapper.status.can_run = true;
  touch(s.wrapper.status, condition::kInit, {}, s.world.now);
  touch(s.wrapper.status, condition::kDispatched, {.reason = Reason::app_wrapper_runnable},
        s.world.now);
  s.pass(minutes(5)).starts();
  s.settle();
  EXPECT_EQ(s.acts, (std::vector<Act>{Act::add_finalizer, Act::write}));
  ASSERT_TRUE(s.wrapper.status.plan);
  EXPECT_EQ(s.wrapper.status.plan->places, s.world.standing.plan);
}

TEST(StatusMachine, adopted_work_requeued_too_often_is_known_as_such_until_it_is_gone) {
  Story s;
  s.wrapper.spec.scheduling_spec->min_available = 1;
  s.wrapper.spec.scheduling_spec->requeuing =
      model::Requeuing{.time_in_seconds = 60, .max_num_requeuings = 1};
  s.wrapper.status.state = "Running";
  s.wrapper.status.can_run = true;
  s.wrapper.status.number_of_requeueings = 1;
  touch(s.wrapper.status, condition::kDispatched, {.reason = Reason::app_wrapper_runnable},
        s.world.now);
  s.starts();
  s.settle();
  s.pass(minutes(1)).settle();
  EXPECT_EQ(s.wrapper.status.state, "Deleted");
  EXPECT_EQ(s.wrapper.status.conditions.back().reason, "Adopted") << "its pods still go";
  s.clear();
  EXPECT_EQ(s.wrapper.status.conditions.back().reason, "RequeuedTooOften");
  EXPECT_TRUE(s.wrapper.status.conditions.back().message.contains("Requeued once"));
}

}  // namespace
}  // namespace codeflare::controllers
