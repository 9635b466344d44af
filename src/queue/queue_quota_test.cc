#include "queue/queue.h"
#include "queue/report.h"
#include "queue/status_words.h"
#include "queue/testing/objects.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::queue {
namespace {

using namespace testing;  // NOLINT
using Kind = Standing::Kind;

Queue queue_with_room() {
  Queue queue;
  queue.upsert_node(node("n", resources("100", "100Gi", "100")));
  return queue;
}

model::AppWrapper labelled(const std::string& name, const std::string& cpu,
                           const std::string& quota_node) {
  auto made = wrapper(name, {{1, resources(cpu)}});
  if (!quota_node.empty()) {
    made.metadata.labels["team"] = quota_node;
  }
  return made;
}

model::QuotaSubtree team_tree() {
  auto tree = quota_subtree("teams", "team", "");
  tree.spec.children.push_back(quota_child("gold", resources("4"), true));
  tree.spec.children.push_back(quota_child("default", resources("1"), true));
  return tree;
}

TEST(QueueQuota, labels_say_which_node_is_charged) {
  Queue queue = queue_with_room();
  queue.upsert_quota(team_tree());
  ASSERT_TRUE(queue.upsert(labelled("in", "3", "gold"), kNow));
  ASSERT_TRUE(queue.upsert(labelled("over", "3", "gold"), kNow));
  ASSERT_TRUE(queue.upsert(labelled("unlabelled", "2", ""), kNow));
  ASSERT_TRUE(queue.upsert(labelled("unknown", "1", "nobody"), kNow));
  (void)queue.step(kNow);
  EXPECT_EQ(queue.standing("uid-in").kind, Kind::started);
  EXPECT_EQ(word(queue.standing("uid-over").reason), "InsufficientQuota");
  EXPECT_TRUE(queue.standing("uid-over").quota);
  EXPECT_EQ(queue.sentence("uid-over", kNow),
            "needs 3 CPUs of quota node gold (tree team), 3 of 4 used (2 short)");
  EXPECT_EQ(word(queue.standing("uid-unlabelled").reason), "InsufficientQuota");
  EXPECT_EQ(
      queue.sentence("uid-unlabelled", kNow),
      "needs 2 CPUs of quota node default (tree team), 0 of 1 used; raise the limit to 2 or more");
  EXPECT_EQ(word(queue.standing("uid-unknown").reason), "UnknownQuota");
  // Another label moves it.
  ASSERT_TRUE(queue.upsert(labelled("unknown", "1", "gold"), kNow));
  (void)queue.step(kNow);
  EXPECT_EQ(queue.standing("uid-unknown").kind, Kind::started);
}

TEST(QueueQuota, the_status_sums_up_use_and_limits_for_tables) {
  Queue queue = queue_with_room();
  queue.upsert_quota(team_tree());
  ASSERT_TRUE(queue.upsert(labelled("in", "3", "gold"), kNow));
  (void)queue.step(kNow);
  const model::QuotaSubtreeStatus status = queue.quota_status(team_tree());
  EXPECT_EQ(status.used, "3 CPUs");
  EXPECT_EQ(status.limit, "5 CPUs");
}

TEST(QueueQuota, advice_names_only_nodes_with_room_and_says_which_are_full) {
  Queue queue = queue_with_room();
  auto tree = team_tree();
  tree.spec.children.push_back(quota_child("silver", resources("4"), true));
  queue.upsert_quota(tree);
  ASSERT_TRUE(queue.upsert(labelled("in", "4", "gold"), kNow));
  ASSERT_TRUE(queue.upsert(labelled("over", "3", "gold"), kNow));
  ASSERT_TRUE(queue.upsert(labelled("lost", "3", "golden"), kNow));
  (void)queue.step(kNow);
  const Result<Report> over = explain(queue, "uid-over", kNow);
  ASSERT_TRUE(over.has_value());
  EXPECT_EQ(over->advice.back(), "or set the label to a quota node with room: team=silver");
  const Result<Report> lost = explain(queue, "uid-lost", kNow);
  ASSERT_TRUE(lost.has_value());
  EXPECT_EQ(lost->advice.front(),
            "set the label to an existing quota node: team=gold (no room now), silver, default (no "
            "room now)");
}

TEST(QueueQuota, edits_and_deletions_take_effect_at_once_and_charge_what_runs) {
  Queue queue = queue_with_room();
  ASSERT_TRUE(queue.upsert(labelled("old", "3", "gold"), kNow));
  (void)queue.step(kNow);
  auto tree = team_tree();
  tree.spec.children[0].quotas.requests = resources("2");
  queue.upsert_quota(tree);
  EXPECT_EQ(queue.quota_status(tree).children[0].allocated.get("cpu"), amount("3"));
  ASSERT_TRUE(queue.upsert(labelled("new", "1", "gold"), kNow));
  (void)queue.step(kNow);
  EXPECT_EQ(queue.standing("uid-old").kind, Kind::started);
  EXPECT_EQ(word(queue.standing("uid-new").reason), "InsufficientQuota");
  tree.spec.children[0].quotas.disabled = true;
  queue.upsert_quota(tree);
  (void)queue.step(kNow);
  EXPECT_EQ(queue.standing("uid-new").kind, Kind::started);
  ASSERT_TRUE(queue.upsert(labelled("later", "2", ""), kNow));
  (void)queue.step(kNow);
  EXPECT_EQ(word(queue.standing("uid-later").reason), "InsufficientQuota");
  queue.remove_quota(tree.metadata.key());
  (void)queue.step(kNow);
  EXPECT_EQ(queue.standing("uid-later").kind, Kind::started);
  EXPECT_TRUE(queue.core().check_invariants());
}

// `guest` runs on what `gold` lends; `owner` has come to take it back.
Queue lent(const std::string& cpus_of_node) {
  Queue queue(QueueOptions{.core = {.preemption = true}});
  queue.upsert_node(node("n", resources(cpus_of_node)));
  auto root = quota_subtree("root", "team", "");
  root.spec.children.push_back(quota_child("all", resources("4")));
  auto below = quota_subtree("below", "team", "all");
  below.spec.children.push_back(quota_child("gold", resources("4")));
  below.spec.children.push_back(quota_child("guests", resources("0")));
  queue.upsert_quota(root);
  queue.upsert_quota(below);
  EXPECT_TRUE(queue.upsert(labelled("guest", "3", "guests"), kNow));
  (void)queue.step(kNow);
  EXPECT_EQ(queue.standing("uid-guest").kind, Kind::started);
  EXPECT_TRUE(queue.upsert(labelled("owner", "2", "gold"), kNow));
  (void)queue.step(kNow);
  EXPECT_EQ(word(queue.standing("uid-guest").reason), "Preempted");
  return queue;
}

TEST(QueueQuota, an_owner_waits_for_quota_and_names_the_borrower_that_gives_it_back) {
  Queue queue = lent("100");
  EXPECT_EQ(word(queue.standing("uid-owner").reason), "Preempting");
  EXPECT_TRUE(queue.standing("uid-owner").quota) << "the nodes are empty";
  EXPECT_EQ(queue.sentence("uid-owner", kNow),
            "starts when evicted work has ended: team-a/guest (3 CPUs); needs 2 CPUs of quota node "
            "all (tree team), 3 of 4 used");
  queue.withdrawn("uid-guest", kNow);
  (void)queue.step(kNow);
  EXPECT_EQ(queue.standing("uid-owner").kind, Kind::started);
  EXPECT_FALSE(queue.standing("uid-owner").quota);
}

TEST(QueueQuota, who_waits_for_a_node_that_is_cleared_does_not_wait_for_quota) {
  Queue queue(QueueOptions{.core = {.preemption = true}});
  queue.upsert_node(node("n", resources("4")));
  queue.upsert_node(node("m", resources("2")));
  ASSERT_TRUE(queue.upsert(labelled("low", "3", "default"), kNow));
  ASSERT_TRUE(queue.upsert(labelled("other", "2", "default"), kNow));
  (void)queue.step(kNow);
  queue.upsert_quota(team_tree());
  auto high = labelled("high", "4", "gold");
  high.spec.priority = 10;
  ASSERT_TRUE(queue.upsert(high, kNow));
  (void)queue.step(kNow);
  EXPECT_EQ(word(queue.standing("uid-high").reason), "Preempting");
  EXPECT_FALSE(queue.standing("uid-high").quota);
  EXPECT_EQ(queue.sentence("uid-high", kNow),
            "starts when evicted work has ended: team-a/low (3 CPUs)");
}

TEST(QueueQuota, reasons_follow_edits_in_the_same_step) {
  Queue queue;
  queue.upsert_node(node("n", resources("8")));
  auto tree = team_tree();
  queue.upsert_quota(tree);
  ASSERT_TRUE(queue.upsert(labelled("over", "5", "gold"), kNow));
  ASSERT_TRUE(queue.upsert(labelled("large", "9", "big"), kNow));
  const auto reasons = [&] {
    std::string text;
    for (const WorkId& id : queue.step(kNow).changed) {
      text += (text.empty() ? "" : " ") + id.key.name + "=" +
              std::string(word(queue.standing(id.uid).reason));
    }
    return text;
  };
  EXPECT_EQ(reasons(), "large=UnknownQuota over=InsufficientQuota");
  tree.spec.children.push_back(quota_child("big", resources("20"), true));
  queue.upsert_quota(tree);
  EXPECT_EQ(reasons(), "large=InsufficientResources");
  tree.spec.children.erase(tree.spec.children.begin());
  queue.upsert_quota(tree);
  EXPECT_EQ(reasons(), "over=UnknownQuota");
  tree.spec.children.pop_back();
  queue.upsert_quota(tree);
  EXPECT_EQ(reasons(), "large=UnknownQuota");
  queue.remove_quota(tree.metadata.key());
  EXPECT_EQ(reasons(), "large=InsufficientResources over=");
}

TEST(QueueQuota, labels_of_what_runs_count_when_it_is_withdrawn) {
  Queue queue = queue_with_room();
  const auto tree = team_tree();
  queue.upsert_quota(tree);
  ASSERT_TRUE(queue.upsert(labelled("a", "1", "default"), kNow));
  (void)queue.step(kNow);
  ASSERT_EQ(queue.standing("uid-a").kind, Kind::started);
  ASSERT_TRUE(queue.upsert(labelled("a", "1", "gold"), kNow));
  ASSERT_TRUE(queue.upsert(labelled("b", "1", "default"), kNow));
  (void)queue.step(kNow);
  EXPECT_EQ(queue.quota_status(tree).children[0].allocated.get("cpu"), amount("0"));
  EXPECT_EQ(word(queue.standing("uid-b").reason), "InsufficientQuota")
      << "a label gives nothing back while the pods run";
  queue.stopping("uid-a");
  queue.withdrawn("uid-a", kNow);
  (void)queue.step(kNow);
  EXPECT_EQ(queue.quota_status(tree).children[0].allocated.get("cpu"), amount("1"));
  EXPECT_EQ(queue.standing("uid-b").kind, Kind::started);
  EXPECT_TRUE(queue.core().check_invariants());
}

TEST(QueueQuota, other_trees_and_quotas_do_not_bring_labels_to_bear_on_what_runs) {
  Queue queue = queue_with_room();
  const auto tree = team_tree();
  queue.upsert_quota(tree);
  ASSERT_TRUE(queue.upsert(labelled("a", "1", "default"), kNow));
  (void)queue.step(kNow);
  ASSERT_EQ(queue.standing("uid-a").kind, Kind::started);
  ASSERT_TRUE(queue.upsert(labelled("a", "1", "gold"), kNow));
  auto another = quota_subtree("another", "project", "");
  another.spec.children.push_back(quota_child("default", resources("8")));
  queue.upsert_quota(another);
  EXPECT_EQ(queue.quota_status(tree).children[0].allocated.get("cpu"), amount("0"));
  EXPECT_EQ(queue.quota_status(another).children[0].allocated.get("cpu"), amount("1"));
  const QuotaRule scoped{resources("4"), {{.kind = QuotaScope::Kind::terminating}}};
  queue.set_resource_quota({"team-a", "rq"}, scoped);
  EXPECT_EQ(queue.quota_status(tree).children[0].allocated.get("cpu"), amount("0"));
  queue.stopping("uid-a");
  queue.withdrawn("uid-a", kNow);
  (void)queue.step(kNow);
  EXPECT_EQ(queue.quota_status(tree).children[0].allocated.get("cpu"), amount("1"));
  EXPECT_TRUE(queue.core().check_invariants());
}

TEST(QueueQuota, of_a_tree_that_comes_while_it_runs_the_label_of_then_is_charged) {
  Queue queue = queue_with_room();
  auto another = quota_subtree("another", "project", "");
  another.spec.children.push_back(quota_child("default", resources("8")));
  queue.upsert_quota(another);
  ASSERT_TRUE(queue.upsert(labelled("a", "1", "default"), kNow));
  (void)queue.step(kNow);
  ASSERT_EQ(queue.standing("uid-a").kind, Kind::started);
  ASSERT_TRUE(queue.upsert(labelled("a", "1", "gold"), kNow));
  const auto tree = team_tree();
  queue.upsert_quota(tree);
  EXPECT_EQ(queue.quota_status(tree).children[0].allocated.get("cpu"), amount("1"));
  EXPECT_EQ(queue.quota_status(another).children[0].allocated.get("cpu"), amount("1"));
  // From now on it names one.
  ASSERT_TRUE(queue.upsert(labelled("a", "1", "default"), kNow));
  EXPECT_EQ(queue.quota_status(tree).children[0].allocated.get("cpu"), amount("1"));
  EXPECT_TRUE(queue.core().check_invariants());
}

TEST(QueueQuota, amounts_that_are_counted_otherwise_are_told) {
  Queue queue = queue_with_room();
  auto tree = quota_subtree("teams", "team", "");
  tree.spec.children.push_back(
      quota_child("gold", {{"cpu", amount("-1")}, {"memory", amount("1e999")}}));
  tree.spec.children.push_back(
      quota_child("default", {{"cpu", amount("100u")}, {"nvidia.com/gpu", amount("1.5")}}));
  tree.spec.children.push_back(quota_child("fine", resources("1500m", "1Gi", "2")));
  tree.spec.children.push_back(quota_child("open", {{"cpu", amount("-1")}}));
  tree.spec.children[3].quotas.disabled = true;
  queue.upsert_quota(tree);
  auto asks = wrapper("a", {{1, {{"nvidia.com/gpu", amount("1")}}}});
  ASSERT_TRUE(queue.upsert(asks, kNow));
  (void)queue.step(kNow);
  const auto status = queue.quota_status(tree);
  EXPECT_EQ(status.children[0].problem,
            "quotas.requests[cpu]: -1 is counted as 0; quotas.requests[memory]: more than can be "
            "counted is counted as 72057594037927936");
  EXPECT_EQ(status.children[1].problem,
            "quotas.requests[cpu]: 100u is counted as 1m; quotas.requests[nvidia.com/gpu]: 1500m "
            "is counted as 2");
  EXPECT_EQ(status.children[1].allocated.get("nvidia.com/gpu"), amount("1"))
      << "it is charged all the same";
  EXPECT_EQ(status.children[2].problem, "");
  EXPECT_EQ(status.children[3].problem, "") << "it has no limits";
}

TEST(QueueQuota, several_objects_make_one_tree_and_say_what_is_wrong_with_them) {
  Queue queue = queue_with_room();
  auto root = quota_subtree("root", "team", "");
  root.spec.children.push_back(quota_child("all", resources("10")));
  auto below = quota_subtree("below", "team", "all");
  below.metadata.creation_timestamp = kNow + std::chrono::seconds(1);
  below.spec.children.push_back(quota_child("gold", resources("4")));
  below.spec.children.push_back(quota_child("all", resources("1")));
  auto dangling = quota_subtree("dangling", "team", "nowhere");
  dangling.spec.children.push_back(quota_child("lost", resources("1")));
  auto circle = quota_subtree("circle", "team", "egg");
  circle.spec.children.push_back(quota_child("hen", resources("1")));
  auto circle2 = quota_subtree("circle2", "team", "hen");
  circle2.spec.children.push_back(quota_child("egg", resources("1")));
  auto unlabelled = quota_subtree("unlabelled", "", "");
  unlabelled.spec.children.push_back(quota_child("x", resources("1")));
  for (const auto& each : {below, root, dangling, circle, circle2, unlabelled}) {
    queue.upsert_quota(each);
  }
  ASSERT_TRUE(queue.upsert(labelled("a", "6", "gold"), kNow));
  (void)queue.step(kNow);
  const auto status = queue.quota_status(below);
  EXPECT_EQ(status.children[0].problem, "");
  EXPECT_EQ(status.children[0].allocated.get("cpu"), amount("6"));
  EXPECT_EQ(status.children[1].problem,
            "tree team already has a node all, in QuotaSubtree quota/root");
  EXPECT_EQ(status.total_allocation.get("cpu"), amount("6"));
  EXPECT_EQ(queue.quota_status(root).children[0].allocated.get("cpu"), amount("6"));
  EXPECT_EQ(queue.quota_status(dangling).children[0].problem,
            "parent nowhere does not exist in tree team");
  EXPECT_EQ(queue.quota_status(circle).children[0].problem,
            "node is its own ancestor, through hen");
  EXPECT_EQ(queue.quota_status(unlabelled).children[0].problem,
            "label tree is missing; set it to the name of the quota tree");
}

TEST(QueueQuota, a_node_may_belong_to_one_namespace) {
  Queue queue = queue_with_room();
  auto tree = team_tree();
  tree.spec.children[0].ns = "team-b";
  queue.upsert_quota(tree);
  ASSERT_TRUE(queue.upsert(labelled("a", "1", "gold"), kNow));
  (void)queue.step(kNow);
  EXPECT_EQ(word(queue.standing("uid-a").reason), "UnknownQuota");
  EXPECT_EQ(
      queue.sentence("uid-a", kNow),
      "quota node gold belongs to namespace team-b; set the label team to another quota node");
}

TEST(QueueQuota, a_resource_quota_is_respected_less_what_other_pods_use) {
  Queue queue = queue_with_room();
  model::ResourceList hard;
  hard.set("requests.cpu", amount("4"));
  hard.set("cpu", amount("5"));
  hard.set("requests.nvidia.com/gpu", amount("2"));
  hard.set("count/pods", amount("3"));
  hard.set("services", amount("0"));
  hard.set("requests.storage", amount("0"));
  queue.set_resource_quota({"team-a", "rq"}, {hard});
  // Also while it has no node: the API server counts it from its creation.
  queue.upsert_pod(pod("other", resources("1")));
  ASSERT_TRUE(queue.upsert(wrapper("fits", {{1, resources("2")}}), kNow));
  ASSERT_TRUE(queue.upsert(wrapper("waits", {{1, resources("2")}}, 1), kNow));
  ASSERT_TRUE(queue.upsert(wrapper("pods", {{3, resources("1m")}}, 1), kNow));
  auto elsewhere = wrapper("elsewhere", {{1, resources("50")}});
  elsewhere.metadata.ns = "team-b";
  elsewhere.spec.resources.generic_items[0].generic_template.text =
      R"({"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"x"}})";
  ASSERT_TRUE(queue.upsert(elsewhere, kNow));
  (void)queue.step(kNow);
  EXPECT_EQ(queue.standing("uid-fits").kind, Kind::started);
  EXPECT_EQ(queue.standing("uid-elsewhere").kind, Kind::started);
  EXPECT_EQ(word(queue.standing("uid-waits").reason), "InsufficientQuota");
  EXPECT_EQ(queue.sentence("uid-waits", kNow),
            "needs 2 CPUs of ResourceQuota team-a/rq, 3 of 4 used (1 short)");
  EXPECT_EQ(word(queue.standing("uid-pods").reason), "InsufficientQuota");
  queue.remove_pod({"team-a", "other"}, "uid-other");
  (void)queue.step(kNow);
  EXPECT_EQ(queue.standing("uid-waits").kind, Kind::started);
  queue.remove_resource_quota({"team-a", "rq"});
  (void)queue.step(kNow);
  EXPECT_EQ(queue.standing("uid-pods").kind, Kind::started);
  EXPECT_TRUE(queue.core().check_invariants());
}

