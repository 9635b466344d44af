#include "controllers/scale/machineset_machines.h"

#include "controllers/pods_type.h"
#include "controllers/scale/testing/scale_world.h"
#include "controllers/scale/testing/upstream.h"
#include "json/parse.h"
#include "json/write.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

// The provider `machineset` with a stand-in for OpenShift's machine controllers.
namespace codeflare::controllers::scale {
namespace {

using controllers::testing::kAppWrappers;
using controllers::testing::kNodes;
using std::chrono::seconds;

const std::string kNs(kMachineSetNamespace);

std::string definition(const std::string& kind, const std::string& plural) {
  return R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
    "metadata":{"name":")" +
         plural + R"(.machine.openshift.io"},
    "spec":{"group":"machine.openshift.io","scope":"Namespaced","names":{"plural":")" +
         plural + R"(","kind":")" + kind + R"(","listKind":")" + kind + R"(List"},
      "versions":[{"name":"v1beta1","served":true,"storage":true,"subresources":{"status":{}},
        "schema":{"openAPIV3Schema":{"type":"object","properties":{
          "spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true,
            "properties":{"replicas":{"type":"integer","minimum":0}}},
          "status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}]}})";
}

std::string machine_set(const std::string& name, int replicas) {
  return R"({"apiVersion":"machine.openshift.io/v1beta1","kind":"MachineSet","metadata":{"name":")" +
         name +
         R"(","labels":{"machine.openshift.io/cluster-api-cluster":"c1"},"annotations":{
           "machine.openshift.io/vCPU":"8","machine.openshift.io/memoryMb":"32768",
           "machine.openshift.io/GPU":"0"}},
         "spec":{"replicas":)" +
         std::to_string(replicas) +
         R"(,"selector":{"matchLabels":{"machine.openshift.io/cluster-api-machineset":")" + name +
         R"("}},"template":{"metadata":{"labels":{"machine.openshift.io/cluster-api-cluster":"c1",
           "machine.openshift.io/cluster-api-machineset":")" +
         name + R"("}},"spec":{"metadata":{"labels":{"zone":"a"}},
           "providerSpec":{"value":{"instanceType":"m5.2xlarge"}}}}}})";
}

// Makes and removes Machines as the replicas say, and Nodes for at most `most` new Machines.
struct MachineController {
  testing::ScaleWorld* w = nullptr;
  int most = 100;
  std::string node_cpus = "8";
  std::string error{};  // of Machines beyond `most`
  int made = 0;
  std::vector<std::string> deleted{};
  std::vector<std::string> unmarked{};  // deleted without the mark

  std::vector<Machine> machines_of(const std::string& set) const {
    std::vector<Machine> found;
    for (const kube::ObjectRef& object : w->list(kMachines)) {
      if (Machine machine = *read_machine(*object); machine.set == set) {
        found.push_back(std::move(machine));
      }
    }
    return found;
  }

  void step() {
    for (const kube::ObjectRef& object : w->list(kMachineSets)) {
      const MachineSet set = *read_machine_set(object);
      std::vector<Machine> machines = machines_of(set.metadata.name);
      for (auto count = static_cast<std::int64_t>(machines.size()); count < set.replicas; ++count) {
        add(set);
      }
      std::ranges::sort(machines, {}, [](const Machine& each) {
        return std::pair(!each.is_marked(), each.metadata.name);
      });
      for (auto count = static_cast<std::int64_t>(machines.size()); count > set.replicas; --count) {
        const Machine& first = machines.front();
        if (!first.is_marked()) {
          unmarked.push_back(first.metadata.name);
        }
        remove(first);
        machines.erase(machines.begin());
      }
    }
    for (const kube::ObjectRef& object : w->list(kMachines)) {
      const Machine machine = *read_machine(*object);
      if (w->get(kMachineSets, {kNs, machine.set}) == nullptr) {
        remove(machine);  // by the garbage collector
      }
    }
  }

  void add(const MachineSet& set) {
    const int number = made++;
    const std::string name = set.metadata.name + "-m" + std::to_string(number);
    w->create(
        kMachines, kNs,
        R"({"apiVersion":"machine.openshift.io/v1beta1","kind":"Machine","metadata":{"name":")" +
            name + R"(","labels":{"machine.openshift.io/cluster-api-machineset":")" +
            set.metadata.name + R"("}},"spec":{}})");
    if (number < most) {
      w->add_node("node-" + name, R"("zone":"a")", node_cpus);
      status(name, R"("phase":"Running","nodeRef":{"name":"node-)" + name + R"("})");
    } else if (error.empty()) {
      status(name, R"("phase":"Provisioning")");
    } else {
      status(name,
             R"("phase":"Failed","errorReason":"CreateError","errorMessage":")" + error + '"');
    }
  }
  void status(const std::string& name, const std::string& members) {
    w->patch(kMachines, {kNs, name}, R"({"status":{)" + members + "}}", "status");
  }
  void remove(const Machine& machine) {
    deleted.push_back(machine.metadata.name);
    w->remove(kMachines, {kNs, machine.metadata.name});
    if (!machine.node.empty()) {
      w->remove(kNodes, {"", machine.node});
    }
  }
};

