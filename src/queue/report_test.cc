#include "queue/report.h"

#include "json/write.h"
#include "queue/status_words.h"
#include "queue/testing/objects.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <tuple>

namespace codeflare::queue {
namespace {

using namespace testing;  // NOLINT
using Kind = Standing::Kind;

TEST(Report, mission_004_in_numbers) {
  Queue queue;
  queue.upsert_node(node("kind", resources("8", "8118372Ki")));
  queue.upsert_pod(pod("others", resources("3050m", "2918400Ki"), "kind"));
  const std::vector<Pods> ray{{1, resources("1", "2G", "0")}, {1, resources("2", "2G", "0")}};
  ASSERT_TRUE(queue.upsert(wrapper("raycluster-complete", ray), kNow));
  ASSERT_TRUE(queue.upsert(wrapper("raycluster-complete-1", ray, 5), kNow));
  (void)queue.step(kNow);
  EXPECT_EQ(queue.standing("uid-raycluster-complete").kind, Kind::started);
  const Standing second = queue.standing("uid-raycluster-complete-1");
  EXPECT_EQ(second.kind, Kind::waiting);
  EXPECT_EQ(word(second.reason), "InsufficientResources");
  EXPECT_EQ(queue.sentence("uid-raycluster-complete-1", kNow),
            "needs 3 CPUs, 1.95 of 8 free on 1 eligible node (1.05 short); needs 4G memory, 1.2Gi "
            "of 7.7Gi free on 1 eligible node (2.5Gi short)");
  queue.remove("uid-raycluster-complete");
  (void)queue.step(kNow);
  EXPECT_EQ(queue.standing("uid-raycluster-complete-1").kind, Kind::started);
}

Queue two_gpu_nodes() {
  Queue queue;
  queue.upsert_node(node("g1", resources("64", "64Gi", "8")));
  queue.upsert_node(node("g2", resources("64", "64Gi", "8")));
  return queue;
}

TEST(Report, a_pod_of_16_gpus_never_starts_on_two_nodes_of_8) {
  Queue queue = two_gpu_nodes();
  ASSERT_TRUE(queue.upsert(wrapper("big", {{1, resources("1", "", "16")}}), kNow));
  (void)queue.step(kNow);
  EXPECT_EQ(word(queue.standing("uid-big").reason), "Fragmented");
  EXPECT_EQ(queue.sentence("uid-big", kNow),
            "one pod needs 16 nvidia.com/gpu, the largest node has 8 for the queue; 0 of 1 pods "
            "fit on 2 eligible nodes");
  const auto report = explain(queue, "uid-big", kNow);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->never_fits);
  ASSERT_EQ(report->advice.size(), 1U);
  EXPECT_EQ(report->advice[0], "request less, or add nodes with 16 nvidia.com/gpu on one node");
  EXPECT_EQ(report->estimate_note, "does not fit on these nodes");
}

TEST(Report, a_pod_larger_than_every_node_leads_the_sentence_and_new_nodes_hold_all_pods) {
  Queue queue;
  queue.upsert_node(node("a", resources("8", "16Gi")));
  queue.upsert_node(node("b", resources("8", "16Gi")));
  ASSERT_TRUE(queue.upsert(wrapper("runs", {{2, resources("8", "1Gi")}}), kNow));
  ASSERT_TRUE(queue.upsert(wrapper("fat", {{1, resources("16", "1Gi")}}, 1), kNow));
  ASSERT_TRUE(queue.upsert(wrapper("many", {{40, resources("16", "64Gi")}}, 2), kNow));
  (void)queue.step(kNow);
  EXPECT_EQ(queue.sentence("uid-fat", kNow),
            "one pod needs 16 CPUs, the largest node has 8 for the queue; needs 16 CPUs, 0 of 16 "
            "free on 2 eligible nodes (16 short)");
  EXPECT_EQ(explain(queue, "uid-fat", kNow)->advice,
            std::vector<std::string>{"request less, or add nodes with 16 CPUs on one node"});
  EXPECT_TRUE(
      queue.sentence("uid-many", kNow)
          .starts_with("one pod needs 16 CPUs, the largest node has 8 for the queue; one pod "
                       "needs 64Gi memory, the largest node has 16Gi for the queue; needs "
                       "640 CPUs, "))
      << queue.sentence("uid-many", kNow);
  EXPECT_EQ(explain(queue, "uid-many", kNow)->advice,
            std::vector<std::string>{"request less, or add nodes with 16 CPUs, 64Gi memory on one "
                                     "node, and 640 CPUs, 2.5Ti memory in total"});
}

TEST(Report, new_nodes_must_hold_a_pod) {
  Queue queue;
  queue.upsert_node(node("n", resources("4")));
  ASSERT_TRUE(queue.upsert(wrapper("pair", {{2, resources("3")}}), kNow));
  (void)queue.step(kNow);
  EXPECT_EQ(explain(queue, "uid-pair", kNow)->advice,
            std::vector<std::string>{"request less, or add nodes with 3 CPUs more"});
  queue.upsert_node(node("m", resources("2")));
  ASSERT_TRUE(queue.upsert(wrapper("first", {{1, resources("2")}}, 1), kNow));
  (void)queue.step(kNow);
  EXPECT_EQ(explain(queue, "uid-pair", kNow)->advice,
            std::vector<std::string>{"request less, or add nodes with 3 CPUs on one node"});
}

TEST(Report, a_gang_that_fits_in_sum_but_not_in_placement_says_fragmented_and_who_is_in_the_way) {
  Queue queue = two_gpu_nodes();
  ASSERT_TRUE(queue.upsert(wrapper("a", {{1, resources("1", "", "5")}}), kNow));
  ASSERT_TRUE(queue.upsert(wrapper("b", {{1, resources("1", "", "5")}}, 1), kNow));
  ASSERT_TRUE(queue.upsert(wrapper("waits", {{1, resources("1", "", "4")}}, 2), kNow));
  (void)queue.step(kNow);
  EXPECT_EQ(word(queue.standing("uid-waits").reason), "Fragmented");
  const auto report = explain(queue, "uid-waits", kNow);
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->never_fits);
  EXPECT_EQ(report->position, 1);
  ASSERT_EQ(report->holders.size(), 2U);
  EXPECT_EQ(report->holders[0], "team-a/a holds 5 nvidia.com/gpu, 1 CPU");
  ASSERT_EQ(report->advice.size(), 1U);
  EXPECT_EQ(report->advice[0], "starts if this work ends: team-a/b (5 nvidia.com/gpu, 1 CPU)");
  EXPECT_FALSE(report->estimated_start);
}

