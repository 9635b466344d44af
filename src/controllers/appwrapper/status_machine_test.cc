#include "controllers/appwrapper/status_machine.h"

#include "controllers/appwrapper/conditions.h"
#include "queue/marks.h"
#include "queue/status_words.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace codeflare::controllers {
namespace {

using queue::Standing;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// An AppWrapper whose status is written as the machine says; pods, items and the queue are ours.
struct Story {
  model::AppWrapper wrapper;
  Observed world;
  MachineOptions options;
  std::vector<Act> acts;
  std::vector<Tell> tells;
  std::vector<std::string> notes;

  Story() {
    wrapper.metadata.name = "a";
    wrapper.metadata.ns = "team";
    wrapper.metadata.uid = "u1";
    wrapper.metadata.finalizers = {std::string(queue::kFinalizer)};
    wrapper.spec.scheduling_spec.emplace();
    world.now = WallTime(seconds(1'700'000'000));
    world.items = {{.name = "jobs.batch team/a", .counts = true}};
  }

  Decision look() {
    world.wrapper = &wrapper;
    return decide(world, options);
  }

  // Carries out what the machine wants until it wants nothing more.
  Decision settle() {
    for (int i = 0; i < 10; ++i) {
      Decision decision = look();
      if (decision.act == Act::none) {
        return decision;
      }
      if (decision.act == Act::take_back && !acts.empty() && acts.back() == Act::take_back) {
        return decision;  // waits for the world
      }
      carry_out(decision);
    }
    ADD_FAILURE() << "it does not come to rest";
    return {};
  }

  void carry_out(const Decision& decision) {
    acts.push_back(decision.act);
    if (decision.tell != Tell::nothing) {
      tells.push_back(decision.tell);
    }
    hear(decision.tell);
    for (const Note& note : decision.notes) {
      notes.push_back(note.reason);
    }
    switch (decision.act) {
      case Act::write:
        EXPECT_NE(decision.status, wrapper.status) << "a write that changes nothing";
        wrapper.status = decision.status;
        world.written = world.now;
        world.creation.reset();
        break;
      case Act::create:
        world.creation = Creation();
        break;
      case Act::add_finalizer:
        wrapper.metadata.finalizers.emplace_back(queue::kFinalizer);
        break;
      case Act::take_back:
        world.asked_since = world.asked_since.value_or(world.now);
        break;
      case Act::none:
      case Act::release:
      case Act::expire:
      case Act::retry:
        break;
    }
  }

  // What the queue makes of it.
  void hear(Tell tell) {
    if (tell == Tell::stopping && world.standing.kind == Standing::Kind::started) {
      world.standing.kind = Standing::Kind::stopping;
      world.standing.reason = "Stopping";
    } else if (tell == Tell::withdrawn) {
      waits(sched::Why::nothing, "Evaluating");
    } else if (tell == Tell::forget) {
      world.standing = {};
    }
  }

  Story& pass(Duration time) {
    world.now += time;
    return *this;
  }
  void waits(sched::Why why, std::string reason) {
    world.standing = {.kind = Standing::Kind::waiting, .reason = std::move(reason), .why = why};
    world.sentence = [] { return "cpu: 4 asked, 2 free"; };
  }
  void starts() {
    world.standing = {.kind = Standing::Kind::started,
                      .plan = {{.pod_set = 0, .node = "n1", .count = 2}},
                      .since = world.now};
    world.cleared = false;
  }
  void dispatch() {
    starts();
    settle();
    ASSERT_EQ(wrapper.status.state, "Running");
  }
  // All it held is gone, and the queue has it back.
  void clear() {
    world.pods = {};
    world.cleared = true;
    settle();
    world.cleared = false;
  }

  // "Type status reason message" of MCAD's own entries.
  std::vector<std::string> history() const {
    std::vector<std::string> lines;
    for (const model::AppWrapperCondition& entry : wrapper.status.conditions) {
      if (entry.type != condition::kQueued) {
        lines.push_back(entry.type + " " + entry.status + " [" + entry.reason + "] [" +
                        entry.message + "]");
      }
    }
    return lines;
  }
};

const std::string kInit = "Init True [] []";
const std::string kQueueing = "Queueing True [AwaitingHeadOfLine] []";
const std::string kHead = "HeadOfLine True [FrontOfQueue.] []";
const std::string kBackoff =
    "Backoff True [AppWrapperNotRunnable.] [Insufficient resources to dispatch AppWrapper.]";
const std::string kDispatched = "Dispatched True [AppWrapperRunnable] []";
const std::string kRunning = "Running True [PodsRunning] []";
const std::string kCompleted = "Completed True [PodsCompleted] []";
using Lines = std::vector<std::string>;

// --- what MCAD 1.40 wrote on a real cluster ---

TEST(StatusMachine, one_that_waits_reads_as_mcad_wrote_it) {
  Story s;
  s.waits(sched::Why::insufficient, "InsufficientResources");
  s.settle();
  EXPECT_EQ(s.history(), (Lines{kInit, kQueueing, kHead, kBackoff}));
  EXPECT_EQ(s.wrapper.status.state, "Pending");
  EXPECT_FALSE(s.wrapper.status.can_run);
  EXPECT_EQ(s.wrapper.status.queue_job_state, "Backoff");
  EXPECT_EQ(s.acts, std::vector<Act>{Act::write});
  const model::AppWrapperCondition& queued = s.wrapper.status.conditions.back();
  EXPECT_EQ(queued.type, "Queued");
  EXPECT_EQ(queued.reason, "InsufficientResources");
  EXPECT_EQ(queued.message, "cpu: 4 asked, 2 free");
}

TEST(StatusMachine, one_that_fits_at_once_reads_as_mcad_wrote_it) {
  Story s;
  s.starts();
  s.settle();
  EXPECT_EQ(s.history(), (Lines{kInit, kQueueing, kHead, kDispatched}));
  EXPECT_EQ(s.wrapper.status.state, "Running");
  EXPECT_TRUE(s.wrapper.status.can_run);
  EXPECT_EQ(s.wrapper.status.queue_job_state, "Dispatched");
  EXPECT_EQ(s.acts, (std::vector<Act>{Act::write, Act::create, Act::write}));
  ASSERT_TRUE(s.wrapper.status.plan);
  EXPECT_EQ(s.wrapper.status.plan->places, s.world.standing.plan);
  EXPECT_EQ(s.notes, std::vector<std::string>{"Dispatched"});
}

TEST(StatusMachine, one_that_starts_after_a_wait_reads_as_mcad_wrote_it) {
  Story s;
  s.waits(sched::Why::insufficient, "InsufficientResources");
  s.settle();
  s.pass(minutes(1)).starts();
  s.settle();
  EXPECT_EQ(s.history(), (Lines{kInit, kQueueing, kHead, kBackoff, kDispatched}));
  EXPECT_EQ(s.wrapper.status.state, "Running");
  EXPECT_TRUE(s.wrapper.status.can_run);
  EXPECT_EQ(s.wrapper.status.conditions.back().type, "Queued");
  EXPECT_EQ(s.wrapper.status.conditions.back().status, "False");
}

TEST(StatusMachine, a_job_that_completes_reads_as_mcad_wrote_it) {
  Story s;
  s.waits(sched::Why::insufficient, "InsufficientResources");
  s.settle();
  s.pass(minutes(2)).dispatch();
  s.world.pods.running = 1;
  s.pass(seconds(2)).settle();
  s.world.pods = {.succeeded = 1, .cpu = 100, .memory = 67108864};
  s.world.items[0].complete = true;
  s.pass(seconds(2)).settle();
  EXPECT_EQ(s.history(), (Lines{kInit, kQueueing, kHead, kBackoff, kDispatched, kCompleted}));
  EXPECT_EQ(s.wrapper.status.state, "Completed");
  EXPECT_TRUE(s.wrapper.status.can_run);
  EXPECT_EQ(s.wrapper.status.succeeded, 1);
  EXPECT_EQ(s.wrapper.status.total_cpu, 100);
  EXPECT_EQ(s.wrapper.status.total_memory, 67108864);
  EXPECT_FALSE(s.wrapper.status.plan);
  EXPECT_EQ(s.tells, std::vector<Tell>{Tell::forget});
  // A refusal, intent, Dispatched, terminal.
  EXPECT_EQ(std::ranges::count(s.acts, Act::write), 4);
}

TEST(StatusMachine, one_that_ended_before_its_dispatch_was_told_tells_both_at_once) {
  Story s;
  s.starts();
  s.carry_out(s.look());
  s.carry_out(s.look());
  EXPECT_EQ(s.acts, (std::vector<Act>{Act::write, Act::create}));
  EXPECT_TRUE(s.look().late);
  s.world.items[0].complete = true;
  s.world.pods = {.running = 1};
  EXPECT_EQ(s.look().status.state, "Running") << "a pod of it still runs";
  s.world.pods = {.succeeded = 1};
  s.pass(seconds(1)).settle();
  EXPECT_EQ(s.history(), (Lines{kInit, kQueueing, kHead, kDispatched, kCompleted}));
  EXPECT_EQ(s.wrapper.status.state, "Completed");
  EXPECT_FALSE(s.wrapper.status.plan);
  EXPECT_EQ(s.acts, (std::vector<Act>{Act::write, Act::create, Act::write}));
  EXPECT_EQ(s.notes, (std::vector<std::string>{"Dispatched", "Completed"}));
  EXPECT_EQ(s.tells, std::vector<Tell>{Tell::forget});
}

TEST(StatusMachine, one_that_never_gets_ready_reads_as_mcad_wrote_it) {
  Story s;
  s.wrapper.spec.scheduling_spec->min_available = 2;
  s.wrapper.spec.scheduling_spec->requeuing =
      model::Requeuing{.time_in_seconds = 30, .growth_type = "none", .max_num_requeuings = 1};
  s.waits(sched::Why::insufficient, "InsufficientResources");
  s.settle();
  s.pass(seconds(20)).dispatch();
  s.world.pods.running = 1;
  s.pass(seconds(20)).settle();
  s.pass(seconds(29)).settle();
  EXPECT_TRUE(s.wrapper.status.can_run);
  s.pass(seconds(1)).settle();
  EXPECT_FALSE(s.wrapper.status.can_run);
  EXPECT_TRUE(s.wrapper.status.plan) << "its pods are still there";
  s.clear();
  EXPECT_EQ(s.wrapper.status.state, "Pending");
  EXPECT_FALSE(s.wrapper.status.plan);
  s.dispatch();
  s.world.pods.running = 1;
  s.pass(seconds(20)).settle();
  const std::string message =
      "Insufficient number of Running and Completed pods, minimum=2, running=1, completed=0.";
  // MCAD repeats Running; here there is one entry per type and reason.
  EXPECT_EQ(s.history(), (Lines{kInit, kQueueing, kHead, kBackoff, kDispatched, kRunning,
                                "PreemptCandidate True [MinPodsNotRunning] [" + message + "]",
                                "Backoff True [PreemptionTriggered] [" + message + "]"}));
  EXPECT_EQ(s.wrapper.status.state, "Running");
  EXPECT_EQ(s.wrapper.status.queue_job_state, "Running");
  EXPECT_EQ(s.wrapper.status.number_of_requeueings, 1);
  EXPECT_TRUE(s.wrapper.status.can_run);
}

// MCAD left these two Pending without a reason.
TEST(StatusMachine, an_item_that_cannot_be_created_fails_with_the_reason) {
  Story s;
  s.starts();
  s.carry_out(s.look());
  s.world.creation = Creation{Creation::Kind::refused, "the server has no resource \"Nothing\""};
  s.settle();
  EXPECT_EQ(s.wrapper.status.state, "Failed");
  EXPECT_FALSE(s.wrapper.status.can_run);
  EXPECT_TRUE(s.wrapper.status.plan);
  s.clear();
  EXPECT_EQ(s.history(),
            (Lines{kInit, kQueueing, kHead,
                   "Failed True [ItemCreationFailure.] [team/a creation failure: the server has "
                   "no resource \"Nothing\"]"}));
  EXPECT_FALSE(s.wrapper.status.plan);
  EXPECT_EQ(s.tells, (std::vector<Tell>{Tell::stopping, Tell::forget}));
}

TEST(StatusMachine, one_that_cannot_be_understood_fails_with_the_field) {
  Story s;
  s.world.problem = "spec.resources.GenericItems[0].generictemplate: expected an object";
  s.settle();
  EXPECT_EQ(s.wrapper.status.state, "Failed");
  EXPECT_EQ(s.history().back(), "Failed True [ItemCreationFailure.] [team/a creation failure: " +
                                    s.world.problem + "]");
  EXPECT_EQ(s.tells, std::vector<Tell>{Tell::forget});
  s.world.problem.clear();
  EXPECT_EQ(s.look().act, Act::none);
}

TEST(StatusMachine, what_runs_is_not_ended_because_it_cannot_be_read_any_more) {
  Story s;
  s.dispatch();
  s.world.problem = "spec.priority: expected a number";
  s.world.items.clear();  // nobody knows which they are
  s.world.pods.running = 1;
  s.settle();
  EXPECT_EQ(s.wrapper.status.state, "Running");
  EXPECT_EQ(s.wrapper.status.running, 1);
  EXPECT_EQ(
      s.wrapper.status.message,
      "it cannot be read any more, so it runs on and its end is not noticed: " + s.world.problem);
  EXPECT_EQ(s.notes.back(), "Unreadable");
  const std::size_t told = s.notes.size();
  s.world.pods.running = 0;
  s.world.pods.unschedulable = 1;
  s.pass(std::chrono::hours(24)).settle();
  EXPECT_EQ(s.wrapper.status.state, "Running");
  EXPECT_EQ(s.wrapper.status.running, 0) << "its pods are still counted";
  EXPECT_EQ(s.notes.size(), told) << "once";
  s.world.problem.clear();
  s.world.pods = {.running = 1};
  s.pass(seconds(10)).settle();
  EXPECT_EQ(s.wrapper.status.message, "");
  EXPECT_EQ(s.wrapper.status.state, "Running");
}

TEST(StatusMachine, the_queue_may_still_take_back_what_cannot_be_read) {
  Story s;
  s.dispatch();
  s.world.problem = "spec.priority: expected a number";
  s.world.standing.kind = Standing::Kind::stopping;
  s.world.standing.reason = "Preempted";
  s.settle();
  EXPECT_FALSE(s.wrapper.status.can_run);
  EXPECT_EQ(s.notes.back(), "Preempted");
}

// --- the queue ---

TEST(StatusMachine, a_refusal_by_quota_has_mcads_words) {
  Story s;
  s.waits(sched::Why::quota, "InsufficientQuota");
  s.settle();
  EXPECT_EQ(s.history().back(),
            "Backoff True [quota limit exceeded] [Insufficient quota and/or resources to dispatch "
            "AppWrapper.]");
}

TEST(StatusMachine, a_held_one_is_not_called_head_of_line) {
  Story s;
  s.waits(sched::Why::held, "Held");
  s.settle();
  EXPECT_EQ(s.history(), (Lines{kInit, kQueueing}));
  EXPECT_EQ(s.wrapper.status.conditions.back().reason, "Held");
}

TEST(StatusMachine, one_that_was_not_tried_yet_is_left_alone) {
  Story s;
  s.waits(sched::Why::nothing, "Evaluating");
  EXPECT_EQ(s.settle().act, Act::none);
  EXPECT_TRUE(s.acts.empty());
}

TEST(StatusMachine, queued_is_written_again_only_for_another_reason_and_not_too_often) {
  Story s;
  s.waits(sched::Why::insufficient, "InsufficientResources");
  s.settle();
  s.world.sentence = [] { return "cpu: 4 asked, 3 free"; };
  s.pass(minutes(1)).settle();
  EXPECT_EQ(s.acts.size(), 1u);
  s.waits(sched::Why::fragmented, "Fragmented");
  s.settle();
  EXPECT_EQ(s.acts.size(), 2u);
  s.waits(sched::Why::insufficient, "InsufficientResources");
  EXPECT_EQ(s.pass(seconds(1)).settle().again, seconds(4));
  EXPECT_EQ(s.acts.size(), 2u);
  s.pass(seconds(4)).settle();
  EXPECT_EQ(s.acts.size(), 3u);
  EXPECT_EQ(s.history().size(), 4u) << "one entry per type and reason";
}

TEST(StatusMachine, a_missing_finalizer_comes_before_the_intent) {
  Story s;
  s.wrapper.metadata.finalizers.clear();
  s.waits(sched::Why::insufficient, "InsufficientResources");
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
            "PreemptCandidate True [PodsNotCreated] [No pod was created for its items.]");
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
  s.world.standing.reason = "Preempted";
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
  s.world.standing.reason = "Preempted";
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
  touch(s.wrapper.status, condition::kDispatched, {.reason = "AppWrapperRunnable"}, s.world.now);
  s.pass(minutes(5)).starts();
  s.settle();
  EXPECT_EQ(s.acts, (std::vector<Act>{Act::add_finalizer, Act::write}));
  ASSERT_TRUE(s.wrapper.status.plan);
  EXPECT_EQ(s.wrapper.status.plan->places, s.world.standing.plan);
}

// --- the end ---

TEST(StatusMachine, a_deleted_one_goes_when_all_it_held_is_gone) {
  Story s;
  s.dispatch();
  s.wrapper.metadata.deletion_timestamp = s.world.now;
  s.settle();
  EXPECT_EQ(s.acts.back(), Act::take_back);
  EXPECT_EQ(s.tells, std::vector<Tell>{Tell::stopping});
  s.world.cleared = true;
  const Decision decision = s.look();
  EXPECT_EQ(decision.act, Act::release);
  EXPECT_EQ(decision.tell, Tell::forget);
}

TEST(StatusMachine, a_deleted_one_that_never_ran_goes_at_once) {
  Story s;
  s.waits(sched::Why::insufficient, "InsufficientResources");
  s.settle();
  s.wrapper.metadata.deletion_timestamp = s.world.now;
  EXPECT_EQ(s.look().act, Act::release);
}

TEST(StatusMachine, what_does_not_go_is_forced_after_its_time) {
  Story s;
  s.wrapper.spec.scheduling_spec->requeuing =
      model::Requeuing{.force_deletion_time_in_seconds = 30};
  s.dispatch();
  s.wrapper.spec.suspend = true;
  s.settle();
  EXPECT_FALSE(s.pass(seconds(29)).look().force);
  s.world.left = "it waits for pods to go";
  EXPECT_EQ(s.look().again, seconds(1));
  s.world.left.clear();
  EXPECT_TRUE(s.pass(seconds(1)).look().force);
}

TEST(StatusMachine, nothing_is_forced_before_it_was_asked) {
  Story s;
  s.dispatch();
  // Nobody was there to hear of the deletion for an hour.
  s.wrapper.metadata.deletion_timestamp = s.world.now;
  s.pass(minutes(60));
  Decision decision = s.look();
  EXPECT_EQ(decision.act, Act::take_back);
  EXPECT_FALSE(decision.force);
  s.carry_out(decision);
  EXPECT_FALSE(s.pass(seconds(59)).look().force);
  EXPECT_TRUE(s.pass(seconds(1)).look().force);
}

TEST(StatusMachine, what_does_not_go_is_named_once) {
  Story s;
  s.dispatch();
  s.wrapper.spec.suspend = true;
  s.settle();
  s.world.left = "it waits for jobs.batch team/a to go";
  EXPECT_EQ(s.pass(seconds(40)).look().again, seconds(20));
  const std::size_t before = s.acts.size();
  s.pass(seconds(20)).settle();
  EXPECT_EQ(s.wrapper.status.message, s.world.left);
  EXPECT_EQ(s.pass(minutes(1)).settle().act, Act::none);
  EXPECT_EQ(s.acts.size(), before + 1);
  s.world.left.clear();
  s.world.abandoned = "jobs.batch team/a";
  s.clear();
  EXPECT_EQ(s.wrapper.status.message, "");
  EXPECT_FALSE(s.wrapper.status.plan);
  EXPECT_EQ(s.notes.back(), "Abandoned");
}

TEST(StatusMachine, an_item_over_a_resource_quota_frees_its_places_and_waits_longer_each_time) {
  Story s;
  s.wrapper.spec.scheduling_spec->requeuing = model::Requeuing{.max_num_requeuings = 3};
  for (const int wait : {5, 10, 20}) {
    s.starts();
    s.carry_out(s.look());
    s.world.creation = Creation{Creation::Kind::quota, "exceeded quota: pods"};
    const WallTime refused = s.world.now;
    s.settle();
    EXPECT_FALSE(s.wrapper.status.can_run);
    s.clear();
    EXPECT_EQ(s.wrapper.status.state, "Pending");
    EXPECT_FALSE(s.wrapper.status.plan) << "others may have its places meanwhile";
    EXPECT_EQ(s.tells.back(), Tell::withdrawn);
    EXPECT_EQ(queue::not_before(s.wrapper.status), refused + seconds(wait));
    s.pass(seconds(wait));
  }
  EXPECT_EQ(s.wrapper.status.requeueing_time_in_seconds, 0)
      << "its health has nothing to do with it";
  s.starts();
  s.carry_out(s.look());
  s.world.creation = Creation{Creation::Kind::quota, "exceeded quota: pods"};
  s.settle();
  EXPECT_EQ(s.wrapper.status.state, "Deleted") << "it counts as a requeuing";
}

TEST(StatusMachine, items_that_cannot_be_created_do_not_hold_their_places_for_ever) {
  Story s;
  s.wrapper.spec.scheduling_spec->requeuing = model::Requeuing{.time_in_seconds = 60};
  s.starts();
  s.carry_out(s.look());
  s.world.creation = Creation{Creation::Kind::later, "failed calling webhook"};
  EXPECT_EQ(s.look().act, Act::retry);
  s.pass(seconds(59));
  EXPECT_EQ(s.look().act, Act::retry);
  s.pass(seconds(1)).settle();
  EXPECT_FALSE(s.wrapper.status.can_run);
  EXPECT_EQ(s.wrapper.status.number_of_requeueings, 1);
  s.clear();
  EXPECT_EQ(s.wrapper.status.state, "Pending");
  EXPECT_EQ(queue::not_before(s.wrapper.status), s.world.now + seconds(120));
}

TEST(StatusMachine, a_finished_one_expires_when_it_says_so) {
  Story s;
  s.dispatch();
  s.world.items[0].complete = true;
  s.settle();
  s.world.standing = {};
  EXPECT_FALSE(s.look().again);
  s.wrapper.spec.ttl_seconds_after_finished = 60;
  EXPECT_EQ(s.pass(seconds(20)).look().again, seconds(40));
  EXPECT_EQ(s.pass(seconds(40)).look().act, Act::expire);
}

}  // namespace
}  // namespace codeflare::controllers
