#include "queue/queue.h"

#include "queue/status_words.h"
#include "queue/testing/objects.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace codeflare::queue {
namespace {

using namespace testing;  // NOLINT
using Kind = Standing::Kind;

bool told(const StepOutcome& outcome, const std::string& name) {
  return std::ranges::any_of(outcome.changed,
                             [&](const WorkId& id) { return id.key.name == name; });
}

Queue queue_with_node(const std::string& cpu) {
  Queue queue;
  queue.upsert_node(node("n", resources(cpu)));
  return queue;
}

TEST(Queue, starts_what_fits_and_tells_the_other_why_it_waits) {
  Queue queue = queue_with_node("4");
  const auto first = wrapper("first", {{1, resources("3")}});
  const auto second = wrapper("second", {{1, resources("3")}}, 1);
  ASSERT_TRUE(queue.upsert(first, kNow));
  ASSERT_TRUE(queue.upsert(second, kNow));
  EXPECT_EQ(word(queue.standing("uid-first").reason), "Evaluating");
  const StepOutcome outcome = queue.step(kNow);
  EXPECT_EQ(outcome.changed.size(), 2U);
  EXPECT_FALSE(outcome.more);
  const Standing started = queue.standing("uid-first");
  EXPECT_EQ(started.kind, Kind::started);
  ASSERT_EQ(started.plan.size(), 1U);
  EXPECT_EQ(started.plan[0].node, "n");
  EXPECT_EQ(started.since, kNow);
  const Standing waits = queue.standing("uid-second");
  EXPECT_EQ(waits.kind, Kind::waiting);
  EXPECT_EQ(word(waits.reason), "InsufficientResources");
  EXPECT_FALSE(waits.quota);
  EXPECT_EQ(queue.sentence("uid-second", kNow),
            "needs 3 CPUs, 1 of 4 free on 1 eligible node (2 short)");
  EXPECT_EQ(queue.waiting(), 1U);
  EXPECT_EQ(queue.running(), 1U);
}

TEST(Queue, tells_a_standing_once_until_it_changes) {
  Queue queue = queue_with_node("1");
  ASSERT_TRUE(queue.upsert(wrapper("a", {{1, resources("2")}}), kNow));
  EXPECT_TRUE(told(queue.step(kNow), "a"));
  EXPECT_FALSE(told(queue.step(kNow), "a"));
  ASSERT_TRUE(queue.upsert(wrapper("a", {{1, resources("2")}}), kNow));
  EXPECT_FALSE(told(queue.step(kNow), "a"));
  queue.upsert_node(node("m", resources("2")));
  EXPECT_TRUE(told(queue.step(kNow), "a"));
}

TEST(Queue, an_object_without_pods_starts_at_once) {
  Queue queue;
  ASSERT_TRUE(queue.upsert(wrapper("empty", {}), kNow));
  EXPECT_TRUE(told(queue.step(kNow), "empty"));
  EXPECT_EQ(queue.standing("uid-empty").kind, Kind::started);
}

TEST(Queue, refuses_what_it_cannot_understand_and_does_not_queue_it) {
  Queue queue;
  auto broken = wrapper("broken", {{1, resources("1")}});
  broken.spec.resources.generic_items[0].generic_template.text = R"({"kind":"Thing"})";
  EXPECT_FALSE(queue.upsert(broken, kNow));
  EXPECT_EQ(queue.standing("uid-broken").kind, Kind::unknown);
  EXPECT_EQ(queue.waiting(), 0U);
  EXPECT_TRUE(queue.step(kNow).changed.empty());
}

TEST(Queue, frees_places_only_when_the_caller_says_that_they_are_free) {
  Queue queue = queue_with_node("4");
  auto first = wrapper("first", {{1, resources("3")}});
  ASSERT_TRUE(queue.upsert(first, kNow));
  ASSERT_TRUE(queue.upsert(wrapper("second", {{1, resources("3")}}, 1), kNow));
  (void)queue.step(kNow);
  queue.stopping("uid-first");
  (void)queue.step(kNow);
  EXPECT_EQ(queue.standing("uid-first").kind, Kind::stopping);
  EXPECT_EQ(word(queue.standing("uid-first").reason), "Stopping");
  EXPECT_EQ(queue.standing("uid-second").kind, Kind::waiting);
  // Its object is seen without a plan meanwhile: an event says nothing about what is held.
  ASSERT_TRUE(queue.upsert(first, kNow));
  (void)queue.step(kNow);
  EXPECT_EQ(queue.standing("uid-second").kind, Kind::waiting);
  queue.withdrawn("uid-first", kNow);
  (void)queue.step(kNow);
  // Its old place in line is before the second.
  EXPECT_EQ(queue.standing("uid-first").kind, Kind::started);
  queue.remove("uid-first");
  (void)queue.step(kNow);
  EXPECT_EQ(queue.standing("uid-second").kind, Kind::started);
  EXPECT_EQ(queue.standing("uid-first").kind, Kind::unknown);
}

TEST(Queue, an_older_event_does_not_bring_back_what_was_removed) {
  Queue queue = queue_with_node("4");
  auto running = wrapper("a", {{1, resources("3")}});
  ASSERT_TRUE(queue.upsert(running, kNow));
  (void)queue.step(kNow);
  record_start(running, queue.standing("uid-a"));
  queue.remove("uid-a");
  ASSERT_TRUE(queue.upsert(running, kNow));
  EXPECT_EQ(queue.standing("uid-a").kind, Kind::unknown);
  EXPECT_EQ(free_on(queue, "n"), 4000);
  queue.forget("uid-a");
  ASSERT_TRUE(queue.upsert(running, kNow));
  EXPECT_EQ(queue.standing("uid-a").kind, Kind::started);
}

TEST(Queue, suspending_holds_a_waiting_one_and_stops_a_started_one) {
  Queue queue = queue_with_node("4");
  auto held = wrapper("held", {{1, resources("1")}});
  held.spec.suspend = true;
  auto runs = wrapper("runs", {{1, resources("1")}});
  ASSERT_TRUE(queue.upsert(held, kNow));
  ASSERT_TRUE(queue.upsert(runs, kNow));
  (void)queue.step(kNow);
  EXPECT_EQ(word(queue.standing("uid-held").reason), "Held");
  EXPECT_EQ(queue.standing("uid-runs").kind, Kind::started);
  runs.spec.suspend = true;
  ASSERT_TRUE(queue.upsert(runs, kNow));
  EXPECT_TRUE(told(queue.step(kNow), "runs"));
  EXPECT_EQ(queue.standing("uid-runs").kind, Kind::stopping);
  EXPECT_EQ(word(queue.standing("uid-runs").reason), "Suspended");
  // Nobody has begun to stop it: it may go on.
  runs.spec.suspend = false;
  ASSERT_TRUE(queue.upsert(runs, kNow));
  EXPECT_EQ(queue.standing("uid-runs").kind, Kind::started);
  runs.spec.suspend = true;
  ASSERT_TRUE(queue.upsert(runs, kNow));
  queue.stopping("uid-runs");
  runs.spec.suspend = false;
  ASSERT_TRUE(queue.upsert(runs, kNow));
  EXPECT_EQ(queue.standing("uid-runs").kind, Kind::stopping);
  runs.spec.suspend = true;
  ASSERT_TRUE(queue.upsert(runs, kNow));
  queue.withdrawn("uid-runs", kNow);
  (void)queue.step(kNow);
  EXPECT_EQ(word(queue.standing("uid-runs").reason), "Held");
  held.spec.suspend = false;
  ASSERT_TRUE(queue.upsert(held, kNow));
  (void)queue.step(kNow);
  EXPECT_EQ(queue.standing("uid-held").kind, Kind::started);
}

TEST(Queue, does_not_start_work_of_unknown_users) {
  Queue queue = queue_with_node("4");
  auto anonymous = wrapper("x", {{1, resources("1")}});
  const auto annotations = std::exchange(anonymous.metadata.annotations, {});
  ASSERT_TRUE(queue.upsert(anonymous, kNow));
  (void)queue.step(kNow);
  EXPECT_EQ(word(queue.standing("uid-x").reason), "UserUnknown");
  EXPECT_NE(queue.sentence("uid-x", kNow).find("submitted-by"), std::string::npos);
  anonymous.metadata.annotations = annotations;
  ASSERT_TRUE(queue.upsert(anonymous, kNow));
  (void)queue.step(kNow);
  EXPECT_EQ(queue.standing("uid-x").kind, Kind::started);

  Queue unchecked(QueueOptions{.user_check = false});
  unchecked.upsert_node(node("n", resources("4")));
  anonymous.metadata.annotations.clear();
  ASSERT_TRUE(unchecked.upsert(anonymous, kNow));
  (void)unchecked.step(kNow);
  EXPECT_EQ(unchecked.standing("uid-x").kind, Kind::started);
}

TEST(Queue, a_deleted_one_leaves_the_line_and_keeps_what_it_holds) {
  Queue queue = queue_with_node("4");
  auto runs = wrapper("runs", {{1, resources("3")}});
  auto waits = wrapper("waits", {{1, resources("3")}}, 1);
  ASSERT_TRUE(queue.upsert(runs, kNow));
  ASSERT_TRUE(queue.upsert(waits, kNow));
  (void)queue.step(kNow);
  runs.metadata.deletion_timestamp = waits.metadata.deletion_timestamp = kNow;
  ASSERT_TRUE(queue.upsert(runs, kNow));
  ASSERT_TRUE(queue.upsert(waits, kNow));
  EXPECT_EQ(queue.standing("uid-waits").kind, Kind::unknown);
  EXPECT_EQ(queue.standing("uid-runs").kind, Kind::started);
  queue.remove("uid-runs");
  EXPECT_TRUE(queue.step(kNow).changed.empty());
}

TEST(Queue, another_priority_counts_at_once) {
  Queue queue = queue_with_node("2");
  ASSERT_TRUE(queue.upsert(wrapper("runs", {{1, resources("2")}}), kNow));
  (void)queue.step(kNow);
  auto late = wrapper("late", {{1, resources("2")}}, 2);
  ASSERT_TRUE(queue.upsert(wrapper("early", {{1, resources("2")}}, 1), kNow));
  ASSERT_TRUE(queue.upsert(late, kNow));
  (void)queue.step(kNow);
  ASSERT_EQ(queue.line(kNow, 10).size(), 2U);
  EXPECT_EQ(queue.line(kNow, 10)[0].key.name, "early");
  late.spec.priority = 5;
  ASSERT_TRUE(queue.upsert(late, kNow));
  EXPECT_EQ(queue.line(kNow, 1)[0].key.name, "late");
  queue.remove("uid-runs");
  (void)queue.step(kNow);
  EXPECT_EQ(queue.standing("uid-late").kind, Kind::started);
}

TEST(Queue, evicts_for_a_higher_priority_and_says_for_whom) {
  Queue queue(QueueOptions{.core = {.preemption = true}});
  queue.upsert_node(node("n", resources("4")));
  ASSERT_TRUE(queue.upsert(wrapper("low", {{1, resources("3")}}), kNow));
  (void)queue.step(kNow);
  auto high = wrapper("high", {{1, resources("3")}}, 1);
  high.spec.priority = 10;
  ASSERT_TRUE(queue.upsert(high, kNow));
  EXPECT_TRUE(told(queue.step(kNow), "low"));
  const Standing low = queue.standing("uid-low");
  EXPECT_EQ(low.kind, Kind::stopping);
  EXPECT_EQ(word(low.reason), "Preempted");
  EXPECT_EQ(low.message, "preempted by team-a/high, which has a higher priority");
  EXPECT_EQ(word(queue.standing("uid-high").reason), "Preempting");
  // Its start never reached its status: there is nothing to withdraw.
  queue.withdrawn("uid-low", kNow);
  (void)queue.step(kNow);
  EXPECT_EQ(queue.standing("uid-high").kind, Kind::started);
  EXPECT_EQ(queue.standing("uid-low").kind, Kind::waiting);
}

TEST(Queue, within_a_second_the_line_is_as_admission_saw_it) {
  const auto submitted_at = [](const std::string& name, int age, const std::string& time) {
    auto made = wrapper(name, {{1, resources("8")}}, age);
    made.metadata.annotations.emplace(kTimeAnnotation, time);
    return made;
  };
  const std::string second = "2023-11-14T22:13:20.";  // kNow
  const std::vector<model::AppWrapper> work = {
      submitted_at("z", 0, second + "000007Z"),
      submitted_at("b", 0, second + "000300Z"),
      submitted_at("a", 0, second + "999999Z"),
      // Another clock, or a written time, does not leave the second.
      submitted_at("late", 1, "2020-01-01T00:00:00Z"),
      submitted_at("later", 1, second + "999999Z"),
      submitted_at("last", 1, "2039-01-01T00:00:00Z"),
      wrapper("unrecorded", {{1, resources("8")}}, 2),
  };
  std::vector<std::string> expected;
  for (const model::AppWrapper& each : work) {
    expected.push_back(each.metadata.name);
  }
  const auto line_of = [](const std::vector<model::AppWrapper>& seen) {
    Queue queue = queue_with_node("4");
    for (const model::AppWrapper& each : seen) {
      EXPECT_TRUE(queue.upsert(each, kNow));
    }
    (void)queue.step(kNow);
    std::vector<std::string> names;
    for (const WorkId& id : queue.line(kNow, 100)) {
      names.push_back(id.key.name);
    }
    return names;
  };
  EXPECT_EQ(line_of(work), expected);
  // Another process sees them in another order, and with statuses that the first one wrote.
  std::vector<model::AppWrapper> again(work.rbegin(), work.rend());
  Time first = kNow - std::chrono::milliseconds(50);
  for (model::AppWrapper& each : again) {
    each.status.controller_first_timestamp = model::MicroTime{first};
    first += std::chrono::milliseconds(1);
  }
  EXPECT_EQ(line_of(again), expected);
}

TEST(Queue, reasons_follow_what_is_free_once_a_second) {
  Queue queue = queue_with_node("4");
  ASSERT_TRUE(queue.upsert(wrapper("first", {{1, resources("3")}}), kNow));
  ASSERT_TRUE(queue.upsert(wrapper("big", {{2, resources("2")}}, 1), kNow));
  EXPECT_TRUE(told(queue.step(kNow), "big"));
  EXPECT_EQ(word(queue.standing("uid-big").reason), "InsufficientResources");
  (void)queue.step(kNow + std::chrono::seconds(1));
  const Time later = kNow + std::chrono::seconds(10);
  EXPECT_FALSE(queue.step(later).wake_at);
  queue.upsert_node(node("n2", resources("3")));
  const StepOutcome outcome = queue.step(later);
  EXPECT_FALSE(told(outcome, "big"));
  ASSERT_EQ(outcome.wake_at, later + std::chrono::seconds(1));
  // Events in between do not make the queue look sooner, or later.
  queue.upsert_node(node("n2", resources("3500m")));
  EXPECT_EQ(queue.step(later + std::chrono::milliseconds(400)).wake_at, outcome.wake_at);
  const StepOutcome reviewed = queue.step(*outcome.wake_at);
  EXPECT_TRUE(told(reviewed, "big"));
  EXPECT_EQ(word(queue.standing("uid-big").reason), "Fragmented");
  EXPECT_FALSE(reviewed.wake_at);
}

TEST(Queue, one_whose_items_were_refused_lets_others_pass_until_its_time_has_come) {
  Queue queue = queue_with_node("4");
  ASSERT_TRUE(queue.upsert(wrapper("first", {{1, resources("3")}}), kNow));
  ASSERT_TRUE(queue.upsert(wrapper("second", {{1, resources("3")}}, 1), kNow));
  (void)queue.step(kNow);
  queue.stopping("uid-first");
  const Time due = kNow + std::chrono::seconds(5);
  queue.withdrawn("uid-first", kNow, due);
  const StepOutcome outcome = queue.step(kNow);
  EXPECT_TRUE(told(outcome, "first"));
  EXPECT_EQ(outcome.wake_at, due);
  EXPECT_EQ(word(queue.standing("uid-first").reason), "RetryLater");
  EXPECT_TRUE(queue.sentence("uid-first", kNow).contains("next try at"));
  EXPECT_EQ(queue.kind("uid-second"), Kind::started);
  queue.remove("uid-second");
  (void)queue.step(kNow + std::chrono::seconds(4));
  EXPECT_EQ(queue.kind("uid-first"), Kind::waiting);
  (void)queue.step(due);
  EXPECT_EQ(queue.kind("uid-first"), Kind::started);
}

TEST(Queue, another_resource_quota_is_reason_enough_to_try_again_at_once) {
  Queue queue = queue_with_node("4");
  ASSERT_TRUE(queue.upsert(wrapper("a", {{1, resources("3")}}), kNow));
  (void)queue.step(kNow);
  queue.stopping("uid-a");
  queue.withdrawn("uid-a", kNow, kNow + std::chrono::hours(1));
  (void)queue.step(kNow);
  const QuotaRule one_job{.hard = {{"count/jobs.batch", model::Quantity(1)}}};
  queue.set_resource_quota({"team-b", "q"}, one_job);
  (void)queue.step(kNow);
  EXPECT_EQ(queue.kind("uid-a"), Kind::waiting) << "of another namespace";
  queue.set_resource_quota({"team-a", "q"}, one_job);
  (void)queue.step(kNow);
  EXPECT_EQ(queue.kind("uid-a"), Kind::started);
}

TEST(Queue, nothing_starts_while_paused) {
  Queue queue = queue_with_node("4");
  queue.set_paused(true);
  ASSERT_TRUE(queue.upsert(wrapper("a", {{1, resources("1")}}), kNow));
  EXPECT_TRUE(told(queue.step(kNow), "a"));
  EXPECT_EQ(word(queue.standing("uid-a").reason), "Paused");
  queue.set_paused(false);
  EXPECT_TRUE(told(queue.step(kNow), "a"));
  EXPECT_EQ(queue.standing("uid-a").kind, Kind::started);
}

TEST(Queue, nothing_starts_while_starts_are_forbidden_and_the_sentence_says_why) {
  Queue queue = queue_with_node("4");
  ASSERT_TRUE(queue.upsert(wrapper("runs", {{1, resources("1")}}), kNow));
  (void)queue.step(kNow);
  queue.block(Reason::unlicensed, "LicenceRejected: the licence is disabled");
  EXPECT_FALSE(queue.paused()) << "nobody paused it";
  ASSERT_TRUE(queue.upsert(wrapper("a", {{1, resources("1")}}), kNow));
  EXPECT_TRUE(told(queue.step(kNow), "a"));
  EXPECT_EQ(queue.sentence("uid-a", kNow), "LicenceRejected: the licence is disabled");
  EXPECT_EQ(queue.kind("uid-runs"), Kind::started) << "running work is not touched";
  queue.set_paused(true);
  queue.block(Reason::unlicensed, "");
  (void)queue.step(kNow);
  EXPECT_EQ(queue.kind("uid-a"), Kind::waiting) << "still paused";
  queue.set_paused(false);
  (void)queue.step(kNow);
  EXPECT_EQ(queue.kind("uid-a"), Kind::started);
}

TEST(Queue, tells_apart_two_of_one_name) {
  Queue queue = queue_with_node("4");
  auto old = wrapper("a", {{1, resources("3")}});
  ASSERT_TRUE(queue.upsert(old, kNow));
  (void)queue.step(kNow);
  auto again = old;
  again.metadata.uid = "uid-again";
  ASSERT_TRUE(queue.upsert(again, kNow));
  (void)queue.step(kNow);
  EXPECT_EQ(queue.find_all({"team-a", "a"}).size(), 2U);
  EXPECT_EQ(queue.find({"team-a", "a"})->uid, "uid-again");
  EXPECT_EQ(queue.standing("uid-again").kind, Kind::waiting);
  queue.forget("uid-a");
  (void)queue.step(kNow);
  EXPECT_EQ(queue.standing("uid-again").kind, Kind::started);
  EXPECT_EQ(queue.find_all({"team-a", "a"}).size(), 1U);
  EXPECT_EQ(queue.known().size(), 1U);
}

TEST(Queue, ends_a_long_step_and_asks_for_another) {
  Queue queue = queue_with_node("1000");
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(queue.upsert(wrapper("w" + std::to_string(i), {{1, resources("1m")}}), kNow));
  }
  queue.upsert_node(node("n", [] {
    auto list = resources("1000");
    list.set("pods", model::Quantity(1000));
    return list;
  }()));
  const StepOutcome first = queue.step(kNow);
  EXPECT_TRUE(first.more);
  EXPECT_EQ(first.changed.size(), 256U);
  const StepOutcome rest = queue.step(kNow);
  EXPECT_FALSE(rest.more);
  EXPECT_EQ(rest.changed.size(), 44U);
}