TEST(Report, of_two_namesakes_the_holder_is_named_with_its_group) {
  Queue queue;
  queue.upsert_node(node("n", resources("4")));
  model::AppWrapper legacy = wrapper("train", {{1, resources("3")}});
  legacy.metadata.uid = "uid-legacy";
  ASSERT_TRUE(queue.upsert(legacy, kNow, model::WrapperApi::mcad_v1beta1));
  (void)queue.step(kNow);
  ASSERT_TRUE(queue.upsert(wrapper("train", {{1, resources("2")}}, 1), kNow));
  (void)queue.step(kNow);
  const auto report = explain(queue, "uid-train", kNow);
  ASSERT_TRUE(report && report->holders.size() == 1 && report->advice.size() == 1);
  EXPECT_EQ(report->position, 1);
  EXPECT_EQ(report->holders[0], "team-a/train of mcad.ibm.com holds 3 CPUs");
  EXPECT_EQ(report->advice[0], "starts if this work ends: team-a/train of mcad.ibm.com (3 CPUs)");
}

TEST(Report, counts_what_constraints_take_away) {
  Queue queue;
  auto tainted = node("t", resources("8"));
  tainted.spec.taints.push_back({.key = "dedicated", .value = "ml", .effect = "NoSchedule"});
  queue.upsert_node(tainted);
  queue.upsert_node(node("n", resources("2")));
  ASSERT_TRUE(queue.upsert(wrapper("a", {{1, resources("3")}}), kNow));
  (void)queue.step(kNow);
  const auto report = explain(queue, "uid-a", kNow);
  ASSERT_TRUE(report);
  ASSERT_EQ(report->constraints.size(), 1U);
  EXPECT_EQ(report->constraints[0], "taint dedicated=ml:NoSchedule excludes 1 of 2 nodes: t");
  EXPECT_FALSE(report->never_fits);
  EXPECT_EQ(report->advice,
            std::vector<std::string>{
                "fits with node t once running work ends; for taint dedicated=ml:NoSchedule add "
                "the toleration {key: dedicated, operator: Equal, value: ml, effect: NoSchedule} "
                "to the pods, or run 'kubectl taint nodes t dedicated:NoSchedule-'"});
  EXPECT_EQ(report->estimate_note, "starts after the taint is tolerated or removed");
}

