#include "json/parse.h"
#include "queue/machines.h"
#include "queue/queue.h"
#include "queue/status_words.h"
#include "queue/testing/objects.h"

#include <gtest/gtest.h>

#include <string>

// Pods in and beyond the places of their gang, and pods of nobody.
namespace codeflare::queue {
namespace {

using namespace testing;  // NOLINT
using Kind = Standing::Kind;

struct Started {
  Queue queue;
  model::AppWrapper owner;
};

// Two pods of 2 CPUs on a node of 8.
Started two_pods(model::AppWrapper owner = wrapper("a", {{2, resources("2")}})) {
  Started made{Queue(), std::move(owner)};
  made.queue.upsert_node(node("n", resources("8", "64Gi")));
  CHECK(made.queue.upsert(made.owner, kNow).has_value());
  (void)made.queue.step(kNow);
  CHECK(made.queue.standing(made.owner.metadata.uid).kind == Kind::started);
  return made;
}

TEST(QueuePods, a_bound_pod_takes_the_place_of_its_slot_never_both) {
  auto [queue, owner] = two_pods();
  EXPECT_EQ(free_on(queue, "n"), 4000);
  queue.upsert_pod(pod_of(owner, 0, "p1", resources("2"), "n"));
  EXPECT_EQ(free_on(queue, "n"), 4000);
  // Its real requests count, on its real node.
  queue.upsert_node(node("m", resources("8")));
  queue.upsert_pod(pod_of(owner, 0, "p2", resources("1500m"), "m"));
  EXPECT_EQ(free_on(queue, "n"), 6000);
  EXPECT_EQ(free_on(queue, "m"), 6500);
  EXPECT_TRUE(queue.unplanned("uid-a").empty());
  EXPECT_TRUE(queue.core().check_invariants());
}

TEST(QueuePods, unbound_pods_take_nothing_beside_their_slots) {
  auto [queue, owner] = two_pods();
  queue.upsert_pod(pod_of(owner, 0, "p1", resources("2")));
  EXPECT_EQ(free_on(queue, "n"), 4000);
}

TEST(QueuePods, pods_beyond_the_plan_are_counted_and_told) {
  auto [queue, owner] = two_pods();
  for (const char* name : {"p1", "p2", "p3"}) {
    queue.upsert_pod(pod_of(owner, 0, name, resources("2"), "n"));
  }
  EXPECT_EQ(free_on(queue, "n"), 2000);
  ASSERT_EQ(queue.unplanned("uid-a").size(), 1U);
  EXPECT_EQ(queue.unplanned("uid-a")[0].pod, "p3");
  // A rolling update: the old pod ends, and the new one has its place.
  queue.remove_pod({"team-a", "p1"}, "uid-p1");
  EXPECT_EQ(free_on(queue, "n"), 4000);
  EXPECT_TRUE(queue.unplanned("uid-a").empty());
  EXPECT_TRUE(queue.core().check_invariants());
}

std::string beyond(const Queue& queue, const std::string& uid = "uid-a") {
  std::string text;
  for (const Queue::Unplanned& each : queue.unplanned(uid)) {
    text += (text.empty() ? "" : " ") + each.pod + "@" + each.node;
  }
  return text;
}

TEST(QueuePods, beyond_the_plan_are_told_before_they_have_a_node_and_take_nothing) {
  auto [queue, owner] = two_pods();
  queue.upsert_pod(pod_of(owner, 0, "p1", resources("2"), "n"));
  auto early = pod_of(owner, 0, "z-early", resources("2"));
  auto late = pod_of(owner, 0, "b-late", resources("2"));
  late.metadata.creation_timestamp = kNow + std::chrono::seconds(9);
  queue.upsert_pod(early);
  EXPECT_EQ(beyond(queue), "") << "it has a place";
  queue.upsert_pod(late);
  EXPECT_EQ(beyond(queue), "b-late@");
  EXPECT_EQ(free_on(queue, "n"), 4000);
  late.spec.node_name = "n";
  queue.upsert_pod(late);
  EXPECT_EQ(beyond(queue), "z-early@") << "who has a node has the place";
  auto nobody_knows = pod_of(owner, 7, "odd", resources("1"));
  queue.upsert_pod(nobody_knows);
  EXPECT_EQ(beyond(queue), "odd@ z-early@");
  nobody_knows.metadata.deletion_timestamp = kNow;
  queue.upsert_pod(nobody_knows);
  queue.remove_pod({"team-a", "p1"}, "uid-p1");
  EXPECT_EQ(beyond(queue), "");
  EXPECT_TRUE(queue.core().check_invariants());
}

TEST(QueuePods, a_successor_that_waits_for_the_end_of_its_predecessor_is_planned) {
  auto [queue, owner] = two_pods();
  queue.upsert_pod(pod_of(owner, 0, "p1", resources("2"), "n"));
  auto going = pod_of(owner, 0, "p2", resources("2"), "n");
  going.metadata.deletion_timestamp = kNow;
  queue.upsert_pod(going);
  queue.upsert_pod(pod_of(owner, 0, "p3", resources("2")));
  EXPECT_EQ(beyond(queue), "");
  queue.upsert_pod(pod_of(owner, 0, "p4", resources("2")));
  EXPECT_EQ(beyond(queue), "p4@");
}

TEST(QueuePods, an_ended_pod_keeps_its_place_for_a_successor) {
  auto [queue, owner] = two_pods();
  auto first = pod_of(owner, 0, "p1", resources("2"), "n");
  queue.upsert_pod(first);
  first.status.phase = "Failed";
  queue.upsert_pod(first);
  EXPECT_EQ(free_on(queue, "n"), 4000);
  queue.remove_pod({"team-a", "p1"}, "uid-p1");
  EXPECT_EQ(free_on(queue, "n"), 4000);
  queue.upsert_pod(pod_of(owner, 0, "p2", resources("2"), "n"));
  EXPECT_EQ(free_on(queue, "n"), 4000);
  EXPECT_TRUE(queue.core().check_invariants());
}

// A RayCluster of a head and as many workers of 1 CPU each.
std::string ray_cluster(int workers) {
  const std::string pods = R"("template":{"spec":{"containers":[{"name":"c","image":"i",
      "resources":{"requests":{"cpu":"1"}}}]}}})";
  return R"({"apiVersion":"ray.io/v1","kind":"RayCluster","metadata":{"name":"ray"},"spec":{
      "headGroupSpec":{)" +
         pods + R"(,"workerGroupSpecs":[{"groupName":"w","replicas":)" + std::to_string(workers) +
         "," + pods + "]}}";
}