class MachineSets : public ::testing::Test {
 protected:
  MachineSets()
      : w({.definitions = {testing::definition_of("machinesets.machine.openshift.io",
                                                  definition("MachineSet", "machinesets")),
                           testing::definition_of("machines.machine.openshift.io",
                                                  definition("Machine", "machines"))},
           .provider = std::string(kMachineSetProvider),
           .make =
               [](runtime::Manager& manager, const QueueDriver& driver) {
                 return std::make_unique<MachineSetMachines>(manager, driver, MachineSetOptions{});
               },
           .stand_in = [this] { cloud.step(); }}) {
    cloud.w = &w;
    w.create({"", "v1", "Namespace", "namespaces", false}, "",
             R"({"metadata":{"name":"openshift-machine-api"}})");
    w.add_node("small", "", "2");
    // A machine of somebody else.
    w.create(kMachineSets, kNs, machine_set("workers", 1));
    cloud.step();
    w.remove(kNodes, {"", "node-workers-m0"});
    w.add_node("node-workers-m0", R"("zone":"a")", "1");
    w.start();
  }

  void ask(const std::string& more = "") {
    w.add_type("m5.2xlarge", R"("capacity":{"cpu":"8","memory":"8Gi"})" + more);
    w.submit("pair", 2);
  }
  void end_work() {
    w.remove(kAppWrappers, {"default", "pair"});
    for (const char* pod : {"pair-0", "pair-1"}) {
      w.remove(kPods, {"default", pod});
    }
  }
  MachineSet set(const std::string& name) {
    return *read_machine_set(w.get(kMachineSets, {kNs, name}));
  }
  bool until_failed() {
    return w.follow_until([&] { return w.state().starts_with("Failed"); });
  }
  // The cluster is as it was before.
  void expect_nothing_left() {
    EXPECT_TRUE(w.follow_until([&] {
      return w.list(kMachines).size() == 1 && w.list(kMachineSets).size() == 1 &&
             w.adopted().empty();
    })) << w.state();
    w.follow(seconds(3));
    EXPECT_EQ(w.list(kNodes).size(), 2u);
    EXPECT_EQ(set("workers").replicas, 1);
    EXPECT_EQ(cloud.machines_of("workers").front().metadata.name, "workers-m0");
    const MachineSet workers = set("workers");
    EXPECT_EQ(workers.metadata.annotations.size(), 3u);
    EXPECT_EQ(workers.metadata.labels.size(), 1u);
    EXPECT_EQ(cloud.unmarked, std::vector<std::string>());
    EXPECT_TRUE(w.closed().empty());
  }

  MachineController cloud;
  testing::ScaleWorld w;
};

TEST_F(MachineSets, are_raised_and_lowered_by_the_machines_of_the_gang) {
  ask();
  cloud.most = 2;
  ASSERT_TRUE(w.follow_until([&] { return w.adopted().size() == 1; })) << w.state();
  EXPECT_EQ(set("workers").replicas, 3);
  EXPECT_EQ(set("workers").metadata.labels.at("instascale.codeflare.dev-pair-default"), "2");
  w.follow(seconds(3));
  EXPECT_EQ(w.closed(), std::vector<std::string>{"node-workers-m1"});
  EXPECT_EQ(w.places(), "");
  EXPECT_EQ(w.state(), "Pending: Machine workers-m2 is Provisioning");
  w.add_node("node-workers-m2", R"("zone":"a")");
  cloud.status("workers-m2", R"("phase":"Running","nodeRef":{"name":"node-workers-m2"})");
  ASSERT_TRUE(w.follow_until([&] { return w.places() == "node-workers-m1 node-workers-m2"; }))
      << w.state();
  w.follow(seconds(30));
  EXPECT_EQ(set("workers").replicas, 3);
  end_work();
  ASSERT_TRUE(w.follow_until([&] { return w.requests().empty(); })) << w.state();
  EXPECT_EQ(cloud.deleted, (std::vector<std::string>{"workers-m1", "workers-m2"}));
  expect_nothing_left();
}

TEST_F(MachineSets, are_copied_and_removed_with_strategy_duplicate) {
  ask(R"(,"labels":{"pool":"big"},"parameters":{"strategy":"duplicate"})");
  ASSERT_TRUE(w.follow_until([&] { return w.list(kMachineSets).size() == 2; })) << w.state();
  const std::string name = w.requests().front().metadata.name + "-" + "m52xlarge";
  const auto sets = w.list(kMachineSets);
  const auto copied = std::ranges::find_if(
      sets, [&](const kube::ObjectRef& each) { return each->name().starts_with(name); });
  ASSERT_NE(copied, sets.end());
  const json::Document document = *(*copied)->parse();
  const std::string copy((*copied)->name());
  EXPECT_EQ((*copied)->string_at({"metadata", "labels", "instascale.codeflare.dev-aw"}),
            "pair-default");
  EXPECT_EQ(json::to_text(*document.root.get({"spec", "selector"})),
            R"({"matchLabels":{"machine.openshift.io/cluster-api-machineset":")" + copy + R"("}})");
  EXPECT_EQ((*copied)->string_at({"spec", "template", "metadata", "labels",
                                  "machine.openshift.io/cluster-api-cluster"}),
            "c1");
  EXPECT_EQ((*copied)->string_at({"spec", "template", "spec", "metadata", "labels", "pair"}),
            "pair");
  EXPECT_EQ((*copied)->string_at({"spec", "template", "spec", "metadata", "labels", "pool"}),
            "big");
  EXPECT_EQ(set("workers").replicas, 1);
  ASSERT_TRUE(w.follow_until([&] { return w.places().contains(copy); })) << w.state();
  end_work();
  ASSERT_TRUE(w.follow_until([&] { return w.requests().empty(); })) << w.state();
  expect_nothing_left();
}