TEST(Report, names_nodes_that_a_taint_keeps_away_from_work_that_would_fit_later) {
  Queue queue;
  for (const char* name : {"t1", "t2", "t3", "t4"}) {
    auto tainted = node(name, resources("4"));
    tainted.spec.taints.push_back({.key = "gpu", .value = "", .effect = "NoExecute"});
    queue.upsert_node(tainted);
  }
  queue.upsert_node(node("n", resources("4")));
  ASSERT_TRUE(queue.upsert(wrapper("runs", {{1, resources("4")}}), kNow));
  ASSERT_TRUE(queue.upsert(wrapper("waits", {{1, resources("4")}}, 1), kNow));
  (void)queue.step(kNow);
  const auto report = explain(queue, "uid-waits", kNow);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->constraints,
            std::vector<std::string>{
                "taint gpu:NoExecute excludes 4 of 5 nodes: t1, t2, t3 and 1 more; add the "
                "toleration {key: gpu, operator: Exists, effect: NoExecute} to the pods, or run "
                "'kubectl taint nodes NODE gpu:NoExecute-'"});
}

TEST(Report, a_taint_that_kubernetes_removes_by_itself_needs_no_command) {
  Queue queue;
  auto full = node("full", resources("4"));
  full.spec.taints.push_back(
      {.key = "node.kubernetes.io/disk-pressure", .value = "", .effect = "NoSchedule"});
  queue.upsert_node(full);
  ASSERT_TRUE(queue.upsert(wrapper("a", {{1, resources("1")}}), kNow));
  (void)queue.step(kNow);
  EXPECT_EQ(queue.sentence("uid-a", kNow),
            "0 of 1 nodes are eligible: taint node.kubernetes.io/disk-pressure:NoSchedule excludes "
            "1 (full); Kubernetes removes this taint when the condition of the node ends");
}

TEST(Report, names_the_cordoned_node_that_would_let_it_fit) {
  Queue queue;
  auto drained = node("drained", resources("8"));
  drained.spec.unschedulable = true;
  queue.upsert_node(drained);
  queue.upsert_node(node("n", resources("8")));
  ASSERT_TRUE(queue.upsert(wrapper("pair", {{2, resources("8")}}), kNow));
  ASSERT_TRUE(queue.upsert(wrapper("three", {{3, resources("8")}}, 1), kNow));
  (void)queue.step(kNow);
  const auto pair = explain(queue, "uid-pair", kNow);
  EXPECT_FALSE(pair->never_fits);
  EXPECT_EQ(pair->advice,
            std::vector<std::string>{"fits with cordoned node drained once running work ends; run "
                                     "'kubectl uncordon drained'"});
  EXPECT_EQ(pair->estimate_note, "starts after nodes are uncordoned");
  const auto three = explain(queue, "uid-three", kNow);
  EXPECT_TRUE(three->never_fits);
  EXPECT_FALSE(three->advice[0].contains("uncordon")) << three->advice[0];
  drained.metadata.name = "n";
  queue.upsert_node(drained);
  (void)queue.step(kNow);
  EXPECT_EQ(explain(queue, "uid-pair", kNow)->advice,
            std::vector<std::string>{"fits with cordoned nodes drained, n once running work ends; "
                                     "run 'kubectl uncordon drained n'"});
}