// --- after a restart ---

TEST(QueueRestart, a_plan_holds_its_places_whatever_comes_first) {
  auto running = wrapper("a", {{2, resources("2")}});
  {
    Queue before = queue_with_node("4");
    ASSERT_TRUE(before.upsert(running, kNow));
    (void)before.step(kNow);
    record_start(running, before.standing("uid-a"));
  }
  const auto bound = pod_of(running, 0, "p", resources("2"), "n");
  for (int order = 0; order < 3; ++order) {
    Queue queue;
    if (order == 0) {
      queue.upsert_node(node("n", resources("4")));
    }
    if (order != 2) {
      ASSERT_TRUE(queue.upsert(running, kNow));
    }
    queue.upsert_pod(bound);
    if (order == 2) {
      ASSERT_TRUE(queue.upsert(running, kNow));
    }
    if (order != 0) {
      queue.upsert_node(node("n", resources("4")));
    }
    EXPECT_EQ(queue.standing("uid-a").kind, Kind::started) << order;
    EXPECT_EQ(queue.standing("uid-a").plan, running.status.plan->places) << order;
    EXPECT_EQ(queue.standing("uid-a").since, kNow) << order;
    EXPECT_EQ(free_on(queue, "n"), 0) << order;
    EXPECT_EQ(queue.standing("uid-a").pods_lost, 0) << order;
    EXPECT_TRUE(queue.core().check_invariants()) << order;
  }
}

