#include "cli/simulate/cluster.h"

#include <gtest/gtest.h>

namespace codeflare::cli::simulate {
namespace {

TEST(Cluster, equal_nodes_have_what_was_said_and_nothing_else) {
  const Result<Cluster> cluster = make_cluster({.count = 3, .cpus = "1500m", .gpus = "8"});
  ASSERT_TRUE(cluster.has_value()) << cluster.error().message;
  EXPECT_EQ(cluster->nodes.size(), 3u);
  EXPECT_EQ(capacity_of(*cluster),
            (std::map<std::string, sched::Amount>{{"cpu", 4500}, {kGpuResource, 24}}));
  EXPECT_EQ(make_cluster({.count = 3}).error().message,
            "give --cpus, --gpus or --memory of a node; without them nothing is limited");
  EXPECT_EQ(make_cluster({.count = 1, .cpus = "many"}).error().message,
            "--cpus: expected an amount such as 4, 500m or 16Gi, got \"many\"");
}

TEST(Cluster, absurd_amounts_are_refused_by_the_name_of_their_flag_or_node) {
  for (const char* text : {"-1", "nan", " ", "4x"}) {
    EXPECT_EQ(
        make_cluster({.count = 1, .cpus = "1", .memory = text}).error().message,
        "--memory: expected an amount such as 4, 500m or 16Gi, got \"" + std::string(text) + "\"");
  }
  EXPECT_EQ(make_cluster({.count = 0, .cpus = "1"}).error().message,
            "--nodes: expected a number from 1 to 1000000");
  EXPECT_EQ(make_cluster({.count = 2, .memory = "1Ei"}).error().message,
            "the nodes have more memory than can be counted: 1024Pi on node node-0 alone");
  EXPECT_EQ(
      read_cluster("nodes: [{name: a, count: 9, allocatable: {x: 500P}}]", "c.yaml")
          .error()
          .message,
      "c.yaml: the nodes have more x than can be counted: 500000000000000000 on node a-2 alone");
}

TEST(Cluster, groups_of_nodes_and_quota_are_read_from_yaml) {
  const Result<Cluster> cluster = read_cluster(R"(
nodes:
- {count: 2, name: big, labels: {gpu: a100}, allocatable: {cpu: 96, memory: 768Gi, nvidia.com/gpu: 8}}
- {allocatable: {cpu: 500m}}
quota:
- {name: all, limits: {nvidia.com/gpu: 12}}
- {name: team-a, parent: all, hard: true, limits: {cpu: "10"}}
)",
                                               "c.yaml");
  ASSERT_TRUE(cluster.has_value()) << cluster.error().message;
  ASSERT_EQ(cluster->nodes.size(), 3u);
  EXPECT_EQ(cluster->nodes[1].name, "big-1");
  EXPECT_EQ(cluster->nodes[1].labels, (sched::Labels{{"gpu", "a100"}}));
  EXPECT_EQ(cluster->nodes[2].name, "group-1");
  EXPECT_EQ(cluster->nodes[2].allocatable, (sched::Resources{{"cpu", 500}}));
  ASSERT_EQ(cluster->quota.size(), 2u);
  EXPECT_EQ(cluster->quota[1].parent, "all");
  EXPECT_TRUE(cluster->quota[1].hard);
  EXPECT_EQ(cluster->quota[1].limits, (sched::Resources{{"cpu", 10'000}}));
  EXPECT_EQ(largest_of(*cluster).at("cpu"), 96'000);
}

TEST(Cluster, nodes_are_read_as_kubectl_prints_them) {
  const Result<Cluster> cluster = read_cluster(R"({"apiVersion":"v1","kind":"List","items":[
{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1","labels":{"zone":"a"}},
 "spec":{"unschedulable":true,"taints":[{"key":"k","value":"v","effect":"NoSchedule"}]},
 "status":{"allocatable":{"cpu":"7910m","memory":"8118372Ki","pods":"110"}}}]})",
                                               "nodes.json");
  ASSERT_TRUE(cluster.has_value()) << cluster.error().message;
  ASSERT_EQ(cluster->nodes.size(), 1u);
  const sched::NodeSpec& node = cluster->nodes[0];
  EXPECT_EQ(node.name, "n1");
  EXPECT_TRUE(node.unschedulable);
  EXPECT_EQ(node.taints, (std::vector<sched::Taint>{{"k", "v", sched::Effect::no_schedule}}));
  EXPECT_EQ(
      node.allocatable,
      (sched::Resources{{"cpu", 7910}, {"memory", sched::Amount{8118372} * 1024}, {"pods", 110}}));
}

TEST(Cluster, errors_name_file_document_and_field) {
  const auto error_of = [](std::string_view text) {
    const Result<Cluster> cluster = read_cluster(text, "c.yaml");
    return cluster ? "no error" : cluster.error().message;
  };
  EXPECT_EQ(error_of("nodes: []"), "c.yaml: expected nodes, found none");
  EXPECT_EQ(error_of("nodes: 3"), "c.yaml: document 1: nodes: expected a list");
  EXPECT_EQ(error_of("knots: []"), "c.yaml: document 1: knots: unknown; expected nodes and quota");
  EXPECT_EQ(error_of("nodes: [{count: 0}]"),
            "c.yaml: document 1: nodes[0]: count: expected a whole number from 1 to 1000000");
  EXPECT_EQ(error_of("nodes: [{allocatable: {cpu: -1}}]"),
            "c.yaml: document 1: nodes[0]: allocatable: cpu: expected an amount such as 4, 500m or "
            "16Gi, got \"-1\"");
  EXPECT_EQ(error_of("nodes: [{}]\n---\nquota: [{}]"),
            "c.yaml: document 2: quota[0]: name: expected text");
  EXPECT_EQ(error_of("kind: Pod"),
            "c.yaml: document 1: expected Nodes, or an object with nodes and quota");
}

}  // namespace
}  // namespace codeflare::cli::simulate
