#include "cli/views/wrapper_view.h"

#include "cli/testing/wrappers.h"

#include <gtest/gtest.h>

namespace codeflare::cli {
namespace {

using testing::add_condition;
using testing::kNow;
using testing::namesake;
using testing::running;
using testing::waiting;
using testing::wrapper;

GroupedWrapper failed() {
  GroupedWrapper out = wrapper("failed", std::chrono::hours(50));
  out.status.state = "Failed";
  out.status.failed = 1;
  add_condition(out, "Failed", "ItemRefused", "jobs.batch \"x\" is forbidden");
  return out;
}

std::vector<WrapperView> some() {
  GroupedWrapper held = waiting("held");
  held.spec.suspend = true;
  GroupedWrapper going = running("going");
  going.metadata.deletion_timestamp = kNow;
  going.metadata.ns = "a-team";
  GroupedWrapper important = waiting("important", std::chrono::seconds(30));
  important.spec.priority = 100;
  return {view_of(waiting("train")),
          view_of(running("eval")),
          view_of(held),
          view_of(failed()),
          view_of(going),
          view_of(important),
          view_of(wrapper("new", std::chrono::seconds(1)))};
}

TEST(WrapperList, says_state_reason_and_age_in_order_of_names) {
  EXPECT_EQ(render_list(some(), {}, kNow),
            "NAME        STATE      PRIORITY   PODS   REASON                  AGE\n"
            "going       Deleting   0          2/3                            5m\n"
            "eval        Running    0          2/3                            5m\n"
            "failed      Failed     0          0/1    ItemRefused             2d2h\n"
            "held        Held       0          -      Held                    5m\n"
            "important   Pending    100        -      InsufficientResources   30s\n"
            "new         Pending    0          -                              1s\n"
            "train       Pending    0          -      InsufficientResources   5m\n");
}

TEST(WrapperList, shows_namespaces_nodes_and_sentences_on_request) {
  EXPECT_EQ(
      render_list({view_of(waiting("train")), view_of(running("eval"))},
                  {.all_namespaces = true, .wide = true}, kNow),
      "NAMESPACE   NAME    STATE     PRIORITY   PODS   REASON                  AGE   NODES         "
      "      MESSAGE\n"
      "default     eval    Running   0          2/3                            5m    "
      "node-1:2,node-2:1\n"
      "default     train   Pending   0          -      InsufficientResources   5m                  "
      "      cpu: 12 asked, 3 free of 16\n");
}

TEST(WrapperList, groups_are_told_where_one_is_mcads) {
  EXPECT_EQ(
      render_list({view_of(namesake(running("train"))), view_of(waiting("train"))},
                  {.all_namespaces = true}, kNow),
      "NAMESPACE   NAME    GROUP                    STATE     PRIORITY   PODS   REASON        "
      "          AGE\n"
      "default     train   workload.codeflare.dev   Pending   0          -      "
      "InsufficientResources   5m\n"
      "default     train   mcad.ibm.com             Running   0          2/3                 "
      "           5m\n");
}

TEST(WrapperStatus, of_mcads_group_says_so_and_how_to_release_it) {
  GroupedWrapper held = namesake(waiting("train"));
  held.spec.suspend = true;
  const std::string text = render_status(held, kNow);
  EXPECT_TRUE(text.contains("\nNamespace:  default\nGroup:      mcad.ibm.com\nState:      Held\n"))
      << text;
  EXPECT_TRUE(text.contains("'codeflare release appwrapper.mcad.ibm.com train'")) << text;
}

TEST(WrapperStatus, of_one_that_waits_says_for_what) {
  GroupedWrapper train = waiting("train");
  train.spec.scheduling_spec.emplace();
  train.spec.scheduling_spec->dispatch_duration.emplace();
  train.spec.scheduling_spec->dispatch_duration->expected = 600;
  train.spec.scheduling_spec->dispatch_duration->limit = 7200;
  EXPECT_EQ(render_status(train, kNow),
            "Name:       train\n"
            "Namespace:  default\n"
            "State:      Pending\n"
            "Priority:   0\n"
            "Submitted:  2023-11-14T22:08:20Z (5m ago)\n"
            "Duration:   expected 10m, at most 120m\n"
            "Waits for:  InsufficientResources\n"
            "Message:    cpu: 12 asked, 3 free of 16\n"
            "Pods:       none\n"
            "Conditions:\n"
            "  TYPE       STATUS   AGE   REASON                  MESSAGE\n"
            "  Queueing   True     60s   AwaitingHeadOfLine\n"
            "  Queued     True     60s   InsufficientResources   cpu: 12 asked, 3 free of 16\n");
}

TEST(WrapperStatus, of_one_that_runs_says_where_and_since_when) {
  GroupedWrapper eval = running("eval");
  eval.status.number_of_requeueings = 2;
  EXPECT_EQ(render_status(eval, kNow),
            "Name:       eval\n"
            "Namespace:  default\n"
            "State:      Running\n"
            "Priority:   0\n"
            "Submitted:  2023-11-14T22:08:20Z (5m ago)\n"
            "Started:    2023-11-14T22:11:50Z (90s ago)\n"
            "Times:      waited 3m30s, started 90s ago\n"
            "Pods:       1 pending, 2 running\n"
            "Nodes:      node-1:2,node-2:1\n"
            "Requeued:   2 times\n"
            "Conditions:  none yet; check that the controller is running\n");
}

TEST(WrapperStatus, pods_that_nobody_has_counted_yet_are_not_said_to_be_none) {
  GroupedWrapper eval = running("eval");
  eval.status.running = 0;
  eval.status.pending = 0;
  eval.status.plan->started = model::MicroTime{kNow - std::chrono::seconds(2)};
  EXPECT_TRUE(render_status(eval, kNow)
                  .contains("\n"
                            "Pods:       none counted yet of 3 planned: dispatched 2s ago, counts "
                            "are up to 5s old\n"));
  eval.status.plan->started = model::MicroTime{kNow - std::chrono::seconds(40)};
  EXPECT_TRUE(
      render_status(eval, kNow).contains("\nPods:       none of 3 planned, dispatched 40s ago\n"));
  eval.status.can_run = false;
  EXPECT_TRUE(render_status(eval, kNow).contains("\nPods:       none\n"));
}

TEST(WrapperView, tells_waiting_from_held_started_ended_and_leaving) {
  EXPECT_TRUE(view_of(wrapper("new")).waits);
  EXPECT_TRUE(view_of(waiting("train")).waits);
  EXPECT_FALSE(view_of(running("eval")).waits);
  EXPECT_FALSE(view_of(failed()).waits);
  GroupedWrapper going = waiting("going");
  going.metadata.deletion_timestamp = kNow;
  EXPECT_FALSE(view_of(going).waits);
  // Its objects are being deleted: it holds its places until they are gone.
  GroupedWrapper back = running("back");
  back.status.can_run = false;
  EXPECT_FALSE(view_of(back).waits);
  EXPECT_TRUE(view_of(back).holds);
}

TEST(WrapperView, of_one_that_is_taken_back_says_why) {
  GroupedWrapper back = running("back");
  add_condition(back, "PreemptCandidate", "Preempted", "for team/urgent");
  EXPECT_EQ(view_of(back).reason, "") << "it was dispatched again since";
  back.status.can_run = false;
  EXPECT_EQ(view_of(back).reason, "Preempted");
  EXPECT_EQ(view_of(back).message, "for team/urgent");
}

TEST(WrapperView, of_one_that_runs_says_what_its_status_remarks) {
  GroupedWrapper eval = running("eval");
  eval.status.message = "1 pod beyond the plan: p1 without a node";
  EXPECT_EQ(view_of(eval).message, eval.status.message);
}

TEST(WrapperView, of_one_requeued_too_often_says_why) {
  GroupedWrapper given_up = wrapper("given-up");
  given_up.status.state = "Deleted";
  add_condition(given_up, "PreemptCandidate", "MinPodsNotRunning", "minimum=1, running=0.");
  add_condition(given_up, "Queued", "Dispatched", "");
  EXPECT_EQ(view_of(given_up).reason, "MinPodsNotRunning") << "as MCAD leaves it";
  given_up.status.conditions.back().reason = "RequeuedTooOften";
  given_up.status.conditions.back().message = "It was requeued 2 times, which is its limit";
  EXPECT_EQ(render_list({view_of(given_up)}, {.wide = true}, kNow),
            "NAME       STATE     PRIORITY   PODS   REASON             AGE   NODES   MESSAGE\n"
            "given-up   Deleted   0          -      RequeuedTooOften   5m            "
            "It was requeued 2 times, which is its limit\n");
}

TEST(WrapperView, mcads_own_words_do_where_there_is_no_queued_condition) {
  GroupedWrapper old = wrapper("old");
  old.status.state = "Pending";
  add_condition(old, "Backoff", "AppWrapperNotRunnable.", "Insufficient resources to dispatch");
  EXPECT_EQ(view_of(old).reason, "AppWrapperNotRunnable.");
}

}  // namespace
}  // namespace codeflare::cli