TEST(QueueRestart, with_canrun_false_or_finished_what_is_planned_is_being_stopped) {
  for (const bool finished : {false, true}) {
    Queue queue = queue_with_node("4");
    auto stopping = wrapper("a", {{1, resources("3")}});
    stopping.status.plan.emplace();
    stopping.status.plan->places.push_back({.pod_set = 0, .node = "n", .count = 1});
    stopping.status.can_run = finished;
    stopping.status.state = finished ? "Failed" : "Pending";
    ASSERT_TRUE(queue.upsert(stopping, kNow));
    EXPECT_EQ(queue.standing("uid-a").kind, Kind::stopping);
    EXPECT_EQ(free_on(queue, "n"), 1000);
  }
}

TEST(QueueRestart, finished_and_deleted_ones_are_not_queued) {
  Queue queue = queue_with_node("4");
  auto completed = wrapper("done", {{1, resources("1")}});
  completed.status.state = "Completed";
  auto deleted = wrapper("gone", {{1, resources("1")}});
  deleted.metadata.deletion_timestamp = kNow;
  ASSERT_TRUE(queue.upsert(completed, kNow));
  ASSERT_TRUE(queue.upsert(deleted, kNow));
  EXPECT_EQ(queue.waiting() + queue.running(), 0U);
}