TEST(Report, estimates_the_start_when_durations_are_known) {
  Queue queue;
  queue.upsert_node(node("n", resources("4")));
  auto runs = wrapper("runs", {{1, resources("3")}});
  runs.spec.scheduling_spec.emplace();
  runs.spec.scheduling_spec->dispatch_duration.emplace();
  runs.spec.scheduling_spec->dispatch_duration->expected = 600;
  ASSERT_TRUE(queue.upsert(runs, kNow));
  ASSERT_TRUE(queue.upsert(wrapper("waits", {{1, resources("3")}}, 1), kNow));
  (void)queue.step(kNow);
  const auto report = explain(queue, "uid-waits", kNow);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->estimated_start, kNow + std::chrono::seconds(600));
  EXPECT_EQ(report->estimate_note, "if running work ends as expected");
}

TEST(Report, advises_by_reason) {
  Queue queue;
  queue.upsert_node(node("n", resources("4")));
  auto tree = quota_subtree("q", "t", "");
  tree.spec.children.push_back(quota_child("default", resources("2"), true));
  queue.upsert_quota(tree);
  auto held = wrapper("held", {{1, resources("1")}});
  held.spec.suspend = true;
  auto astray = wrapper("astray", {{1, resources("1")}});
  astray.metadata.labels["t"] = "nowhere";
  ASSERT_TRUE(queue.upsert(held, kNow));
  ASSERT_TRUE(queue.upsert(astray, kNow));
  ASSERT_TRUE(queue.upsert(wrapper("runs", {{1, resources("2")}}), kNow));
  ASSERT_TRUE(queue.upsert(wrapper("waits", {{1, resources("1")}}, 1), kNow));
  (void)queue.step(kNow);
  EXPECT_EQ(explain(queue, "uid-held", kNow)->advice[0],
            "run 'codeflare release appwrapper held', or set spec.suspend to false");
  EXPECT_TRUE(explain(queue, "uid-held", kNow)->holders.empty());
  EXPECT_EQ(explain(queue, "uid-astray", kNow)->advice[0],
            "set the label to an existing quota node: t=default (no room now)");
  const auto waits = explain(queue, "uid-waits", kNow);
  ASSERT_TRUE(waits && waits->advice.size() == 2);
  EXPECT_EQ(waits->advice[0], "starts if this work ends: team-a/runs (2 CPUs)");
  EXPECT_EQ(waits->advice[1], "or raise the cpu limit of quota node default (tree t) to 3");
  EXPECT_EQ(waits->holders[0], "team-a/runs holds 2 CPUs");
  queue.set_paused(true);
  ASSERT_TRUE(queue.upsert(wrapper("paused", {{1, resources("1m")}}), kNow));
  queue.remove("uid-runs");
  (void)queue.step(kNow);
  EXPECT_EQ(explain(queue, "uid-paused", kNow)->advice[0], "run 'codeflare queue resume'");
  EXPECT_EQ(explain(queue, "uid-paused", kNow)->estimate_note, "the queue is paused");
  EXPECT_FALSE(explain(queue, "nobody", kNow));
}

TEST(Report, every_quota_node_without_room_is_named_with_its_numbers) {
  Queue queue;
  queue.upsert_node(node("n", resources("100")));
  auto company = quota_subtree("q", "t", "");
  company.spec.children.push_back(quota_child("company", resources("5"), true));
  queue.upsert_quota(company);
  auto teams = quota_subtree("p", "t", "company");
  teams.spec.children.push_back(quota_child("default", resources("4"), true));
  queue.upsert_quota(teams);
  ASSERT_TRUE(queue.upsert(wrapper("first", {{1, resources("3")}}), kNow));
  ASSERT_TRUE(queue.upsert(wrapper("second", {{1, resources("3")}}, 1), kNow));
  (void)queue.step(kNow);
  const auto report = explain(queue, "uid-second", kNow);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->sentence,
            "needs 3 CPUs of quota node default (tree t), 3 of 4 used (2 short); needs 3 CPUs of "
            "quota node company (tree t), 3 of 5 used (1 short)");
  EXPECT_EQ(report->advice.back(),
            "or raise the cpu limit of quota node default (tree t) to 6, and the cpu limit of "
            "quota node company (tree t) to 6");
}