TEST(QueuePods, one_that_is_scaled_down_gives_up_places) {
  model::AppWrapper scaled = wrapper("a", {});
  scaled.spec.resources.generic_items[0].generic_template.text = ray_cluster(3);
  auto [queue, owner] = two_pods(scaled);
  for (const char* name : {"w1", "w2"}) {
    queue.upsert_pod(pod_of(owner, 1, name, resources("1"), "n"));
  }
  EXPECT_EQ(free_on(queue, "n"), 4000);
  const auto seen = [&](const std::string& text) {
    const auto document = json::parse(text);
    CHECK(document.has_value());
    return queue.item_seen("uid-a", document->root);
  };
  EXPECT_FALSE(seen(ray_cluster(3))) << "it is as it was planned";
  EXPECT_EQ(free_on(queue, "n"), 4000);
  // The place that no pod has taken is free at once, the next one when its pod is gone.
  EXPECT_TRUE(seen(ray_cluster(1)));
  EXPECT_EQ(free_on(queue, "n"), 5000);
  queue.remove_pod({"team-a", "w2"}, "uid-w2");
  EXPECT_EQ(free_on(queue, "n"), 6000);
  // The last one is replaced, as is the head.
  queue.remove_pod({"team-a", "w1"}, "uid-w1");
  EXPECT_EQ(free_on(queue, "n"), 6000);
  EXPECT_TRUE(queue.core().check_invariants());
  std::string other = ray_cluster(0);
  other.replace(other.find("\"ray\""), 5, "\"yar\"");
  EXPECT_FALSE(seen(other)) << "another object";
}