TEST(QueueRestart, work_that_mcad_dispatched_is_adopted_with_its_pods) {
  Queue queue = queue_with_node("8");
  auto mcad = wrapper("old", {{2, resources("3")}});
  mcad.status.can_run = true;
  mcad.status.state = "Running";
  auto first = pod("old-1", resources("3"), "n");
  first.metadata.labels[std::string(kMcadLabel)] = "old";
  queue.upsert_pod(first);
  EXPECT_EQ(free_on(queue, "n"), 5000);
  ASSERT_TRUE(queue.upsert(mcad, kNow, model::WrapperApi::mcad_v1beta1));
  EXPECT_EQ(queue.standing("uid-old").kind, Kind::started);
  EXPECT_EQ(word(queue.standing("uid-old").reason), "");
  EXPECT_EQ(free_on(queue, "n"), 5000);
  auto second = pod("old-2", resources("3"), "n");
  second.metadata.labels[std::string(kMcadLabel)] = "old";
  queue.upsert_pod(second);
  EXPECT_EQ(free_on(queue, "n"), 2000);
  EXPECT_TRUE(queue.unplanned("uid-old").empty());
  (void)queue.step(kNow);
  EXPECT_EQ(queue.standing("uid-old").kind, Kind::started);
  EXPECT_TRUE(queue.core().check_invariants());
}