TEST(QueueQuota, a_resource_quota_with_scopes_concerns_the_pods_that_they_choose) {
  Queue queue = queue_with_room();
  const QuotaScope high{
      .kind = QuotaScope::Kind::priority_class, .op = QuotaScope::Operator::in, .values = {"high"}};
  const auto of_class = [](const std::string& name, const std::string& priority_class) {
    auto made = job(name, 1, 1, "3");
    std::string& text = made.spec.resources.generic_items[0].generic_template.text;
    text.insert(text.find(R"("restartPolicy")"),
                R"("priorityClassName":")" + priority_class + R"(",)");
    return made;
  };
  ASSERT_TRUE(queue.upsert(of_class("early", "high"), kNow));
  queue.set_resource_quota({"team-a", "rq"}, {resources("4"), {high}});
  auto theirs = pod("theirs", resources("2"), "n");
  queue.upsert_pod(theirs);
  theirs.metadata.name = "high";
  theirs.metadata.uid = "uid-high";
  theirs.spec.priority_class_name = "high";
  queue.upsert_pod(theirs);
  ASSERT_TRUE(queue.upsert(of_class("low", "low"), kNow));
  (void)queue.step(kNow);
  EXPECT_EQ(queue.standing("uid-low").kind, Kind::started);
  EXPECT_EQ(word(queue.standing("uid-early").reason), "InsufficientQuota");
  EXPECT_EQ(queue.sentence("uid-early", kNow),
            "needs 3 CPUs of ResourceQuota team-a/rq, 2 of 4 used (1 short)");
  queue.remove_pod({"team-a", "high"}, "uid-high");
  (void)queue.step(kNow);
  EXPECT_EQ(queue.standing("uid-early").kind, Kind::started);
  EXPECT_TRUE(queue.core().check_invariants());
  // Without its scopes it is about everybody, and the other way round.
  queue.set_resource_quota({"team-a", "rq"}, {resources("4")});
  ASSERT_TRUE(queue.upsert(of_class("late", "low"), kNow));
  (void)queue.step(kNow);
  EXPECT_EQ(word(queue.standing("uid-late").reason), "InsufficientQuota");
  queue.remove_resource_quota({"team-a", "rq"});
  queue.set_resource_quota({"team-a", "rq"}, {resources("1"), {high}});
  (void)queue.step(kNow);
  EXPECT_EQ(queue.standing("uid-late").kind, Kind::started);
  EXPECT_TRUE(queue.core().check_invariants());
}