TEST(QueuePods, places_come_back_with_the_next_dispatch_of_one_that_was_scaled_down) {
  model::AppWrapper scaled = wrapper("a", {});
  scaled.spec.resources.generic_items[0].generic_template.text = ray_cluster(3);
  auto [queue, owner] = two_pods(scaled);
  const auto document = json::parse(ray_cluster(0));
  ASSERT_TRUE(document);
  EXPECT_TRUE(queue.item_seen("uid-a", document->root));
  EXPECT_EQ(free_on(queue, "n"), 7000);
  queue.stopping("uid-a");
  queue.withdrawn("uid-a", kNow);
  (void)queue.step(kNow);
  EXPECT_EQ(queue.standing("uid-a").kind, Kind::started);
  EXPECT_EQ(free_on(queue, "n"), 4000);
}

TEST(QueuePods, a_wrapped_pod_that_failed_has_no_successor) {
  model::AppWrapper bare = wrapper("a", {});
  bare.spec.resources.generic_items[0].generic_template.text =
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p1"},"spec":{"containers":[{"name":)"
      R"("c","image":"i","resources":{"requests":{"cpu":"2"}}}]}})";
  auto [queue, owner] = two_pods(bare);
  EXPECT_EQ(free_on(queue, "n"), 6000);
  auto only = pod_of(owner, 0, "p1", resources("2"), "n");
  queue.upsert_pod(only);
  only.status.phase = "Failed";
  queue.upsert_pod(only);
  EXPECT_EQ(free_on(queue, "n"), 8000);
  EXPECT_TRUE(queue.core().check_invariants());
}

TEST(QueuePods, a_pod_that_succeeded_leaves_its_place_unless_more_will_come) {
  // Two at a time, three in all.
  auto [queue, owner] = two_pods(job("a", 2, 3, "2"));
  auto succeed = [&, &q = queue, &o = owner](const std::string& name) {
    auto done = pod_of(o, 0, name, resources("2"), "n");
    q.upsert_pod(done);
    done.status.phase = "Succeeded";
    q.upsert_pod(done);
  };
  succeed("p1");
  EXPECT_EQ(free_on(queue, "n"), 4000);
  succeed("p2");
  EXPECT_EQ(free_on(queue, "n"), 6000);
  succeed("p3");
  EXPECT_EQ(free_on(queue, "n"), 8000);
  EXPECT_TRUE(queue.core().check_invariants());
}

TEST(QueuePods, one_that_ended_before_it_was_seen_bound_counts_as_done) {
  auto [queue, owner] = two_pods(job("a", 2, 2, "2"));
  auto done = pod_of(owner, 0, "p1", resources("2"), "n");
  done.status.phase = "Succeeded";
  queue.upsert_pod(done);
  EXPECT_EQ(free_on(queue, "n"), 6000);
  // Said again, and gone: still one.
  queue.upsert_pod(done);
  queue.remove_pod({"team-a", "p1"}, "uid-p1");
  EXPECT_EQ(free_on(queue, "n"), 6000);
  EXPECT_TRUE(queue.core().check_invariants());
}

TEST(QueuePods, deleting_pods_hold_until_they_are_gone) {
  auto [queue, owner] = two_pods();
  auto going = pod_of(owner, 0, "p1", resources("2"), "n");
  queue.upsert_pod(going);
  going.metadata.deletion_timestamp = kNow;
  queue.upsert_pod(going);
  auto foreign = pod("f", resources("1"), "n");
  foreign.metadata.deletion_timestamp = kNow;
  queue.upsert_pod(foreign);
  EXPECT_EQ(free_on(queue, "n"), 3000);
  queue.remove_pod({"team-a", "f"}, "");
  EXPECT_EQ(free_on(queue, "n"), 4000);
}

TEST(QueuePods, a_pod_of_an_earlier_dispatch_takes_no_place_of_the_next) {
  auto [queue, owner] = two_pods();
  auto old = pod_of(owner, 0, "old", resources("2"), "n");
  queue.upsert_pod(old);
  old.metadata.deletion_timestamp = kNow;
  queue.upsert_pod(old);
  queue.stopping("uid-a");
  queue.withdrawn("uid-a", kNow);
  // It is still there: counted for itself, and then beside the new places.
  EXPECT_EQ(free_on(queue, "n"), 6000);
  (void)queue.step(kNow + std::chrono::seconds(10));
  EXPECT_EQ(queue.standing("uid-a").kind, Kind::started);
  EXPECT_EQ(free_on(queue, "n"), 2000);
  queue.remove_pod({"team-a", "old"}, "uid-old");
  EXPECT_EQ(free_on(queue, "n"), 4000);
  EXPECT_TRUE(queue.core().check_invariants());
}