TEST(QueueRestart, adopted_pods_are_known_by_mcads_label_also_by_the_next_process) {
  Queue queue = queue_with_node("8");
  queue.set_resource_quota({"team-a", "q"}, {resources("4")});
  auto mcad = wrapper("old", {{1, resources("3")}});
  mcad.status.can_run = true;
  mcad.status.state = "Running";
  mcad.status.plan.emplace();
  mcad.status.conditions.push_back({.type = "Queued", .status = "False", .reason = "Adopted"});
  auto there = pod("old-1", resources("3"), "n");
  there.metadata.labels[std::string(kMcadLabel)] = "old";
  queue.upsert_pod(there);
  ASSERT_TRUE(queue.upsert(mcad, kNow, model::WrapperApi::mcad_v1beta1));
  EXPECT_EQ(free_on(queue, "n"), 5000);
  // The quota counts it once: there is room for one more CPU.
  ASSERT_TRUE(queue.upsert(wrapper("next", {{1, resources("1")}}, 1), kNow));
  (void)queue.step(kNow);
  EXPECT_EQ(queue.kind("uid-next"), Kind::started);
  EXPECT_TRUE(queue.core().check_invariants());
}

TEST(QueueRestart, one_whose_items_were_refused_waits_as_long_as_before) {
  Queue queue = queue_with_node("4");
  auto refused = wrapper("a", {{1, resources("3")}});
  refused.status.state = "Pending";
  refused.status.number_of_requeueings = 3;
  refused.status.conditions.push_back({.type = "PreemptCandidate",
                                       .status = "True",
                                       .last_transition = model::MicroTime{kNow},
                                       .reason = "QuotaExceeded"});
  ASSERT_TRUE(queue.upsert(refused, kNow + std::chrono::seconds(1)));
  (void)queue.step(kNow + std::chrono::seconds(19));
  EXPECT_EQ(word(queue.standing("uid-a").reason), "RetryLater");
  (void)queue.step(kNow + std::chrono::seconds(20));
  EXPECT_EQ(queue.kind("uid-a"), Kind::started);
}

TEST(QueueRestart, the_time_that_was_used_up_counts) {
  Queue queue = queue_with_node("4");
  auto limited = wrapper("a", {{1, resources("3")}});
  limited.spec.scheduling_spec.emplace();
  limited.spec.scheduling_spec->dispatch_duration.emplace();
  limited.spec.scheduling_spec->dispatch_duration->limit = 100;
  limited.status.consumed_seconds = 40;
  ASSERT_TRUE(queue.upsert(limited, kNow));
  (void)queue.step(kNow);
  const auto waits = wrapper("b", {{1, resources("3")}}, 1);
  ASSERT_TRUE(queue.upsert(waits, kNow));
  (void)queue.step(kNow);
  const auto estimate = queue.core().estimate(*queue.gang("uid-b"), kNow);
  ASSERT_TRUE(estimate && estimate->start);
  EXPECT_EQ(*estimate->start, kNow + std::chrono::seconds(60));
}

}  // namespace
}  // namespace codeflare::queue
