#include "sched/core.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

// Quota scopes, pausing and places that are lost, found and given up.
namespace codeflare::sched {
namespace {

constexpr Time kNow = Time(std::chrono::seconds(1'700'000'000));

NodeId node(Core& core, const std::string& name, Amount cpu) {
  return *core.upsert_node({.name = name, .allocatable = {{"cpu", cpu}}});
}

GangSpec gang(const std::string& name, Amount cpu, std::int64_t pods = 1) {
  GangSpec spec{.name = name, .ns = "team-a", .submitted = kNow};
  spec.pod_sets.push_back({.count = pods, .requests = {{"cpu", cpu}}});
  return spec;
}

QuotaNode quota(const std::string& name, Amount cpu) {
  return {.name = name, .limits = {{"cpu", cpu}}};
}

TEST(CoreQuota, a_tree_of_a_namespace_concerns_its_gangs_only) {
  Core core;
  node(core, "n", 10);
  EXPECT_TRUE(core.set_quota_tree("of b", {quota("default", 1)}, "team-b").empty());
  const auto ours = core.submit(gang("ours", 2));
  GangSpec theirs = gang("theirs", 2);
  theirs.ns = "team-b";
  const auto refused = core.submit(theirs);
  EXPECT_EQ(core.step(kNow).admitted.size(), 1U);
  EXPECT_EQ(*core.state(*ours), GangState::running);
  EXPECT_EQ(*core.why(*refused), Reason::insufficient_quota);
  EXPECT_TRUE(core.check_invariants());
}

TEST(CoreQuota, what_others_use_of_a_node_counts_and_wakes_when_it_falls) {
  Core core;
  node(core, "n", 10);
  (void)core.set_quota_tree("t", {quota("default", 4)});
  ASSERT_TRUE(core.set_quota_foreign("t", "default", {{"cpu", 3}}));
  const auto waits = core.submit(gang("g", 2));
  EXPECT_TRUE(core.step(kNow).admitted.empty());
  EXPECT_EQ(*core.why(*waits), Reason::insufficient_quota);
  EXPECT_TRUE(core.check_invariants());
  // It survives another tree being set.
  (void)core.set_quota_tree("u", {quota("default", 100)});
  EXPECT_TRUE(core.step(kNow).admitted.empty());
  ASSERT_TRUE(core.set_quota_foreign("t", "default", {{"cpu", 2}}));
  EXPECT_EQ(core.step(kNow).admitted.size(), 1U);
  EXPECT_EQ(core.quota_used("t", "default"), (Resources{{"cpu", 4}}));
  EXPECT_TRUE(core.check_invariants());
  EXPECT_FALSE(core.set_quota_foreign("t", "nobody", {}));
}

TEST(CoreQuota, loose_gangs_charge_nothing_and_start_while_paused) {
  Core core;
  node(core, "n", 10);
  (void)core.set_quota_tree("t", {quota("default", 0)});
  core.set_paused(true);
  GangSpec loose = gang("loose", 2);
  loose.loose = true;
  const auto free = core.submit(loose);
  EXPECT_EQ(core.step(kNow).admitted.size(), 1U);
  EXPECT_EQ(*core.state(*free), GangState::running);
  EXPECT_EQ(core.quota_used("t", "default"), (Resources{{"cpu", 0}}));
  EXPECT_TRUE(core.check_invariants());
}

TEST(CorePause, nothing_starts_until_it_ends) {
  Core core;
  node(core, "n", 10);
  core.set_paused(true);
  const auto waits = core.submit(gang("g", 2));
  const StepResult paused = core.step(kNow);
  EXPECT_TRUE(paused.admitted.empty());
  ASSERT_EQ(paused.refused.size(), 1U);
  EXPECT_EQ(paused.refused[0].why, Reason::paused);
  EXPECT_EQ(*core.why(*waits), Reason::paused);
  core.set_paused(false);
  EXPECT_EQ(core.step(kNow).admitted.size(), 1U);
}

TEST(CorePause, its_end_tells_everybody_in_line_what_they_wait_for_now) {
  Core core;
  node(core, "n", 10);
  (void)core.set_quota_tree("t", {quota("default", 2)});
  core.set_paused(true);
  for (const char* name : {"a", "b", "c"}) {
    ASSERT_TRUE(core.submit(gang(name, 2)));
  }
  EXPECT_EQ(core.step(kNow).refused.size(), 3U);
  core.set_paused(false);
  const StepResult resumed = core.step(kNow);
  EXPECT_EQ(resumed.admitted.size(), 1U);
  ASSERT_EQ(resumed.refused.size(), 2U);
  EXPECT_EQ(resumed.refused[0].why, Reason::insufficient_quota);
  EXPECT_EQ(resumed.refused[1].why, Reason::insufficient_quota);
  EXPECT_TRUE(core.step(kNow).refused.empty());
}

TEST(CorePause, a_nominated_gang_waits_for_the_end_of_the_pause_too) {
  Core core(Options{.preemption = true});
  node(core, "n", 4);
  const auto weak = core.submit(gang("weak", 4));
  (void)core.step(kNow);
  GangSpec strong = gang("strong", 4);
  strong.priority = 10;
  const auto id = core.submit(strong);
  EXPECT_EQ(core.step(kNow).evicted.size(), 1U);
  core.set_paused(true);
  ASSERT_TRUE(core.requeue(*weak, kNow));
  EXPECT_TRUE(core.step(kNow).admitted.empty());
  EXPECT_EQ(*core.state(*id), GangState::nominated);
  core.set_paused(false);
  EXPECT_EQ(core.step(kNow).admitted.size(), 1U);
  EXPECT_EQ(*core.state(*id), GangState::running);
  EXPECT_TRUE(core.check_invariants());
}

TEST(CoreQuota, other_designations_move_a_gang_in_line_and_a_running_charge) {
  Core core;
  node(core, "n", 10);
  (void)core.set_quota_tree("t", {quota("default", 0), quota("gold", 4)});
  const auto id = core.submit(gang("g", 2));
  EXPECT_TRUE(core.step(kNow).admitted.empty());
  ASSERT_TRUE(core.set_quota(*id, {{"t", "gold"}}));
  EXPECT_EQ(core.step(kNow).admitted.size(), 1U);
  EXPECT_EQ(core.quota_used("t", "gold"), (Resources{{"cpu", 2}}));
  ASSERT_TRUE(core.set_quota(*id, {}));
  EXPECT_EQ(core.quota_used("t", "gold"), (Resources{{"cpu", 0}}));
  EXPECT_EQ(core.quota_used("t", "default"), (Resources{{"cpu", 2}}));
  EXPECT_TRUE(core.check_invariants());
}

TEST(CoreQuota, running_work_never_charges_a_node_of_another_namespace_nor_nobody) {
  Core core;
  node(core, "n", 10);
  (void)core.set_quota_tree(
      "t", {quota("default", 4), {.name = "of-b", .limits = {{"cpu", 4}}, .ns = "b"}});
  GangSpec spec = gang("g", 2);
  spec.ns = "a";
  const auto id = core.submit(spec);
  ASSERT_EQ(core.step(kNow).admitted.size(), 1U);
  const auto used = [&](const char* at) {
    const Resources all = core.quota_used("t", at);
    return all.empty() ? 0 : all.front().amount;
  };
  for (const char* label : {"of-b", "nowhere"}) {
    ASSERT_TRUE(core.set_quota(*id, {{"t", label}}));
    EXPECT_EQ(used("of-b"), 0) << label;
    EXPECT_EQ(used("default"), 2) << label;
    EXPECT_TRUE(core.check_invariants());
  }
}

TEST(CorePods, a_pod_charges_quota_other_than_what_it_takes_on_its_node) {
  Core core;
  const NodeId n = node(core, "n", 10);
  (void)core.set_quota_tree("t", {{.name = "default", .limits = {{"limits.cpu", 8}}}});
  GangSpec spec = gang("g", 2);
  spec.pod_sets[0].charge = Resources{{"cpu", 2}, {"limits.cpu", 4}};
  const auto id = core.submit(spec);
  ASSERT_EQ(core.step(kNow).admitted.size(), 1U);
  EXPECT_EQ(core.quota_used("t", "default")[0], (Resource{"limits.cpu", 4}));
  ASSERT_TRUE(core.pod_bound(*id, "p", 0, n, {{"cpu", 2}}, Resources{{"limits.cpu", 6}}));
  EXPECT_EQ(core.quota_used("t", "default")[0], (Resource{"limits.cpu", 6}));
  EXPECT_EQ(core.free(n), (Resources{{"cpu", 8}}));
  ASSERT_TRUE(core.pod_ended(*id, "p", false));
  EXPECT_EQ(core.quota_used("t", "default")[0], (Resource{"limits.cpu", 0}));
  EXPECT_TRUE(core.check_invariants());
}

TEST(CorePlaces, lost_ones_are_found_again_all_or_none) {
  Core core;
  node(core, "a", 4);
  const auto id = core.submit(gang("g", 2, 2));
  ASSERT_EQ(core.step(kNow).admitted.size(), 1U);
  core.remove_node(*core.find_node("a"));
  EXPECT_EQ(core.held(*id, 0).unplaced, 2);
  node(core, "b", 2);
  EXPECT_FALSE(*core.find_places(*id, {2}));
  EXPECT_EQ(core.held(*id, 0).unplaced, 2);
  const NodeId c = node(core, "c", 2);
  EXPECT_TRUE(*core.find_places(*id, {2}));
  EXPECT_EQ(core.held(*id, 0).reserved, 2);
  EXPECT_EQ(core.free(c), (Resources{{"cpu", 0}}));
  EXPECT_TRUE(core.check_invariants());
}

TEST(CorePlaces, of_pods_that_keep_apart_are_found_again_on_other_nodes) {
  Core core;
  for (const char* name : {"a", "b", "c"}) {
    node(core, name, 8);
  }
  GangSpec spec = gang("g", 2, 3);
  spec.pod_sets[0].apart = 1;
  const auto id = core.submit(spec);
  ASSERT_EQ(core.step(kNow).admitted.size(), 1U);
  ASSERT_TRUE(core.pod_bound(*id, "p", 0, *core.find_node("b"), {{"cpu", 2}}));
  core.remove_node(*core.find_node("a"));
  // There is room beside its other pods, reserved or bound, but not for this one.
  EXPECT_FALSE(*core.find_places(*id, {1}));
  const NodeId d = node(core, "d", 8);
  EXPECT_TRUE(*core.find_places(*id, {1}));
  EXPECT_EQ(core.free(d), (Resources{{"cpu", 6}}));
  EXPECT_TRUE(core.check_invariants());
}

TEST(CorePlaces, are_given_back_on_a_node_that_returns_even_when_it_shrank) {
  Core core;
  node(core, "a", 4);
  const auto id = core.submit(gang("g", 2, 2));
  ASSERT_EQ(core.step(kNow).admitted.size(), 1U);
  core.remove_node(*core.find_node("a"));
  const NodeId back = node(core, "a", 3);
  ASSERT_TRUE(core.give_places(*id, {{0, back, 5}}));
  EXPECT_EQ(core.held(*id, 0).reserved, 2);
  EXPECT_EQ(core.held(*id, 0).unplaced, 0);
  EXPECT_EQ(core.free(back), (Resources{{"cpu", -1}}));
  EXPECT_TRUE(core.check_invariants());
}

TEST(CorePlaces, move_off_a_node_only_where_they_fit) {
  Core core;
  const NodeId a = node(core, "a", 4);
  const auto id = core.submit(gang("g", 2, 2));
  ASSERT_EQ(core.step(kNow).admitted.size(), 1U);
  const NodeId b = node(core, "b", 3);
  ASSERT_TRUE(core.upsert_node({.name = "a", .allocatable = {{"cpu", 4}}, .unschedulable = true}));
  EXPECT_TRUE(*core.move_place(*id, 0, a));
  EXPECT_FALSE(*core.move_place(*id, 0, a));
  EXPECT_EQ(core.free(a), (Resources{{"cpu", 2}}));
  EXPECT_EQ(core.free(b), (Resources{{"cpu", 1}}));
  EXPECT_EQ(core.held(*id, 0).unplaced, 0);
  EXPECT_EQ(core.held(*id, 0).reserved, 2);
  EXPECT_TRUE(core.check_invariants());
}

TEST(CorePlaces, of_pods_that_will_not_come_are_given_up) {
  Core core;
  const NodeId a = node(core, "a", 4);
  (void)core.set_quota_tree("t", {quota("default", 4)});
  const auto id = core.submit(gang("g", 2, 2));
  ASSERT_EQ(core.step(kNow).admitted.size(), 1U);
  EXPECT_TRUE(*core.drop_place(*id, 0));
  EXPECT_EQ(core.free(a), (Resources{{"cpu", 2}}));
  EXPECT_EQ(core.quota_used("t", "default"), (Resources{{"cpu", 2}}));
  EXPECT_TRUE(*core.drop_place(*id, 0));
  EXPECT_FALSE(*core.drop_place(*id, 0));
  EXPECT_TRUE(core.check_invariants());
}

TEST(CoreExplain, knows_what_the_largest_node_could_ever_have_free) {
  Core core;
  node(core, "a", 8);
  node(core, "b", 4);
  ASSERT_TRUE(core.set_foreign(*core.find_node("a"), {{"cpu", 1}}));
  (void)core.submit(gang("running", 5));
  (void)core.step(kNow);
  const auto id = core.submit(gang("waits", 16));
  (void)core.step(kNow);
  const auto brief = core.explain(*id, kNow, Detail::brief);
  ASSERT_TRUE(brief && brief->shortages.size() == 1);
  EXPECT_EQ(brief->shortages[0].largest_node, 7);
  EXPECT_EQ(brief->shortages[0].best_node, 4);
  EXPECT_EQ(brief->position, 0);
  EXPECT_EQ(core.explain(*id, kNow)->position, 1);
}

TEST(CoreExplain, names_the_largest_holders_of_what_is_short) {
  Core core;
  const NodeId a = node(core, "a", 8);
  (void)core.submit(gang("small", 1));
  (void)core.submit(gang("large", 5));
  (void)core.step(kNow);
  EXPECT_EQ(core.residents(a).size(), 2U);
  const auto id = core.submit(gang("waits", 4));
  (void)core.step(kNow);
  const auto holders = core.holders(*id, kNow, 10);
  ASSERT_TRUE(holders && holders->size() == 2);
  EXPECT_EQ((*holders)[0].name, "large");
  EXPECT_EQ((*holders)[0].held, (Resources{{"cpu", 5}}));
  EXPECT_EQ(core.holders(*id, kNow, 1)->size(), 1U);
}

// Host names are too many values for classes of nodes: they are looked at one by one.
TEST(CorePlaces, a_gang_within_one_of_many_hosts_gets_one_node_and_keeps_it) {
  Core core;
  for (int i = 0; i < 300; ++i) {
    const std::string name = "n" + std::to_string(i);
    ASSERT_TRUE(core.upsert_node({.name = name,
                                  .labels = {{"host", name}},
                                  .allocatable = {{"cpu", i == 250 ? 8000 : 4000}}}));
  }
  const GangSpec spec{.name = "a",
                      .pod_sets = {{.count = 2, .requests = {{"cpu", 2000}}},
                                   {.count = 1, .requests = {{"cpu", 3000}}}},
                      .within = {.keys = {"host"}}};
  const auto gang = core.submit(spec);
  ASSERT_TRUE(gang);
  const StepResult result = core.step({});
  ASSERT_EQ(result.admitted.size(), 1U);
  for (const Slot& slot : result.admitted[0].placement) {
    EXPECT_EQ(core.node_name(slot.node), "n250");
  }
  GangSpec second = spec;
  second.name = "b";
  const auto waits = core.submit(second);
  ASSERT_TRUE(waits);
  EXPECT_TRUE(core.step({}).admitted.empty());
  EXPECT_EQ(*core.why(*waits), Reason::fragmented);
  ASSERT_TRUE(core.upsert_node(
      {.name = "big", .labels = {{"host", "big"}}, .allocatable = {{"cpu", 7000}}}));
  EXPECT_EQ(core.step({}).admitted.size(), 1U);
  ASSERT_TRUE(core.check_invariants());
}

TEST(CorePlaces, lost_places_are_found_again_in_the_same_zone_alone) {
  Core core;
  const auto node = [&](const std::string& name, const std::string& zone) {
    return *core.upsert_node(
        {.name = name, .labels = {{"zone", zone}}, .allocatable = {{"cpu", 4000}}});
  };
  node("a1", "a");
  const NodeId lost = node("a2", "a");
  const auto gang = core.submit({.name = "a",
                                 .pod_sets = {{.count = 2, .requests = {{"cpu", 4000}}}},
                                 .within = {.keys = {"zone"}}});
  ASSERT_TRUE(gang);
  ASSERT_EQ(core.step({}).admitted.size(), 1U);
  node("b1", "b");
  core.remove_node(lost);
  EXPECT_FALSE(*core.find_places(*gang, {1}));
  node("a3", "a");
  EXPECT_TRUE(*core.find_places(*gang, {1}));
}

}  // namespace
}  // namespace codeflare::sched