TEST(Report, holders_are_those_of_every_quota_node_without_room) {
  Queue queue;
  queue.upsert_node(node("n", resources("100", "100Gi")));
  auto company = quota_subtree("q", "t", "");
  company.spec.children.push_back(quota_child("company", resources("8", "10Gi"), true));
  queue.upsert_quota(company);
  auto teams = quota_subtree("p", "t", "company");
  teams.spec.children.push_back(quota_child("default", resources("4"), true));
  teams.spec.children.push_back(quota_child("others", resources("5"), true));
  queue.upsert_quota(teams);
  const auto of_others = [](const std::string& name, const model::ResourceList& asked) {
    model::AppWrapper made = wrapper(name, {{1, asked}});
    made.metadata.labels["t"] = "others";
    return made;
  };
  ASSERT_TRUE(queue.upsert(wrapper("first", {{1, resources("3", "1Gi")}}), kNow));
  ASSERT_TRUE(queue.upsert(of_others("large", resources("1", "8Gi")), kNow));
  ASSERT_TRUE(queue.upsert(of_others("idle", resources("1")), kNow));
  ASSERT_TRUE(queue.upsert(wrapper("second", {{1, resources("3", "2Gi")}}, 1), kNow));
  (void)queue.step(kNow);
  const auto report = explain(queue, "uid-second", kNow);
  ASSERT_TRUE(report);
  // Its team is short of two cpus, of which `first` has three, and the company of a gigabyte, of
  // which `large` has eight. Cpus of the company do not matter.
  EXPECT_EQ(report->holders, (std::vector<std::string>{"team-a/large holds 8Gi memory",
                                                       "team-a/first holds 3 CPUs, 1Gi memory"}));
}

TEST(Report, who_asks_for_more_than_the_quota_waits_for_no_end) {
  Queue queue;
  queue.upsert_node(node("n", resources("100")));
  auto tree = quota_subtree("q", "t", "");
  tree.spec.children.push_back(quota_child("default", resources("4"), true));
  queue.upsert_quota(tree);
  ASSERT_TRUE(queue.upsert(wrapper("first", {{1, resources("3")}}), kNow));
  ASSERT_TRUE(queue.upsert(wrapper("second", {{1, resources("9")}}, 1), kNow));
  (void)queue.step(kNow);
  const auto report = explain(queue, "uid-second", kNow);
  ASSERT_TRUE(report && report->advice.size() == 1);
  EXPECT_EQ(
      report->advice[0],
      "needs more than the whole quota; raise the cpu limit of quota node default (tree t) to 12");
  EXPECT_EQ(report->estimate_note, "does not fit within this quota");
}

TEST(Report, who_waits_for_quota_is_told_what_nodes_lack_too) {
  Queue queue;
  queue.upsert_node(node("n", resources("4")));
  auto tree = quota_subtree("q", "t", "");
  tree.spec.children.push_back(quota_child("default", resources("5"), true));
  queue.upsert_quota(tree);
  ASSERT_TRUE(queue.upsert(wrapper("first", {{1, resources("3")}}), kNow));
  ASSERT_TRUE(queue.upsert(wrapper("second", {{1, resources("3")}}, 1), kNow));
  ASSERT_TRUE(queue.upsert(wrapper("large", {{1, resources("5")}}, 2), kNow));
  (void)queue.step(kNow);
  EXPECT_EQ(explain(queue, "uid-second", kNow)->advice.back(),
            "or raise the cpu limit of quota node default (tree t) to 6; the nodes must have room "
            "as well");
  EXPECT_EQ(explain(queue, "uid-large", kNow)->advice.back(),
            "or raise the cpu limit of quota node default (tree t) to 8, and add nodes with 5 CPUs "
            "on one node");
}