TEST(QueuePods, of_nobody_are_summed_and_leave_when_they_finish) {
  Queue queue;
  // The pod may be seen before its node.
  auto first = pod("f1", resources("3"), "n");
  queue.upsert_pod(first);
  queue.upsert_node(node("n", resources("8")));
  EXPECT_EQ(free_on(queue, "n"), 5000);
  EXPECT_EQ(free_on(queue, "n", "pods"), 109);
  queue.upsert_pod(pod("f2", resources("1"), "n"));
  EXPECT_EQ(free_on(queue, "n"), 4000);
  first.status.phase = "Succeeded";
  queue.upsert_pod(first);
  EXPECT_EQ(free_on(queue, "n"), 7000);
  // The name is taken again before the end of the first was seen.
  auto again = pod("f2", resources("2"), "n");
  again.metadata.uid = "uid-other";
  queue.upsert_pod(again);
  EXPECT_EQ(free_on(queue, "n"), 6000);
  queue.remove_pod({"team-a", "f2"}, "uid-f2");
  EXPECT_EQ(free_on(queue, "n"), 6000);
  queue.remove_pod({"team-a", "f2"}, "uid-other");
  EXPECT_EQ(free_on(queue, "n"), 8000);
}

TEST(QueuePods, grow_and_shrink_in_place) {
  auto [queue, owner] = two_pods();
  queue.upsert_pod(pod_of(owner, 0, "p1", resources("2"), "n"));
  queue.upsert_pod(pod_of(owner, 0, "p1", resources("3"), "n"));
  EXPECT_EQ(free_on(queue, "n"), 3000);
  queue.upsert_pod(pod("f", resources("1"), "n"));
  queue.upsert_pod(pod("f", resources("500m"), "n"));
  EXPECT_EQ(free_on(queue, "n"), 2500);
  EXPECT_TRUE(queue.core().check_invariants());
}

TEST(QueuePods, of_an_appwrapper_that_is_not_known_count_for_themselves) {
  auto [queue, owner] = two_pods();
  queue.upsert_pod(pod_of(owner, 0, "p1", resources("2"), "n"));
  queue.forget("uid-a");
  EXPECT_EQ(free_on(queue, "n"), 6000);
  EXPECT_TRUE(queue.core().check_invariants());
}

TEST(QueuePods, a_label_from_another_namespace_takes_nobodys_place) {
  auto [queue, owner] = two_pods();
  auto thief = pod_of(owner, 0, "p1", resources("2"), "n");
  thief.metadata.ns = "team-b";
  queue.upsert_pod(thief);
  EXPECT_EQ(free_on(queue, "n"), 2000);
}

TEST(QueuePods, placeholders_take_nothing_in_the_controllers_namespace_only) {
  Queue queue;
  queue.upsert_node(node("n", resources("8")));
  const auto placeholder = [&](const std::string& name, const std::string& ns) {
    model::Pod made = pod(name, resources("2"), "n");
    made.metadata.ns = ns;
    made.metadata.labels[std::string(kPlaceholderLabel)] = "request";
    queue.upsert_pod(made);
  };
  placeholder("a", "codeflare-system");
  placeholder("b", "east/codeflare-system");  // as a hub sees those of a worker cluster
  EXPECT_EQ(free_on(queue, "n"), 8000);
  // Anybody may write any label.
  placeholder("c", "team-a");
  EXPECT_EQ(free_on(queue, "n"), 6000);
  placeholder("d", "not-codeflare-system");
  EXPECT_EQ(free_on(queue, "n"), 4000);
  queue.remove_pod({"codeflare-system", "a"}, "uid-a");
  queue.remove_pod({"team-a", "c"}, "uid-c");
  EXPECT_EQ(free_on(queue, "n"), 6000);
  EXPECT_TRUE(queue.core().check_invariants());
}

