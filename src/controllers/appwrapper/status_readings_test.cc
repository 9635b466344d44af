#include "controllers/appwrapper/status_machine.h"
#include "controllers/appwrapper/testing/status_story.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

// A status that MCAD 1.40 wrote on a real cluster, and its gaps.
namespace codeflare::controllers {
namespace {

using namespace testing;  // NOLINT
using std::chrono::minutes;
using std::chrono::seconds;

TEST(StatusMachine, one_that_waits_reads_as_mcad_wrote_it) {
  Story s;
  s.waits(Reason::insufficient_resources);
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
  s.waits(Reason::insufficient_resources);
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
  s.waits(Reason::insufficient_resources);
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
  // A rejection, intent, Dispatched, terminal.
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
  s.waits(Reason::insufficient_resources);
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
  s.world.creation =
      Creation{Creation::Kind::refused, "the server does not serve resource \"Nothing\""};
  s.settle();
  EXPECT_EQ(s.wrapper.status.state, "Failed");
  EXPECT_FALSE(s.wrapper.status.can_run);
  EXPECT_TRUE(s.wrapper.status.plan);
  s.clear();
  EXPECT_EQ(s.history(), (Lines{kInit, kQueueing, kHead,
                                "Failed True [ItemCreationFailure.] [team/a creation failure: the "
                                "server does not serve resource \"Nothing\"]"}));
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
  EXPECT_EQ(s.wrapper.status.message,
            "can no longer be read; it keeps running and its end will not be noticed: " +
                s.world.problem);
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
  s.world.standing.reason = Reason::preempted;
  s.settle();
  EXPECT_FALSE(s.wrapper.status.can_run);
  EXPECT_EQ(s.notes.back(), "Preempted");
}

}  // namespace
}  // namespace codeflare::controllers