TEST(Report, who_names_a_quota_node_that_is_not_there_is_told_which_are_and_nobody_holds_it) {
  Queue queue;
  queue.upsert_node(node("n", resources("4")));
  model::QuotaSubtree tree = quota_subtree("q", "team", "");
  for (int i = 0; i < 12; ++i) {
    tree.spec.children.push_back(quota_child("node-" + std::to_string(i), resources("4")));
  }
  tree.spec.children.push_back(quota_child("silver", resources("4")));
  model::QuotaChild others = quota_child("sliver", resources("4"));
  others.ns = "team-b";
  tree.spec.children.push_back(others);
  queue.upsert_quota(tree);
  model::AppWrapper runs = wrapper("runs", {{1, resources("4")}});
  runs.metadata.labels["team"] = "silver";
  model::AppWrapper lost = wrapper("lost", {{1, resources("4")}}, 1);
  lost.metadata.labels["team"] = "sliver2";
  ASSERT_TRUE(queue.upsert(runs, kNow));
  ASSERT_TRUE(queue.upsert(lost, kNow));
  (void)queue.step(kNow);
  const Result<Report> report = explain(queue, "uid-lost", kNow);
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(word(report->standing.reason), "UnknownQuota");
  EXPECT_TRUE(report->holders.empty()) << report->holders.front();
  ASSERT_EQ(report->advice.size(), 1U);
  EXPECT_TRUE(report->advice[0].starts_with(
      "set the label to an existing quota node: team=silver (no room now), node-"))
      << report->advice[0];
  EXPECT_TRUE(report->advice[0].ends_with(" and 3 more")) << report->advice[0];
}

TEST(Report, is_json_too) {
  Queue queue;
  queue.upsert_node(node("n", resources("4")));
  ASSERT_TRUE(queue.upsert(wrapper("runs", {{1, resources("3")}}), kNow));
  ASSERT_TRUE(queue.upsert(wrapper("waits", {{1, resources("3")}}, 1), kNow));
  (void)queue.step(kNow);
  json::Arena arena;
  const json::Value waits = to_json(arena, *explain(queue, "uid-waits", kNow));
  EXPECT_EQ(waits.string_or_empty("standing"), "Waiting");
  EXPECT_EQ(waits.string_or_empty("reason"), "InsufficientResources");
  EXPECT_EQ(waits.find("position")->to_int64(), 1);
  EXPECT_EQ(waits.find("resources")->items()[0].string_or_empty("free"), "1");
  EXPECT_TRUE(waits.find("resources")->items()[0].find("short")->as_bool());
  const json::Value runs = to_json(arena, *explain(queue, "uid-runs", kNow));
  EXPECT_EQ(runs.string_or_empty("standing"), "Started");
  EXPECT_EQ(runs.find("plan")->items()[0].string_or_empty("node"), "n");
  EXPECT_EQ(runs.string_or_empty("startedAt"), to_rfc3339(kNow));
}

// As clients of the view API read it.
TEST(Report, is_read_back_from_its_json) {
  Queue queue;
  for (const auto& [name, zone] : {std::pair("n1", "a"), std::pair("n2", "b")}) {
    model::Node each = node(name, resources("4", "4Gi"));
    each.metadata.labels.emplace("topology.kubernetes.io/zone", zone);
    queue.upsert_node(each);
  }
  queue.upsert_pod(pod("other", resources("1"), "n1"));
  ASSERT_TRUE(queue.upsert(wrapper("runs", {{1, resources("3")}}), kNow));
  model::AppWrapper waits = wrapper("waits", {{2, resources("3")}}, 1);
  waits.metadata.annotations.emplace("workload.codeflare.dev/within",
                                     "topology.kubernetes.io/zone");
  ASSERT_TRUE(queue.upsert(waits, kNow));
  (void)queue.step(kNow);
  EXPECT_EQ(explain(queue, "uid-waits", kNow)->outside, "pods outside the queue hold 1 CPU");
  for (const char* uid : {"uid-waits", "uid-runs"}) {
    json::Arena arena;
    const json::Value written = to_json(arena, *explain(queue, uid, kNow));
    const Result<Report> read = report_from_json(written);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(json::equal(to_json(arena, *read), written))
        << json::to_text(written) << "\n"
        << json::to_text(to_json(arena, *read));
  }
}

TEST(Report, of_another_document_is_an_error) {
  EXPECT_FALSE(report_from_json(json::Value::object()));
  EXPECT_FALSE(report_from_json(json::Value::array()));
}