TEST(QueuePods, one_with_thousands_of_resources_counts_with_the_usual_ones) {
  Queue queue;
  queue.upsert_node(node("n", resources("8")));
  model::ResourceList absurd = resources("2");
  for (int i = 0; i < 5000; ++i) {
    absurd.set("example.com/r" + std::to_string(i), model::Quantity(1));
  }
  const std::size_t before = queue.core().memory_bytes();
  queue.upsert_pod(pod("f", absurd, "n"));
  EXPECT_EQ(free_on(queue, "n"), 6000);
  EXPECT_LE(queue.core().memory_bytes(), before + 1024);
  queue.remove_pod({"team-a", "f"}, "");
  EXPECT_EQ(free_on(queue, "n"), 8000);
}

// --- nodes that go ---

TEST(QueueNodes, one_that_is_not_ready_holds_nothing_new) {
  for (int way = 0; way < 4; ++way) {
    auto bad = node("n", resources("8"));
    if (way == 0) {
      bad.status.conditions[0].status = "Unknown";
    }
    if (way == 1) {
      bad.status.conditions.clear();
    }
    if (way == 2) {
      bad.spec.taints.push_back(
          {.key = "node.kubernetes.io/unreachable", .value = "", .effect = "NoExecute"});
    }
    if (way == 3) {
      bad.spec.unschedulable = true;
    }
    Queue queue;
    queue.upsert_node(bad);
    ASSERT_TRUE(queue.upsert(wrapper("a", {{1, resources("1")}}), kNow));
    (void)queue.step(kNow);
    EXPECT_EQ(word(queue.standing("uid-a").reason), "NoNodeAllowed") << way;
    queue.upsert_node(node("n", resources("8")));
    (void)queue.step(kNow);
    EXPECT_EQ(queue.standing("uid-a").kind, Kind::started) << way;
    // Pods that exist stay.
    queue.upsert_node(bad);
    (void)queue.step(kNow);
    EXPECT_EQ(queue.standing("uid-a").kind, Kind::started) << way;
  }
}

TEST(QueueNodes, under_another_scheduler_a_lost_place_is_told_and_may_be_found) {
  auto [queue, owner] = two_pods();
  queue.upsert_pod(pod_of(owner, 0, "p1", resources("2"), "n"));
  queue.remove_node("n");
  const StepOutcome outcome = queue.step(kNow);
  EXPECT_EQ(outcome.changed.size(), 1U);
  Standing standing = queue.standing("uid-a");
  EXPECT_EQ(standing.kind, Kind::started);
  EXPECT_EQ(word(standing.reason), "NodeGone");
  EXPECT_EQ(standing.pods_lost, 2);
  EXPECT_EQ(standing.message, "lost 2 pods: node n is gone");
  queue.upsert_node(node("m", resources("8")));
  queue.remove_pod({"team-a", "p1"}, "uid-p1");
  queue.upsert_pod(pod_of(owner, 0, "p2", resources("2"), "m"));
  EXPECT_EQ(queue.standing("uid-a").pods_lost, 1);
  queue.upsert_pod(pod_of(owner, 0, "p3", resources("2"), "m"));
  standing = queue.standing("uid-a");
  EXPECT_EQ(standing.pods_lost, 0);
  EXPECT_EQ(word(standing.reason), "");
  EXPECT_TRUE(queue.core().check_invariants());
}

TEST(QueueNodes, one_that_returns_has_its_pods_and_places_back) {
  auto [queue, owner] = two_pods();
  queue.upsert_pod(pod_of(owner, 0, "p1", resources("2"), "n"));
  queue.upsert_pod(pod("f", resources("1"), "n"));
  queue.remove_node("n");
  (void)queue.step(kNow);
  queue.upsert_node(node("n", resources("8")));
  EXPECT_EQ(free_on(queue, "n"), 3000);
  EXPECT_EQ(word(queue.standing("uid-a").reason), "");
  EXPECT_EQ(queue.standing("uid-a").pods_lost, 0);
  EXPECT_TRUE(queue.core().check_invariants());
}

}  // namespace
}  // namespace codeflare::queue
