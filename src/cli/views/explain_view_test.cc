#include "cli/views/explain_view.h"

#include "cli/testing/wrappers.h"
#include "json/parse.h"

#include <gtest/gtest.h>

namespace codeflare::cli {
namespace {

using std::chrono::minutes;
using testing::kNow;
using testing::running;
using testing::waiting;

constexpr const char* kSentence = "needs 12 CPUs, 3 of 16 free on 2 eligible nodes (9 short)";

queue::Report report() {
  queue::Report out;
  out.position = 2;
  out.standing.kind = queue::Standing::Kind::waiting;
  out.standing.reason = queue::Reason::insufficient_resources;
  out.sentence = kSentence;
  out.shortages.push_back({.resource = "cpu",
                           .requested = "12",
                           .free = "3",
                           .capacity = "16",
                           .pod = "4",
                           .best_node = "2",
                           .largest_node = "8",
                           .short_in_sum = true});
  out.constraints = {"taint dedicated=ml:NoSchedule keeps 3 nodes away"};
  out.holders = {"default/eval holds 8 cpu", "default/other holds 4 cpu"};
  out.advice = {"the end of default/eval"};
  out.estimated_start = kNow + minutes(12);
  out.estimate_note = "if everybody ends as expected";
  return out;
}

TEST(Explanation, of_one_that_has_ended_says_why) {
  GroupedWrapper given_up = testing::wrapper("given-up");
  given_up.status.state = "Deleted";
  testing::add_condition(given_up, "Queued", "RequeuedTooOften", "It was requeued 2 times");
  EXPECT_EQ(render_explanation({.wrapper = given_up}, kNow),
            "appwrapper default/given-up is Deleted\n"
            "  RequeuedTooOften: It was requeued 2 times\n");
}

TEST(Explanation, of_one_that_is_gone_has_its_last_events) {
  EXPECT_EQ(render_past("default/train",
                        {{kNow - minutes(9), "Dispatched", "all objects exist"},
                         {kNow - minutes(2), "Completed", "all items\nare complete"}},
                        kNow),
            "appwrapper default/train does not exist any more; its last Events:\n"
            "  AGE   REASON       MESSAGE\n"
            "  9m    Dispatched   all objects exist\n"
            "  2m    Completed    all items are complete\n");
}

TEST(Explanation, of_one_that_is_being_deleted_says_what_is_still_there) {
  GroupedWrapper going = running("going");
  going.metadata.deletion_timestamp = kNow;
  going.status.message = "it waits for pod p0 to go";
  EXPECT_EQ(
      render_explanation(
          {.wrapper = going, .leaving = {"pod p0 on node-1 (finalizers example.com/slow)"}}, kNow),
      "appwrapper default/going is Deleting on node-1 (2 pods), node-2 (1 pod)\n"
      "  it waits for pod p0 to go\n"
      "\n"
      "Waiting for these to go:\n"
      "  pod p0 on node-1 (finalizers example.com/slow)\n");
}

TEST(Explanation, says_position_shortage_holders_what_would_help_and_when) {
  EXPECT_EQ(render_explanation({.wrapper = waiting("train"), .report = report()}, kNow),
            "appwrapper default/train is waiting, submitted 5m ago, position 2 in the queue\n"
            "  InsufficientResources: needs 12 CPUs, 3 of 16 free on 2 eligible nodes (9 short)\n"
            "\n"
            "Resources on eligible nodes:\n"
            "  RESOURCE   NEEDED   FREE   CAPACITY   ONE POD   BEST NODE   LARGEST NODE   SHORT\n"
            "  cpu        12       3      16         4         2           8              9\n"
            "\n"
            "Excluded nodes:\n"
            "  taint dedicated=ml:NoSchedule keeps 3 nodes away\n"
            "\n"
            "Resources in use by:\n"
            "  default/eval holds 8 cpu\n"
            "  default/other holds 4 cpu\n"
            "\n"
            "To start it now:\n"
            "  the end of default/eval\n"
            "\n"
            "Estimated start: in 12m, at 2023-11-14T22:25:20Z (if everybody ends as expected)\n");
}

TEST(Explanation, has_a_line_for_each_domain_that_could_hold_all_pods) {
  queue::Report within = report();
  within.within = "topology.kubernetes.io/zone";
  within.domains = {
      {.name = "a", .nodes = 2, .pods = 3, .fitting = 1, .text = "needs 12 CPUs, 3 of 16 free"},
      {.name = "b", .nodes = 1, .pods = 3, .fitting = 0, .text = "needs 12 CPUs, 0 of 8 free"}};
  const std::string text =
      render_explanation({.wrapper = waiting("train"), .report = within}, kNow);
  EXPECT_TRUE(
      text.contains("\n"
                    "All pods must fit within one of these, nearest first:\n"
                    "  topology.kubernetes.io/zone   NODES   PODS FIT   MESSAGE\n"
                    "  a                             2       1 of 3     needs 12 CPUs, 3 of "
                    "16 free\n"
                    "  b                             1       0 of 3     needs 12 CPUs, 0 of "
                    "8 free\n"
                    "\n"
                    "Resources on eligible nodes of topology.kubernetes.io/zone=a:\n"))
      << text;
  const std::string json = explanation_json({.wrapper = waiting("train"), .report = within}, kNow);
  EXPECT_TRUE(json.contains("\"within\": \"topology.kubernetes.io/zone\"")) << json;
  EXPECT_TRUE(json.contains("\"fitting\": 1")) << json;
}

TEST(Explanation, names_who_holds_each_cluster_and_the_first_that_will_have_room) {
  queue::Report within = report();
  within.within = "codeflare.dev/cluster";
  within.domains = {{.name = "east",
                     .nodes = 2,
                     .pods = 3,
                     .text = "needs 12 CPUs, 3 of 16 free",
                     .held_by = "default/eval until 2023-11-14T23:00:00Z"},
                    {.name = "west", .nodes = 1, .pods = 3, .text = "needs 12 CPUs, 0 of 8 free"}};
  within.estimated_in = "west";
  const std::string text =
      render_explanation({.wrapper = waiting("train"), .report = within}, kNow);
  EXPECT_TRUE(text.contains(
      "  codeflare.dev/cluster   NODES   PODS FIT   HELD BY                                   "
      "MESSAGE\n"
      "  east                    2       0 of 3     default/eval until 2023-11-14T23:00:00Z   "
      "needs 12 CPUs, 3 of 16 free\n"
      "  west                    1       0 of 3     -                                         "
      "needs 12 CPUs, 0 of 8 free\n"))
      << text;
  EXPECT_TRUE(text.contains(
      "Estimated start: in 12m, at 2023-11-14T22:25:20Z on cluster west (if everybody"))
      << text;
}

TEST(Explanation, tells_what_is_short_in_sum_from_what_is_too_large_for_every_node) {
  queue::Report pieces = report();
  pieces.shortages[0].short_in_sum = false;
  const std::string text = render_explanation({.wrapper = waiting("train"),
                                               .report = pieces,
                                               .outside = "pods outside the queue hold 6 cpu"},
                                              kNow);
  EXPECT_TRUE(text.contains("8              2 for one pod\n")) << text;
  EXPECT_TRUE(text.contains("  default/other holds 4 cpu\n  pods outside the queue hold 6 cpu\n"))
      << text;
  pieces.shortages[0].pod = "2000m";
  EXPECT_FALSE(render_explanation({.wrapper = waiting("train"), .report = pieces}, kNow)
                   .contains("for one pod"));
}

TEST(Explanation, who_may_not_list_nodes_gets_the_status_and_is_told_what_is_missing) {
  EXPECT_EQ(render_explanation({.wrapper = waiting("train"),
                                .position = 7,
                                .missing = {"nodes of all namespaces: nodes is forbidden: ..."}},
                               kNow),
            "appwrapper default/train is waiting, submitted 5m ago, position 7 in the queue\n"
            "  InsufficientResources: cpu: 12 asked, 3 free of 16\n"
            "\n"
            "Not checked:\n"
            "  nodes of all namespaces: nodes is forbidden: ...\n");
}

TEST(Explanation, work_that_never_fits_says_so_once) {
  queue::Report never = report();
  never.never_fits = true;
  never.estimated_start.reset();
  never.estimate_note = "no node is large enough";
  never.advice = {"request less, or add nodes with 4 CPUs"};
  const std::string text = render_explanation({.wrapper = waiting("train"), .report = never}, kNow);
  EXPECT_TRUE(
      text.ends_with("\nDoes not fit even on an empty cluster.\n"
                     "\nTo start it:\n  request less, or add nodes with 4 CPUs\n"))
      << text;
  EXPECT_FALSE(text.contains("Resources in use by")) << text;
  EXPECT_TRUE(render_explanation({.wrapper = waiting("train"),
                                  .report = never,
                                  .outside = "pods outside the queue hold 6 cpu"},
                                 kNow)
                  .ends_with("\nDoes not fit even if all running work of the queue ends.\n"
                             "\nTo start it:\n  request less, or add nodes with 4 CPUs\n"
                             "  or end pods outside the queue\n"));
}

TEST(Explanation, what_fits_now_waits_for_the_controller_or_for_resume) {
  queue::Report fits = report();
  fits.standing.kind = queue::Standing::Kind::started;
  EXPECT_EQ(render_explanation({.wrapper = waiting("train"), .paused = true, .report = fits}, kNow),
            "appwrapper default/train is waiting, submitted 5m ago, position 2 in the queue\n"
            "  Paused: fits now, starts when the queue is resumed\n"
            "  the queue is paused (ConfigMap codeflare-system/codeflare-queue); run 'codeflare "
            "queue resume' to start work\n");
  EXPECT_TRUE(render_explanation({.wrapper = waiting("train"), .report = fits}, kNow)
                  .contains("fits now; the controller starts it next"));
  const Explained elsewhere{
      .wrapper = waiting("train"), .paused = true, .controller_ns = "team", .report = fits};
  EXPECT_TRUE(render_explanation(elsewhere, kNow)
                  .contains("(ConfigMap team/codeflare-queue); run 'codeflare queue resume "
                            "--controller-namespace team' to start work"));
  const Result<json::Document> document = json::parse(explanation_json(elsewhere, kNow));
  ASSERT_TRUE(document.has_value());
  EXPECT_EQ(document->root.string_or_empty("reason"), "Paused");
}

TEST(Explanation, while_the_queue_is_paused_nothing_promises_a_start) {
  const std::string text =
      render_explanation({.wrapper = waiting("train"), .paused = true, .report = report()}, kNow);
  EXPECT_TRUE(text.contains("\n  InsufficientResources: needs 12 CPUs")) << text;
  EXPECT_TRUE(text.contains("\n  the queue is paused (ConfigMap ")) << text;
  EXPECT_TRUE(text.contains("To start it after the queue is resumed:\n")) << text;
  EXPECT_TRUE(text.ends_with("Estimated start: unknown: the queue is paused\n")) << text;
}

TEST(Explanation, what_only_the_controller_knows_is_told_as_the_status_has_it) {
  for (const char* reason : {"Reserved", "Preempting"}) {
    GroupedWrapper waits = waiting("train");
    waits.status.conditions.back().reason = reason;
    waits.status.conditions.back().message = "default/head is first in the queue";
    queue::Report fits = report();
    fits.standing.kind = queue::Standing::Kind::started;
    const std::string told =
        std::string("\n  ") + reason + ": default/head is first in the queue\n";
    for (const queue::Report& each : {fits, report()}) {
      const Explained explained{.wrapper = waits, .report = each};
      EXPECT_EQ(render_explanation(explained, kNow)
                    .ends_with("unknown: starts when evicted work has ended\n"),
                std::string_view(reason) == "Preempting" &&
                    each.standing.kind == queue::Standing::Kind::waiting);
      EXPECT_TRUE(render_explanation(explained, kNow).contains(told))
          << render_explanation(explained, kNow);
      const Result<json::Document> document = json::parse(explanation_json(explained, kNow));
      ASSERT_TRUE(document.has_value());
      EXPECT_EQ(document->root.string_or_empty("reason"), reason);
      EXPECT_FALSE(document->root.find("fitsNow")->as_bool());
    }
  }
}

TEST(Explanation, of_what_does_not_wait_is_short) {
  EXPECT_EQ(render_explanation({.wrapper = running("eval")}, kNow),
            "appwrapper default/eval is Running on node-1 (2 pods), node-2 (1 pod)\n");
  GroupedWrapper held = waiting("train");
  held.spec.suspend = true;
  EXPECT_EQ(render_explanation({.wrapper = held, .position = 3}, kNow),
            "appwrapper default/train is held, submitted 5m ago\n"
            "  held by its owner; run 'codeflare release appwrapper train' to let it start\n");
}

TEST(Explanation, json_has_everything) {
  const Result<json::Document> document =
      json::parse(explanation_json({.wrapper = waiting("train"), .report = report()}, kNow));
  ASSERT_TRUE(document.has_value());
  const json::Value& root = document->root;
  EXPECT_EQ(root.find("position")->to_int64(), 2);
  EXPECT_EQ(root.find("waitSeconds")->to_int64(), 300);
  EXPECT_EQ(root.string_or_empty("message"), kSentence);
  EXPECT_FALSE(root.find("fitsNow")->as_bool());
  EXPECT_TRUE(root.find("report")->is_object());
}

}  // namespace
}  // namespace codeflare::cli