TEST(Report, names_who_holds_each_cluster_and_the_first_that_will_have_room) {
  Queue queue;
  for (const char* name : {"n", "east/n", "west/n"}) {
    queue.upsert_node(node(name, resources("4")));
  }
  queue.set_clusters({{.name = "local", .closed = "is not used (--no-local)"},
                      {.name = "east"},
                      {.name = "west"}});
  for (const auto& [name, place, expected] :
       {std::tuple("long", "east/n", 600), std::tuple("short", "west/n", 300)}) {
    model::AppWrapper runs = wrapper(name, {{1, resources("3")}});
    runs.spec.scheduling_spec.emplace();
    runs.spec.scheduling_spec->dispatch_duration.emplace();
    runs.spec.scheduling_spec->dispatch_duration->expected = expected;
    runs.status.can_run = true;
    runs.status.state = "Running";
    runs.status.plan.emplace();
    runs.status.plan->places.push_back({.pod_set = 0, .node = place, .count = 1});
    runs.status.plan->started = model::MicroTime{kNow};
    ASSERT_TRUE(queue.upsert(runs, kNow));
  }
  ASSERT_TRUE(queue.upsert(wrapper("job", {{2, resources("2")}}), kNow));
  (void)queue.step(kNow);
  const auto report = explain(queue, "uid-job", kNow);
  ASSERT_TRUE(report);
  ASSERT_EQ(report->domains.size(), 2U);
  EXPECT_EQ(report->domains[0].name, "east");
  EXPECT_EQ(report->domains[0].text, "needs 4 CPUs, 1 of 4 free on 1 eligible node (3 short)");
  EXPECT_EQ(report->domains[0].held_by,
            "team-a/long until " + to_rfc3339(kNow + std::chrono::seconds(600)));
  EXPECT_EQ(report->domains[1].name, "west");
  EXPECT_EQ(report->domains[1].held_by,
            "team-a/short until " + to_rfc3339(kNow + std::chrono::seconds(300)));
  EXPECT_EQ(report->estimated_start, kNow + std::chrono::seconds(300));
  EXPECT_EQ(report->estimated_in, "west");
  json::Arena arena;
  const auto read = report_from_json(to_json(arena, *report));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->estimated_in, "west");
  EXPECT_EQ(read->domains[1].held_by, report->domains[1].held_by);
}

TEST(Report, a_gang_within_a_zone_tells_of_every_zone_the_nearest_first) {
  Queue queue;
  for (const auto& [name, cpus, zone] :
       {std::tuple("n1", "4", "a"), std::tuple("n2", "4", "a"), std::tuple("n3", "2", "b")}) {
    model::Node each = node(name, resources(cpus));
    each.metadata.labels.emplace("topology.kubernetes.io/zone", zone);
    queue.upsert_node(each);
  }
  queue.upsert_pod(pod("others", resources("3"), "n1"));
  model::AppWrapper job = wrapper("job", {{3, resources("2")}});
  job.metadata.annotations.emplace(kWithinAnnotation, "topology.kubernetes.io/zone");
  ASSERT_TRUE(queue.upsert(job, kNow));
  (void)queue.step(kNow);
  EXPECT_EQ(word(queue.standing("uid-job").reason), "InsufficientResources");
  EXPECT_EQ(queue.sentence("uid-job", kNow),
            "needs 6 CPUs, 5 of 8 free on 2 eligible nodes (1 short) within "
            "topology.kubernetes.io/zone=a, the nearest of 2");
  const auto report = explain(queue, "uid-job", kNow);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->within, "topology.kubernetes.io/zone");
  ASSERT_EQ(report->domains.size(), 2U);
  EXPECT_EQ(report->domains[0].name, "a");
  EXPECT_EQ(report->domains[0].fitting, 2);
  EXPECT_EQ(report->domains[1].name, "b");
  EXPECT_EQ(report->domains[1].fitting, 1);
  EXPECT_EQ(report->domains[1].text,
            "needs 6 CPUs, 2 of 2 free on 1 eligible node (4 short, 4 short even when empty)");
  queue.remove_pod({"team-a", "others"}, "uid-others");
  (void)queue.step(kNow);
  const Standing started = queue.standing("uid-job");
  ASSERT_EQ(started.kind, Kind::started);
  for (const model::PlannedPlace& place : started.plan) {
    EXPECT_NE(place.node, "n3");
  }
}

}  // namespace
}  // namespace codeflare::queue
