#include "sched/core.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>
#include <vector>

namespace codeflare::sched {
namespace {

constexpr Time kNow = Time(std::chrono::seconds(1'700'000'000));

NodeSpec node(const std::string& name, Amount cpu) {
  return {
      .name = name, .labels = {{"kubernetes.io/hostname", name}}, .allocatable = {{"cpu", cpu}}};
}

GangSpec gang(const std::string& name, Amount cpu, std::int64_t pods = 1) {
  GangSpec spec{.name = name, .submitted = kNow};
  spec.pod_sets.push_back({.count = pods, .requests = {{"cpu", cpu}}});
  return spec;
}

// More host names than classes can tell apart: the key is then looked at node by node.
Core core_with_hosts(int hosts) {
  Core core;
  for (int i = 0; i < hosts; ++i) {
    (void)core.upsert_node(node("host" + std::to_string(i), 4));
  }
  return core;
}

TEST(Core, pins_a_gang_to_a_host_among_hundreds) {
  Core core = core_with_hosts(400);
  GangSpec pinned = gang("pinned", 4);
  pinned.pod_sets[0].selector = {{"kubernetes.io/hostname", "host333"}};
  ASSERT_TRUE(core.submit(pinned));
  const StepResult result = core.step(kNow);
  ASSERT_EQ(result.admitted.size(), 1U);
  EXPECT_EQ(core.node_name(result.admitted[0].placement[0].node), "host333");
  EXPECT_TRUE(core.check_invariants());
}

TEST(Core, keeps_constraints_when_a_key_becomes_too_wide_for_classes) {
  Core core = core_with_hosts(10);
  GangSpec away = gang("away", 4);
  away.pod_sets[0].affinity = {{{{"kubernetes.io/hostname", Operator::in, {"host777"}}}}};
  const auto id = core.submit(away);
  ASSERT_TRUE(id);
  EXPECT_TRUE(core.step(kNow).admitted.empty());
  EXPECT_EQ(*core.why(*id), Reason::no_node_allowed);
  for (int i = 10; i < 700; ++i) {
    (void)core.upsert_node(node("host" + std::to_string(i), 4));
  }
  EXPECT_TRUE(core.step(kNow).admitted.empty());
  EXPECT_TRUE(core.check_invariants());
  ASSERT_TRUE(core.upsert_node(node("host777", 4)));
  const StepResult result = core.step(kNow);
  ASSERT_EQ(result.admitted.size(), 1U);
  EXPECT_EQ(core.node_name(result.admitted[0].placement[0].node), "host777");
}

TEST(Core, names_that_no_node_has_do_not_make_every_node_larger) {
  Core core = core_with_hosts(100);
  const std::size_t before = core.memory_bytes();
  Resources junk;
  for (int i = 0; i < 10'000; ++i) {
    junk.push_back({"junk" + std::to_string(i), 1});
  }
  ASSERT_TRUE(core.set_foreign(*core.find_node("host0"), junk));
  EXPECT_LE(core.memory_bytes(), before + 1024) << "nobody offers or asks for any of it";
  GangSpec greedy = gang("greedy", 1);
  greedy.pod_sets[0].requests = junk;
  EXPECT_FALSE(core.submit(greedy));
  EXPECT_LE(core.memory_bytes(), before + 1024);
  GangSpec few = gang("few", 1);
  few.pod_sets[0].requests.push_back({"example.com/soon", 1});
  ASSERT_TRUE(core.submit(few)) << "a node that has it may come";
  EXPECT_TRUE(core.step(kNow).admitted.empty());
  NodeSpec offer = node("offer", 4);
  offer.allocatable.push_back({"example.com/soon", 1});
  ASSERT_TRUE(core.upsert_node(offer));
  EXPECT_EQ(core.step(kNow).admitted.size(), 1U);
  EXPECT_TRUE(core.check_invariants());
}

TEST(Core, a_quota_tree_that_comes_late_leaves_the_others_as_they_are) {
  Core core;
  (void)core.upsert_node(node("n", 16));
  EXPECT_TRUE(core.set_quota_tree("b", {{.name = "default", .limits = {{"cpu", 8}}}}).empty());
  ASSERT_TRUE(core.submit(gang("first", 6)));
  EXPECT_EQ(core.step(kNow).admitted.size(), 1U);
  EXPECT_TRUE(core.set_quota_tree("a", {{.name = "default", .limits = {{"cpu", 12}}}}).empty());
  EXPECT_TRUE(
      core.set_quota_tree("c", {{.name = "default", .limits = {{"cpu", 1}}}}, "other").empty());
  EXPECT_EQ(core.quota_used("a", "default"), (Resources{{"cpu", 6}}));
  EXPECT_EQ(core.quota_used("b", "default"), (Resources{{"cpu", 6}}));
  EXPECT_EQ(core.quota_used("c", "default"), (Resources{{"cpu", 0}}));
  core.remove_quota_tree("nothing");
  EXPECT_EQ(core.quota_used("b", "default"), (Resources{{"cpu", 6}}));
  core.remove_quota_tree("a");
  ASSERT_TRUE(core.submit(gang("second", 4)));
  EXPECT_TRUE(core.step(kNow).admitted.empty()) << "b has room for 2";
  ASSERT_TRUE(core.submit(gang("third", 2)));
  EXPECT_EQ(core.step(kNow).admitted.size(), 1U);
  EXPECT_TRUE(core.check_invariants());
}

TEST(Core, forgets_handles_of_what_is_gone) {
  Core core;
  const auto old_node = core.upsert_node(node("n", 4));
  const auto old_gang = core.submit(gang("g", 1));
  ASSERT_TRUE(old_node && old_gang);
  core.remove_node(*old_node);
  ASSERT_TRUE(core.remove(*old_gang));
  ASSERT_TRUE(core.upsert_node(node("n", 4)));
  ASSERT_TRUE(core.submit(gang("g", 1)));
  EXPECT_FALSE(core.set_foreign(*old_node, {}));
  EXPECT_FALSE(core.state(*old_gang));
  EXPECT_FALSE(core.remove(*old_gang));
  EXPECT_EQ(core.name(*old_gang), "");
}

TEST(Core, tells_every_new_gang_why_it_waits_exactly_once) {
  Core core;
  ASSERT_TRUE(core.upsert_node(node("n", 1)));
  ASSERT_TRUE(core.submit(gang("a", 2)));
  ASSERT_TRUE(core.submit(gang("b", 2)));
  EXPECT_EQ(core.step(kNow).refused.size(), 2U);
  EXPECT_TRUE(core.step(kNow).refused.empty());
  ASSERT_TRUE(core.submit(gang("c", 2)));
  const StepResult result = core.step(kNow);
  ASSERT_EQ(result.refused.size(), 1U);
  EXPECT_EQ(core.name(result.refused[0].gang), "c");
  EXPECT_EQ(result.refused[0].why, Reason::insufficient_resources);
}

TEST(Core, a_review_does_a_part_at_a_time_and_comes_round_to_everybody) {
  Core core;
  ASSERT_TRUE(core.upsert_node(node("n1", 1)));
  ASSERT_TRUE(core.upsert_node(node("n2", 1)));
  constexpr int kGangs = 20'000;
  for (int i = 0; i < kGangs; ++i) {
    ASSERT_TRUE(core.submit(gang("g" + std::to_string(i), 100 + i)));
  }
  EXPECT_EQ(core.step(kNow).refused.size(), kGangs);
  while (core.reasons_stale()) {
    EXPECT_TRUE(core.review(kNow).empty());
  }
  // Enough for all of them in sum, and for none on one node.
  for (int i = 0; i < 2 * kGangs; i += 99) {
    ASSERT_TRUE(core.upsert_node(node("small" + std::to_string(i), 99)));
  }
  EXPECT_TRUE(core.step(kNow).refused.empty());
  std::set<std::string> told;
  int reviews = 0;
  for (; core.reasons_stale(); ++reviews) {
    const std::vector<Refusal> part = core.review(kNow);
    EXPECT_LT(part.size(), kGangs / 2);
    for (const Refusal& each : part) {
      EXPECT_EQ(each.why, Reason::fragmented);
      EXPECT_TRUE(told.insert(core.name(each.gang)).second);
    }
  }
  EXPECT_GT(reviews, 1);
  EXPECT_EQ(told.size(), kGangs);
}

TEST(Core, a_look_at_reasons_is_called_for_by_what_changes_and_not_by_trials) {
  Core core;
  ASSERT_TRUE(core.upsert_node(node("n1", 3)));
  EXPECT_FALSE(core.reasons_stale()) << "nobody waits";
  // Both kinds of pods fit alone, so they are tried together, and undone.
  GangSpec both = gang("both", 2);
  both.pod_sets.push_back({.count = 1, .requests = {{"cpu", 3}}});
  ASSERT_TRUE(core.submit(both));
  ASSERT_EQ(core.step(kNow).refused.size(), 1U);
  while (core.reasons_stale()) {
    (void)core.review(kNow);
  }
  core.set_paused(true);
  core.set_paused(false);
  (void)core.step(kNow);
  EXPECT_FALSE(core.reasons_stale());
  ASSERT_TRUE(core.upsert_node(node("n2", 1)));
  (void)core.step(kNow);
  EXPECT_TRUE(core.reasons_stale());
}

TEST(Core, ends_a_step_at_the_admission_limit_and_goes_on) {
  Core core;
  ASSERT_TRUE(core.upsert_node(node("n", 10)));
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(core.submit(gang("g" + std::to_string(i), 1)));
  }
  const StepResult first = core.step(kNow, 2);
  EXPECT_EQ(first.admitted.size(), 2U);
  EXPECT_TRUE(first.more);
  const StepResult rest = core.step(kNow);
  EXPECT_EQ(rest.admitted.size(), 3U);
  EXPECT_FALSE(rest.more);
}

TEST(Core, a_clone_goes_its_own_way) {
  Core core;
  ASSERT_TRUE(core.upsert_node(node("n", 4)));
  ASSERT_TRUE(core.submit(gang("a", 4)));
  Core copy = core.clone();
  EXPECT_EQ(copy.step(kNow).admitted.size(), 1U);
  EXPECT_EQ(core.waiting(), 1U);
  EXPECT_EQ(core.step(kNow).admitted.size(), 1U);
}

TEST(Core, gives_the_same_decisions_whatever_the_order_of_nodes) {
  Core forward;
  Core backward;
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(forward.upsert_node(node("n" + std::to_string(i), 8)));
  }
  for (int i = 49; i >= 0; --i) {
    ASSERT_TRUE(backward.upsert_node(node("n" + std::to_string(i), 8)));
  }
  for (int i = 0; i < 40; ++i) {
    const GangSpec spec = gang("g" + std::to_string(i), 1 + i % 5, 1 + i % 4);
    ASSERT_TRUE(forward.submit(spec));
    ASSERT_TRUE(backward.submit(spec));
  }
  const StepResult a = forward.step(kNow);
  const StepResult b = backward.step(kNow);
  ASSERT_EQ(a.admitted.size(), b.admitted.size());
  for (std::size_t i = 0; i < a.admitted.size(); ++i) {
    ASSERT_EQ(forward.name(a.admitted[i].gang), backward.name(b.admitted[i].gang));
    ASSERT_EQ(a.admitted[i].placement.size(), b.admitted[i].placement.size());
    for (std::size_t j = 0; j < a.admitted[i].placement.size(); ++j) {
      EXPECT_EQ(forward.node_name(a.admitted[i].placement[j].node),
                backward.node_name(b.admitted[i].placement[j].node));
    }
  }
}

TEST(Core, asks_and_advises_without_changing_anything) {
  Core core;
  ASSERT_TRUE(core.upsert_node(node("n", 4)));
  ASSERT_TRUE(core.submit(gang("a", 3)));
  (void)core.step(kNow);
  const auto b = core.submit(gang("b", 2));
  (void)core.step(kNow);
  const Resources before = core.free(*core.find_node("n"));
  const auto advice = core.advise(*b, kNow);
  ASSERT_TRUE(advice);
  EXPECT_TRUE(advice->possible);
  ASSERT_EQ(advice->would_start_if_ended.size(), 1U);
  EXPECT_EQ(advice->would_start_if_ended[0].name, "a");
  EXPECT_EQ(advice->to_free, (Resources{{"cpu", 3}}));
  ASSERT_TRUE(core.explain(*b, kNow));
  ASSERT_TRUE(core.estimate(*b, kNow));
  EXPECT_EQ(core.free(*core.find_node("n")), before);
  EXPECT_TRUE(core.check_invariants());
}

TEST(Core, starts_a_gang_where_it_is_told_with_pods_that_have_no_node_yet) {
  Core core;
  ASSERT_TRUE(core.upsert_node(node("n", 4)));
  (void)core.set_quota_tree("team", {{.name = "a", .limits = {{"cpu", 20}}}});
  GangSpec asked = gang("a", 2, 5);
  asked.quota = {{"team", "a"}};
  const auto id = core.submit(asked);
  ASSERT_TRUE(id);
  EXPECT_TRUE(core.step(kNow).admitted.empty());
  const NodeId at = *core.find_node("n");
  EXPECT_FALSE(core.start(*id, kNow, {{1, at, 1}}));
  ASSERT_TRUE(core.start(*id, kNow, {{0, at, 2}}));
  EXPECT_EQ(*core.state(*id), GangState::running);
  EXPECT_EQ(core.held(*id, 0).reserved, 2);
  EXPECT_EQ(core.held(*id, 0).unplaced, 3);
  EXPECT_EQ(core.quota_used("team", "a"), (Resources{{"cpu", 10}}));
  EXPECT_TRUE(core.check_invariants());
  EXPECT_FALSE(core.start(*id, kNow, {}));  // it runs
  // Its other pods come on a node that was not there.
  ASSERT_TRUE(core.upsert_node(node("new", 8)));
  for (const char* pod : {"p1", "p2", "p3"}) {
    EXPECT_TRUE(*core.pod_bound(*id, pod, 0, *core.find_node("new"), {{"cpu", 2}}));
  }
  EXPECT_EQ(core.held(*id, 0).unplaced, 0);
  EXPECT_TRUE(core.check_invariants());
  ASSERT_TRUE(core.requeue(*id, kNow));
  EXPECT_TRUE(core.check_invariants());
  EXPECT_EQ(core.step(kNow).admitted.size(), 1U);
  EXPECT_TRUE(core.check_invariants());
}

}  // namespace
}  // namespace codeflare::sched
