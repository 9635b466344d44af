#include "controllers/fakenode/fake_nodes.h"

#include "controllers/testing/embedded_cluster.h"
#include "model/codec/node.h"
#include "model/codec/pod.h"
#include "model/condition.h"
#include "runtime/testing/idempotence.h"

#include <gtest/gtest.h>

#include <set>

namespace codeflare::controllers::fakenode {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

struct World {
  testing::EmbeddedCluster cluster;
  FakeNodeControllers controllers = add_fake_node_controllers(cluster.manager);

  explicit World(std::size_t nodes = 2) {
    register_nodes({.count = nodes, .gpus = model::Quantity(8)});
    cluster.start();
  }
  void register_nodes(const FakeNodeOptions& options) {
    auto done = *run(cluster.env.loop, register_fake_nodes(cluster.client, options));
    EXPECT_TRUE(done) << done.error().to_string();
    cluster.settle();
  }
  // A pod that somebody has bound already.
  void pod(std::string name, std::string annotations = "", std::string spec = "",
           std::string meta = "") {
    cluster.create<model::Pod>(R"({"metadata":{"name":")" + name + R"(",)" + meta +
                               R"("annotations":{)" + annotations +
                               R"(}},"spec":{"nodeName":"codeflare-fake-0",)" + spec +
                               R"("containers":[{"name":"c","image":"x"}]}})");
    cluster.settle(std::chrono::milliseconds(100));
  }
  model::Pod read(const std::string& name) { return cluster.read<model::Pod>(name); }
  bool idle(const runtime::ObjectKey& key) {
    return bool(runtime::testing::is_idempotent(cluster.env, controllers.kubelet, key));
  }
};

constexpr const char* kNever = R"("restartPolicy":"Never",)";

TEST(FakeNodes, look_like_nodes) {
  World w;
  const auto nodes = w.cluster.list<model::Node>();
  ASSERT_EQ(nodes.size(), 2u);
  const model::Node& node = nodes[1];
  EXPECT_EQ(node.metadata.name, "codeflare-fake-1");
  EXPECT_EQ(node.metadata.labels.at("kubernetes.io/hostname"), "codeflare-fake-1");
  EXPECT_EQ(node.metadata.labels.at("kubernetes.io/arch"), "amd64");
  EXPECT_EQ(node.metadata.labels.at("kubernetes.io/os"), "linux");
  EXPECT_EQ(node.status.allocatable.get("cpu").to_string(), "8");
  EXPECT_EQ(node.status.allocatable.get("memory").to_string(), "32Gi");
  EXPECT_EQ(node.status.allocatable.get("pods").to_string(), "110");
  EXPECT_EQ(node.status.capacity.get("nvidia.com/gpu").to_string(), "8");
  EXPECT_TRUE(model::is_condition_true(node.status.conditions, "Ready"));
  EXPECT_TRUE(node.spec.taints.empty());
}

TEST(FakeNodes, a_later_run_with_other_numbers_changes_them) {
  World w;
  w.register_nodes({.count = 1, .cpus = model::Quantity(2)});
  const auto nodes = w.cluster.list<model::Node>();
  ASSERT_EQ(nodes.size(), 1u);
  EXPECT_EQ(nodes[0].status.allocatable.get("cpu").to_string(), "2");
  EXPECT_EQ(nodes[0].status.allocatable.find("nvidia.com/gpu"), nullptr);
}

TEST(FakeNodes, have_labels_and_resources_as_long_as_they_are_asked_for) {
  World w;
  w.register_nodes({.count = 1,
                    .extras = {.labels = {{"zone", "a"}},
                               .resources = {{"example.com/fpga", model::Quantity(2)}}}});
  const model::Node with = w.cluster.list<model::Node>().at(0);
  EXPECT_EQ(model::find_or_empty(with.metadata.labels, "zone"), "a");
  EXPECT_EQ(with.status.capacity.get("example.com/fpga"), model::Quantity(2));
  EXPECT_EQ(with.status.allocatable.get("example.com/fpga"), model::Quantity(2));
  w.register_nodes({.count = 1});
  const model::Node without = w.cluster.list<model::Node>().at(0);
  EXPECT_FALSE(without.metadata.labels.contains("zone"));
  EXPECT_EQ(without.metadata.labels.at("kubernetes.io/hostname"), "codeflare-fake-0");
  EXPECT_EQ(without.status.allocatable.find("example.com/fpga"), nullptr);
}

TEST(FakeNodes, pods_run_and_end_as_they_say) {
  World w;
  w.pod("a", R"("codeflare.dev/duration":"90s")", kNever);
  model::Pod running = w.read("a");
  EXPECT_EQ(running.status.phase, "Running");
  EXPECT_TRUE(running.status.pod_ip.starts_with("10.244."));
  EXPECT_TRUE(running.status.host_ip.starts_with("10.245."));
  EXPECT_TRUE(running.status.start_time);
  for (const char* type :
       {"Ready", "ContainersReady", "Initialized", "PodReadyToStartContainers"}) {
    EXPECT_TRUE(model::is_condition_true(running.status.conditions, type)) << type;
  }
  ASSERT_EQ(running.status.container_statuses.size(), 1u);
  EXPECT_TRUE(running.status.container_statuses[0].ready);
  EXPECT_TRUE(running.status.container_statuses[0].state.running);
  EXPECT_TRUE(w.idle({"default", "a"}));
  w.cluster.settle(seconds(88));
  EXPECT_EQ(w.read("a").status.phase, "Running");
  w.cluster.settle(seconds(3));
  const model::Pod ended = w.read("a");
  EXPECT_EQ(ended.status.phase, "Succeeded");
  EXPECT_EQ(ended.status.container_statuses[0].state.terminated->exit_code, 0);
  EXPECT_EQ(ended.status.container_statuses[0].state.terminated->reason, "Completed");
  EXPECT_EQ(model::find_condition(ended.status.conditions, "Ready")->reason, "PodCompleted");
  const auto look = run(w.cluster.env.loop, w.controllers.kubelet.decide({"default", "a"}));
  ASSERT_TRUE(look && *look);
  EXPECT_FALSE(**look) << "what has ended is not even read";
}

TEST(FakeNodes, short_pods_are_as_short_as_they_say) {
  World w;
  w.pod("a", R"("codeflare.dev/duration":"300ms")", kNever);
  EXPECT_EQ(w.read("a").status.phase, "Running");
  w.cluster.settle(std::chrono::milliseconds(150));
  EXPECT_EQ(w.read("a").status.phase, "Running");
  w.cluster.settle(std::chrono::milliseconds(150));
  EXPECT_EQ(w.read("a").status.phase, "Succeeded");
}

TEST(FakeNodes, an_exit_code_makes_a_pod_fail) {
  World w;
  w.pod("a", R"("codeflare.dev/exit-code":"3")", kNever);
  w.cluster.settle(seconds(2));
  const model::Pod failed = w.read("a");
  EXPECT_EQ(failed.status.phase, "Failed");
  EXPECT_EQ(failed.status.container_statuses[0].state.terminated->exit_code, 3);
}

TEST(FakeNodes, containers_restart_where_they_may) {
  World w;
  w.pod("a", R"("codeflare.dev/exit-code":"1","codeflare.dev/duration":"5s")",
        R"("restartPolicy":"OnFailure",)");
  w.cluster.settle(seconds(7));
  EXPECT_EQ(w.read("a").status.container_statuses[0].state.waiting->reason, "CrashLoopBackOff");
  EXPECT_FALSE(model::is_condition_true(w.read("a").status.conditions, "Ready"));
  w.cluster.settle(seconds(10));
  EXPECT_EQ(w.read("a").status.container_statuses[0].restart_count, 1);
  EXPECT_TRUE(model::is_condition_true(w.read("a").status.conditions, "Ready"));
}

TEST(FakeNodes, a_bad_annotation_fails_the_pod_and_says_why) {
  World w;
  w.pod("a", R"("codeflare.dev/duration":"soon")");
  EXPECT_EQ(w.read("a").status.phase, "Failed");
  EXPECT_EQ(w.read("a").status.reason, "BadAnnotation");
  EXPECT_TRUE(w.read("a").status.message.contains("codeflare.dev/duration"));
}

TEST(FakeNodes, a_deleted_pod_goes_at_once) {
  World w;
  w.pod("a");
  w.cluster.remove<model::Pod>("a");
  w.cluster.settle(std::chrono::milliseconds(100));
  EXPECT_EQ(w.cluster.get<model::Pod>("a"), nullptr);
}

TEST(FakeNodes, a_pod_that_is_held_is_told_to_have_ended) {
  World w;
  w.pod("a", "", "", R"("finalizers":["example.com/hold"],)");
  w.cluster.remove<model::Pod>("a");
  w.cluster.settle();
  EXPECT_EQ(w.read("a").status.phase, "Failed");
  EXPECT_TRUE(w.idle({"default", "a"}));
  w.cluster.patch<model::Pod>("a", R"({"metadata":{"finalizers":null}})");
  w.cluster.settle();
  EXPECT_EQ(w.cluster.get<model::Pod>("a"), nullptr);
}

TEST(FakeNodes, addresses_differ) {
  World w;
  std::set<std::string> addresses;
  for (int i = 0; i < 20; ++i) {
    w.pod("p" + std::to_string(i));
    addresses.insert(w.read("p" + std::to_string(i)).status.pod_ip);
  }
  EXPECT_EQ(addresses.size(), 20u);
}

TEST(FakeNodes, a_lost_node_takes_its_pods_along_and_stays_away) {
  World w;
  w.pod("a");
  w.cluster.settle(seconds(10));
  w.cluster.remove<model::Node>("codeflare-fake-0");
  w.cluster.settle(seconds(10));
  EXPECT_EQ(w.cluster.get<model::Pod>("a"), nullptr);
  EXPECT_EQ(w.cluster.get<model::Node>("codeflare-fake-0"), nullptr);
}

TEST(FakeNodes, on_a_node_that_is_not_ready_pods_stand_still_and_are_evicted_in_time) {
  World w;
  w.pod("a", R"("codeflare.dev/duration":"60s")", kNever);
  w.cluster.patch<model::Node>("codeflare-fake-0",
                               R"({"metadata":{"annotations":{"codeflare.dev/ready":"false"}}})");
  w.cluster.settle();
  const auto node = w.cluster.read<model::Node>("codeflare-fake-0");
  EXPECT_FALSE(model::is_condition_true(node.status.conditions, "Ready"));
  EXPECT_EQ(node.spec.taints.size(), 2u);
  EXPECT_TRUE(runtime::testing::is_idempotent(w.cluster.env, w.controllers.keeper,
                                              {"", "codeflare-fake-0"}));
  w.cluster.settle(minutes(2));
  EXPECT_EQ(w.read("a").status.phase, "Running");
  w.cluster.settle(minutes(4));
  EXPECT_TRUE(w.read("a").metadata.deleting());
  // Only a node that is there can say that they have stopped.
  w.cluster.patch<model::Node>("codeflare-fake-0",
                               R"({"metadata":{"annotations":{"codeflare.dev/ready":null}}})");
  w.cluster.settle();
  EXPECT_EQ(w.cluster.get<model::Pod>("a"), nullptr);
  EXPECT_TRUE(w.cluster.read<model::Node>("codeflare-fake-0").spec.taints.empty());
}

TEST(FakeNodes, a_pod_costs_two_writes) {
  World w;
  w.pod("a", R"("codeflare.dev/duration":"60s")", kNever);
  const std::string first = w.read("a").metadata.resource_version;
  w.cluster.settle(seconds(59));
  EXPECT_EQ(w.read("a").metadata.resource_version, first);
  w.cluster.settle(minutes(10));
  const std::uint64_t end = kube::to_revision(w.read("a").metadata.resource_version);
  EXPECT_EQ(end, kube::to_revision(first) + 1);
}

}  // namespace
}  // namespace codeflare::controllers::fakenode
