#include "queue/queue.h"
#include "queue/status_words.h"
#include "queue/testing/objects.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

// Which pod goes where, when we bind.
namespace codeflare::queue {
namespace {

using namespace testing;  // NOLINT
using Kind = Standing::Kind;

std::map<std::string, std::string> bound(const StepOutcome& outcome) {
  std::map<std::string, std::string> result;
  for (const Binding& each : outcome.bindings) {
    result[each.pod.name] = each.node;
  }
  return result;
}

struct Binder {
  Queue queue;
  model::AppWrapper owner = wrapper("a", {{1, resources("3")}, {2, resources("2")}});

  explicit Binder(Binds binds) : queue(QueueOptions{.binds = binds}) {
    queue.upsert_node(node("n1", resources("4")));
    queue.upsert_node(node("n2", resources("4")));
    CHECK(queue.upsert(owner, kNow).has_value());
    (void)queue.step(kNow);
    CHECK(queue.standing("uid-a").kind == Kind::started);
  }
  std::string head_node() const {
    const auto plan = queue.standing("uid-a").plan;
    return std::ranges::find(plan, 0, &model::PlannedPlace::pod_set)->node;
  }
};

TEST(QueueBinds, pods_of_a_gang_go_to_the_places_of_their_pod_set_once) {
  Binder b(Binds::gangs);
  const std::string head = b.head_node();
  const std::string other = head == "n1" ? "n2" : "n1";
  b.queue.upsert_pod(pod_of(b.owner, 1, "w1", resources("2")));
  b.queue.upsert_pod(pod_of(b.owner, 0, "h", resources("3")));
  b.queue.upsert_pod(pod_of(b.owner, 1, "w2", resources("2")));
  EXPECT_EQ(bound(b.queue.step(kNow)),
            (std::map<std::string, std::string>{{"h", head}, {"w1", other}, {"w2", other}}));
  EXPECT_TRUE(b.queue.step(kNow).bindings.empty());
  EXPECT_EQ(free_on(b.queue, head), 1000);
  EXPECT_EQ(free_on(b.queue, other), 0);
  // An older event, and then the news.
  b.queue.upsert_pod(pod_of(b.owner, 0, "h", resources("3")));
  EXPECT_TRUE(b.queue.step(kNow).bindings.empty());
  b.queue.upsert_pod(pod_of(b.owner, 0, "h", resources("3"), head));
  EXPECT_TRUE(b.queue.step(kNow).bindings.empty());
  EXPECT_EQ(free_on(b.queue, head), 1000);
  EXPECT_TRUE(b.queue.core().check_invariants());
}

TEST(QueueBinds, a_refused_binding_is_handed_out_again) {
  Binder b(Binds::gangs);
  b.queue.upsert_pod(pod_of(b.owner, 0, "h", resources("3")));
  EXPECT_EQ(b.queue.step(kNow).bindings.size(), 1U);
  b.queue.binding_failed("uid-h");
  EXPECT_EQ(b.queue.step(kNow).bindings.size(), 1U);
  // It happened after all: a late failure changes nothing.
  b.queue.upsert_pod(pod_of(b.owner, 0, "h", resources("3"), b.head_node()));
  b.queue.binding_failed("uid-h");
  EXPECT_TRUE(b.queue.step(kNow).bindings.empty());
  EXPECT_TRUE(b.queue.core().check_invariants());
}

TEST(QueueBinds, a_pod_that_goes_before_its_binding_gives_its_place_back) {
  Binder b(Binds::gangs);
  b.queue.upsert_pod(pod_of(b.owner, 0, "h", resources("3")));
  EXPECT_EQ(b.queue.step(kNow).bindings.size(), 1U);
  b.queue.remove_pod({"team-a", "h"}, "uid-h");
  b.queue.upsert_pod(pod_of(b.owner, 0, "h2", resources("3")));
  EXPECT_EQ(bound(b.queue.step(kNow)), (std::map<std::string, std::string>{{"h2", b.head_node()}}));
}

TEST(QueueBinds, leaves_alone_what_is_gated_deleted_or_anothers) {
  Binder b(Binds::gangs);
  auto gated = pod_of(b.owner, 0, "gated", resources("3"));
  gated.spec.scheduling_gates.push_back({.name = "wait"});
  auto deleted = pod_of(b.owner, 1, "deleted", resources("2"));
  deleted.metadata.deletion_timestamp = kNow;
  auto others = pod_of(b.owner, 1, "others", resources("2"));
  others.spec.scheduler_name = "default-scheduler";
  for (const auto& each : {gated, deleted, others}) {
    b.queue.upsert_pod(each);
  }
  b.queue.upsert_pod(pod("nobodys", resources("100m")));
  EXPECT_TRUE(b.queue.step(kNow).bindings.empty());
  gated.spec.scheduling_gates.clear();
  b.queue.upsert_pod(gated);
  EXPECT_EQ(b.queue.step(kNow).bindings.size(), 1U);
}

TEST(QueueBinds, pods_of_one_that_waits_stops_or_is_unknown_are_not_bound) {
  Binder b(Binds::all);
  auto waiting = wrapper("waiting", {{1, resources("4")}}, 1);
  ASSERT_TRUE(b.queue.upsert(waiting, kNow));
  b.queue.upsert_pod(pod_of(waiting, 0, "early", resources("1m")));
  b.queue.upsert_pod(pod_of(wrapper("unknown", {}), 0, "stray", resources("1m")));
  EXPECT_TRUE(b.queue.step(kNow).bindings.empty());
  b.queue.stopping("uid-a");
  b.queue.upsert_pod(pod_of(b.owner, 0, "h", resources("3")));
  EXPECT_TRUE(b.queue.step(kNow).bindings.empty());
}

TEST(QueueBinds, extra_pods_of_a_gang_find_a_place_of_their_own) {
  Binder b(Binds::gangs);
  b.queue.upsert_node(node("n3", resources("4")));
  for (const char* name : {"w1", "w2", "w3"}) {
    b.queue.upsert_pod(pod_of(b.owner, 1, name, resources("2")));
  }
  StepOutcome outcome = b.queue.step(kNow);
  EXPECT_EQ(outcome.bindings.size(), 2U);
  EXPECT_TRUE(outcome.more);
  outcome = b.queue.step(kNow);
  EXPECT_EQ(bound(outcome), (std::map<std::string, std::string>{{"w3", "n3"}}));
  EXPECT_EQ(b.queue.unplanned("uid-a").size(), 1U) << "while its binding is under way, too";
  b.queue.upsert_pod(pod_of(b.owner, 1, "w3", resources("2"), "n3"));
  ASSERT_EQ(b.queue.unplanned("uid-a").size(), 1U);
  EXPECT_EQ(free_on(b.queue, "n3"), 2000);
  EXPECT_TRUE(b.queue.core().check_invariants());
}

TEST(QueueBinds, an_extra_pod_that_waits_takes_a_place_that_becomes_free) {
  Binder b(Binds::gangs);
  b.queue.upsert_pod(pod("full", resources("1"), b.head_node()));
  for (const char* name : {"w1", "w2", "w3"}) {
    b.queue.upsert_pod(pod_of(b.owner, 1, name, resources("2")));
  }
  (void)b.queue.step(kNow);
  EXPECT_TRUE(b.queue.step(kNow).bindings.empty());
  ASSERT_EQ(b.queue.unplanned("uid-a").size(), 1U);
  EXPECT_EQ(b.queue.unplanned("uid-a")[0].pod, "w3");
  EXPECT_EQ(b.queue.unplanned("uid-a")[0].node, "");
  const auto told = b.queue.unplaced("uid-w3", kNow);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->why, "0/2 nodes are available: needs 2 CPUs, at most 0 free on one node");
  b.queue.remove_pod({"team-a", "w1"}, "uid-w1");
  EXPECT_EQ(bound(b.queue.step(kNow)).count("w3"), 1U);
  EXPECT_TRUE(b.queue.core().check_invariants());
}

TEST(QueueBinds, a_place_on_a_node_that_others_have_filled_meanwhile_is_not_used) {
  Queue queue(QueueOptions{.binds = Binds::all});
  queue.upsert_node(node("full", resources("4")));
  queue.upsert_node(node("other", resources("4")));
  queue.upsert_pod(pod("there", resources("3"), "full"));
  // As after a restart: its plan is older than the other pod.
  auto owner = wrapper("a", {{1, resources("2")}});
  owner.status.plan.emplace();
  owner.status.plan->places.push_back({.pod_set = 0, .node = "full", .count = 1});
  owner.status.can_run = true;
  owner.status.state = "Running";
  ASSERT_TRUE(queue.upsert(owner, kNow));
  queue.upsert_pod(pod_of(owner, 0, "p", resources("2")));
  std::map<std::string, std::string> places;
  for (bool more = true; more;) {
    const StepOutcome outcome = queue.step(kNow);
    places.merge(bound(outcome));
    more = outcome.more;
  }
  EXPECT_EQ(places, (std::map<std::string, std::string>{{"p", "other"}}));
}

TEST(QueueBinds, every_other_pod_is_a_gang_of_one_that_charges_nothing) {
  Queue queue(QueueOptions{.binds = Binds::all});
  queue.upsert_node(node("n", resources("4")));
  auto tree = quota_subtree("q", "t", "");
  tree.spec.children.push_back(quota_child("default", resources("0"), true));
  queue.upsert_quota(tree);
  queue.set_paused(true);
  queue.upsert_pod(pod("a", resources("3")));
  auto strong = pod("b", resources("3"));
  strong.spec.priority = 1000;
  queue.upsert_pod(strong);
  StepOutcome outcome = queue.step(kNow);
  EXPECT_EQ(bound(outcome), (std::map<std::string, std::string>{{"b", "n"}}));
  EXPECT_EQ(free_on(queue, "n"), 1000);
  // The API has it: it counts as any other pod there.
  strong.spec.node_name = "n";
  queue.upsert_pod(strong);
  EXPECT_EQ(free_on(queue, "n"), 1000);
  EXPECT_EQ(queue.core().running(), 0U);
  queue.remove_pod({"team-a", "b"}, "uid-b");
  EXPECT_EQ(bound(queue.step(kNow)), (std::map<std::string, std::string>{{"a", "n"}}));
  queue.binding_failed("uid-a");
  EXPECT_EQ(queue.step(kNow).bindings.size(), 1U);
  queue.remove_pod({"team-a", "a"}, "uid-a");
  EXPECT_EQ(free_on(queue, "n"), 4000);
  EXPECT_EQ(queue.core().waiting() + queue.core().running(), 0U);
}

TEST(QueueBinds, a_pod_of_nobody_without_a_place_is_told_once_for_each_reason) {
  Queue queue(QueueOptions{.binds = Binds::all});
  const auto why = [&](const char* uid) {
    const auto unplaced = queue.unplaced(uid, kNow);
    return unplaced ? unplaced->why : "";
  };
  auto picky = pod("picky", resources("1"));
  picky.spec.node_selector["zone"] = "z";
  queue.upsert_pod(picky);
  EXPECT_EQ(queue.step(kNow).unplaced, std::vector<std::string>{"uid-picky"});
  EXPECT_EQ(why("uid-picky"), "the cluster has no nodes");
  queue.upsert_node(node("n1", resources("4")));
  queue.upsert_node(node("n2", resources("2")));
  queue.upsert_pod(pod("large", resources("5")));
  queue.upsert_pod(picky);
  const StepOutcome outcome = queue.step(kNow);
  EXPECT_EQ(std::ranges::count(outcome.unplaced, "uid-large"), 1);
  EXPECT_EQ(why("uid-picky"),
            "0/2 nodes are available: selector zone=z excludes 2; add a node that matches, or "
            "change the constraints");
  EXPECT_EQ(why("uid-large"), "0/2 nodes are available: needs 5 CPUs, at most 4 free on one node");
  EXPECT_TRUE(queue.step(kNow).unplaced.empty());
  auto labelled = node("n2", resources("2"));
  labelled.metadata.labels["zone"] = "z";
  queue.upsert_node(labelled);
  EXPECT_EQ(bound(queue.step(kNow)), (std::map<std::string, std::string>{{"picky", "n2"}}));
  EXPECT_EQ(why("uid-picky"), "") << "it has a place";
  queue.remove_pod({"team-a", "large"}, "uid-large");
  EXPECT_EQ(why("uid-large"), "") << "it is gone";
}

TEST(QueueBinds, a_pod_that_cannot_be_understood_is_told_so_once) {
  Queue queue(QueueOptions{.binds = Binds::all});
  queue.upsert_node(node("n1", resources("4")));
  auto odd = pod("odd", resources("1"));
  odd.spec.tolerations.emplace_back().op = "Perhaps";
  queue.upsert_pod(odd);
  EXPECT_EQ(queue.step(kNow).unplaced, std::vector<std::string>{"uid-odd"});
  const auto unplaced = queue.unplaced("uid-odd", kNow);
  ASSERT_TRUE(unplaced);
  EXPECT_TRUE(unplaced->why.starts_with("no node can be chosen: ")) << unplaced->why;
  queue.upsert_pod(odd);
  EXPECT_TRUE(queue.step(kNow).unplaced.empty());
}

TEST(QueueBinds, honours_what_a_loose_pod_asks_of_its_node) {
  Queue queue(QueueOptions{.binds = Binds::all});
  auto labelled = node("x", resources("4"));
  labelled.metadata.labels["zone"] = "z";
  queue.upsert_node(node("a", resources("4")));
  queue.upsert_node(labelled);
  auto picky = pod("p", resources("1"));
  picky.spec.node_selector["zone"] = "z";
  queue.upsert_pod(picky);
  EXPECT_EQ(bound(queue.step(kNow)), (std::map<std::string, std::string>{{"p", "x"}}));
}

TEST(QueueBinds, lost_places_are_found_anew_and_the_plan_says_so) {
  Binder b(Binds::gangs);
  const std::string head = b.head_node();
  b.queue.upsert_pod(pod_of(b.owner, 0, "h", resources("3")));
  (void)b.queue.step(kNow);
  b.queue.upsert_pod(pod_of(b.owner, 0, "h", resources("3"), head));
  b.queue.remove_node(head);
  b.queue.upsert_node(node("n3", resources("4")));
  const StepOutcome outcome = b.queue.step(kNow);
  ASSERT_EQ(outcome.changed.size(), 1U);
  EXPECT_EQ(b.queue.standing("uid-a").kind, Kind::started);
  EXPECT_EQ(word(b.queue.standing("uid-a").reason), "");
  EXPECT_EQ(b.head_node(), "n3");
  b.queue.remove_pod({"team-a", "h"}, "uid-h");
  b.queue.upsert_pod(pod_of(b.owner, 0, "h2", resources("3")));
  // Nobody is bound by a plan that is not written.
  EXPECT_TRUE(b.queue.step(kNow).bindings.empty());
  EXPECT_FALSE(b.queue.plan_written("uid-a", {}));
  EXPECT_TRUE(b.queue.plan_written("uid-a", b.queue.standing("uid-a").plan));
  EXPECT_FALSE(b.queue.plan_written("uid-a", b.queue.standing("uid-a").plan));
  EXPECT_EQ(bound(b.queue.step(kNow)), (std::map<std::string, std::string>{{"h2", "n3"}}));
  EXPECT_TRUE(b.queue.core().check_invariants());
}

TEST(QueueBinds, a_gang_that_finds_no_other_place_stops_unless_its_node_returns) {
  Binder b(Binds::gangs);
  const std::string head = b.head_node();
  b.queue.remove_node(head);
  EXPECT_EQ(b.queue.step(kNow).changed.size(), 1U);
  Standing standing = b.queue.standing("uid-a");
  EXPECT_EQ(standing.kind, Kind::stopping);
  EXPECT_EQ(word(standing.reason), "NodeGone");
  EXPECT_EQ(standing.message, "lost 1 pod: node " + head + " is gone; no other node has room");
  b.queue.upsert_node(node(head, resources("4")));
  EXPECT_EQ(b.queue.step(kNow).changed.size(), 1U);
  EXPECT_EQ(b.queue.standing("uid-a").kind, Kind::started);
  b.queue.remove_node(head);
  (void)b.queue.step(kNow);
  b.queue.stopping("uid-a");
  b.queue.withdrawn("uid-a", kNow);
  (void)b.queue.step(kNow);
  EXPECT_EQ(b.queue.standing("uid-a").kind, Kind::waiting);
  EXPECT_TRUE(b.queue.core().check_invariants());
}

model::Node cordoned(std::string name) {
  model::Node found = node(std::move(name), resources("4"));
  found.spec.unschedulable = true;
  return found;
}

// The head of the gang is evicted from its node, which is cordoned; its owner makes another pod.
std::string drain_head(Binder& b) {
  const std::string head = b.head_node();
  b.queue.upsert_pod(pod_of(b.owner, 0, "h", resources("3")));
  (void)b.queue.step(kNow);
  b.queue.upsert_pod(pod_of(b.owner, 0, "h", resources("3"), head));
  b.queue.upsert_node(cordoned(head));
  b.queue.remove_pod({"team-a", "h"}, "uid-h");
  b.queue.upsert_pod(pod_of(b.owner, 0, "h2", resources("3")));
  return head;
}

TEST(QueueBinds, pods_of_a_drained_node_go_to_another) {
  Binder b(Binds::gangs);
  b.queue.upsert_node(node("n3", resources("4")));
  const std::string head = drain_head(b);
  const StepOutcome outcome = b.queue.step(kNow);
  EXPECT_TRUE(outcome.bindings.empty());
  EXPECT_EQ(outcome.changed.size(), 1U);
  EXPECT_EQ(b.head_node(), "n3");
  EXPECT_TRUE(b.queue.plan_written("uid-a", b.queue.standing("uid-a").plan));
  EXPECT_EQ(bound(b.queue.step(kNow)), (std::map<std::string, std::string>{{"h2", "n3"}}));
  b.queue.upsert_pod(pod_of(b.owner, 0, "h2", resources("3"), "n3"));
  (void)b.queue.step(kNow);
  EXPECT_EQ(free_on(b.queue, "n3"), 1000);
  EXPECT_EQ(free_on(b.queue, head), 4000);
  EXPECT_TRUE(b.queue.core().check_invariants());
}

TEST(QueueBinds, pods_of_a_drained_node_wait_for_it_while_no_other_has_room) {
  Binder b(Binds::gangs);
  const std::string head = drain_head(b);
  EXPECT_TRUE(b.queue.step(kNow).bindings.empty());
  EXPECT_EQ(b.queue.standing("uid-a").kind, Kind::started);
  EXPECT_EQ(b.head_node(), head);
  b.queue.upsert_node(node(head, resources("4")));
  EXPECT_EQ(bound(b.queue.step(kNow)), (std::map<std::string, std::string>{{"h2", head}}));
  EXPECT_TRUE(b.queue.core().check_invariants());
}

TEST(QueueBinds, a_binding_to_a_node_that_went_is_forgotten) {
  Binder b(Binds::all);
  b.queue.upsert_pod(pod("x", resources("1")));
  b.queue.upsert_pod(pod_of(b.owner, 0, "h", resources("3")));
  const StepOutcome outcome = b.queue.step(kNow);
  ASSERT_EQ(bound(outcome).count("x"), 1U);
  ASSERT_EQ(bound(outcome).count("h"), 1U);
  b.queue.remove_node("n1");
  b.queue.remove_node("n2");
  b.queue.upsert_node(node("n3", resources("9")));
  (void)b.queue.step(kNow);
  const auto again = bound(b.queue.step(kNow));
  EXPECT_EQ(free_on(b.queue, "n3"), 9000 - 3000 - 4000 - 1000);
  EXPECT_TRUE(b.queue.core().check_invariants());
}

}  // namespace
}  // namespace codeflare::queue