TEST(QueueQuota, pods_of_a_gang_are_charged_once_to_a_resource_quota) {
  Queue queue = queue_with_room();
  auto hard = resources("4");
  hard.set("limits.cpu", amount("6"));
  queue.set_resource_quota({"team-a", "rq"}, {hard});
  const auto owner = wrapper("a", {{1, resources("2")}});
  ASSERT_TRUE(queue.upsert(owner, kNow));
  (void)queue.step(kNow);
  auto unbound = pod_of(owner, 0, "p", resources("2"));
  queue.upsert_pod(unbound);
  const auto used = [&] { return queue.core().quota_used("ResourceQuota team-a/rq", "default"); };
  EXPECT_EQ(used()[0], (sched::Resource{"cpu", 2000}));
  unbound.spec.node_name = "n";
  unbound.spec.containers[0].resources.limits = resources("3");
  queue.upsert_pod(unbound);
  EXPECT_EQ(used()[0], (sched::Resource{"cpu", 2000}));
  EXPECT_EQ(used()[1], (sched::Resource{"limits.cpu", 3000}));
  queue.forget("uid-a");
  EXPECT_EQ(used()[0], (sched::Resource{"cpu", 2000}));
  unbound.status.phase = "Succeeded";
  queue.upsert_pod(unbound);
  EXPECT_EQ(used()[0], (sched::Resource{"cpu", 0}));
  EXPECT_TRUE(queue.core().check_invariants());
}

}  // namespace
}  // namespace codeflare::queue