TEST_F(MachineSets, tell_the_capacity_that_a_type_leaves_out) {
  w.add_type("m5.2xlarge", R"("parameters":{"strategy":"reuse"})");
  w.submit("pair", 2);
  // Both Nodes come at once, so that the queue may use them before anything is written on them.
  ASSERT_TRUE(w.follow_until([&] { return w.places() == "node-workers-m1 node-workers-m2"; }))
      << w.state();
  w.follow(seconds(20));
  EXPECT_EQ(set("workers").replicas, 3);
  const model::ResourceList capacity = machine_capacity(set("workers"));
  EXPECT_EQ(capacity.get("cpu").to_string(), "7500m");
  EXPECT_EQ(capacity.get("memory").to_string(), "31644Mi");
  EXPECT_EQ(capacity.size(), 2u);
  end_work();
  ASSERT_TRUE(w.follow_until([&] { return w.requests().empty(); })) << w.state();
  expect_nothing_left();
}

TEST_F(MachineSets, with_a_failed_machine_give_all_back_with_its_words) {
  cloud.most = 2;
  cloud.error = "no instances in zone a";
  ask();
  ASSERT_TRUE(until_failed());
  EXPECT_EQ(w.state(), "Failed: Machine workers-m2: CreateError: no instances in zone a");
  expect_nothing_left();
}

TEST_F(MachineSets, that_are_late_end_with_the_time_out) {
  cloud.most = 1;
  ask();
  ASSERT_TRUE(until_failed());
  EXPECT_EQ(w.state(), "Failed: 0/2 machines ready after 60 s: Machine workers-m1 is Provisioning");
  expect_nothing_left();
}

TEST_F(MachineSets, with_half_of_the_machines_give_them_back) {
  cloud.most = 2;
  ask(R"(,"parameters":{"strategy":"duplicate"})");
  ASSERT_TRUE(until_failed());
  EXPECT_TRUE(w.state().starts_with("Failed: 1/2 machines ready after 60 s: Machine scale-"))
      << w.state();
  expect_nothing_left();
}

// The cloud takes a machine, and its set makes another one, which nobody asked for.
TEST_F(MachineSets, whose_machines_are_revoked_give_back_what_replaced_them) {
  ask();
  ASSERT_TRUE(w.follow_until([&] { return w.places().contains("workers-m2"); })) << w.state();
  w.remove(kMachines, {kNs, "workers-m1"});
  w.remove(kNodes, {"", "node-workers-m1"});
  w.follow(seconds(5));
  end_work();
  ASSERT_TRUE(w.follow_until([&] { return w.requests().empty(); })) << w.state();
  expect_nothing_left();
}

TEST_F(MachineSets, that_are_not_there_are_named) {
  w.add_type("p4", R"("capacity":{"cpu":"8","memory":"8Gi"})");
  w.submit("pair", 2);
  ASSERT_TRUE(until_failed());
  EXPECT_EQ(w.state(),
            "Failed: MachineType p4: namespace openshift-machine-api has no MachineSet "
            "with instance type p4: set parameter machineSet or instanceType");
  expect_nothing_left();
}

// Killed after each of its writes, with and without the answer, on the way up and down.
TEST_F(MachineSets, count_no_machine_twice_whoever_dies) {
  ask();
  int most = 0;
  int kills = 0;
  const auto killed = [&](int times) {
    for (int cut = 1; cut <= times; ++cut) {
      w.crash();
      // One write gets through.
      w.start_and_kill(cut % 2 == 0 ? 2 : 1, cut % 2 != 0);
      w.follow(seconds(2));
      most = std::max(most, static_cast<int>(set("workers").replicas));
      kills += w.wire().is_cut() ? 1 : 0;
    }
    w.crash();
    w.start();
  };
  killed(12);
  ASSERT_TRUE(w.follow_until([&] { return w.places() == "node-workers-m1 node-workers-m2"; }))
      << w.state();
  end_work();
  // Idle machines go at once with their request: no life is long enough to see them idle.
  w.remove(model::resource_type<model::MachineRequest>(), {"", w.requests().front().metadata.name});
  killed(24);
  ASSERT_TRUE(w.follow_until([&] { return w.requests().empty(); })) << w.state();
  EXPECT_GE(kills, 15);
  EXPECT_EQ(most, 3);
  EXPECT_EQ(cloud.made, 3);
  expect_nothing_left();
}

}  // namespace
}  // namespace codeflare::controllers::scale
