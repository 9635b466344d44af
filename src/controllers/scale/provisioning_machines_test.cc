#include "controllers/scale/provisioning_machines.h"

#include "controllers/pods_type.h"
#include "controllers/scale/testing/scale_world.h"
#include "controllers/scale/testing/upstream.h"
#include "json/parse.h"
#include "json/write.h"
#include "model/codec/node.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

// The provider `provisioning-request` with a stand-in for the autoscaler: the test writes the
// conditions and makes the Nodes.
namespace codeflare::controllers::scale {
namespace {

using controllers::testing::kAppWrappers;
using controllers::testing::kNodes;
using std::chrono::seconds;

const model::ResourceType kPodTemplates{"", "v1", "PodTemplate", "podtemplates", true};
constexpr const char* kPool = R"("pool":"big")";
constexpr const char* kBig = R"("capacity":{"cpu":"8","memory":"8Gi"},"labels":{"pool":"big"})";

// The rules of upstream's definition that matter to those who write ProvisioningRequests.
std::string definition() {
  return R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
    "metadata":{"name":"provisioningrequests.autoscaling.x-k8s.io",
      "annotations":{"api-approved.kubernetes.io":"stand-in"}},
    "spec":{"group":"autoscaling.x-k8s.io","scope":"Namespaced",
      "names":{"plural":"provisioningrequests","singular":"provisioningrequest",
               "kind":"ProvisioningRequest","listKind":"ProvisioningRequestList"},
      "versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
        "schema":{"openAPIV3Schema":{"type":"object","required":["spec"],"properties":{
          "spec":{"type":"object","required":["podSets","provisioningClassName"],"properties":{
            "provisioningClassName":{"type":"string","maxLength":253},
            "parameters":{"type":"object","maxProperties":100,
              "additionalProperties":{"type":"string","maxLength":255}},
            "podSets":{"type":"array","minItems":1,"maxItems":32,"items":{"type":"object",
              "required":["count","podTemplateRef"],"properties":{
                "count":{"type":"integer","minimum":1},
                "podTemplateRef":{"type":"object","required":["name"],
                  "properties":{"name":{"type":"string","maxLength":253}}}}}}}},
          "status":{"type":"object","properties":{"conditions":{"type":"array",
            "x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["type"],
            "items":{"type":"object",
              "required":["lastTransitionTime","message","reason","status","type"],
              "properties":{"type":{"type":"string"},"status":{"type":"string"},
                "reason":{"type":"string"},"message":{"type":"string"},
                "lastTransitionTime":{"type":"string","format":"date-time"}}}}}}}}}}]}})";
}

std::string condition(const std::string& type, const std::string& status, const std::string& reason,
                      const std::string& message) {
  return R"({"type":")" + type + R"(","status":")" + status + R"(","reason":")" + reason +
         R"(","message":")" + message + R"(","lastTransitionTime":"2026-01-01T00:00:00Z"})";
}

class ProvisioningRequests : public ::testing::Test {
 protected:
  ProvisioningRequests()
      : w({.definitions = {testing::definition_of("provisioningrequests.autoscaling.x-k8s.io",
                                                  definition())},
           .provider = std::string(kProvisioningProvider),
           .make = [](runtime::Manager& manager, const QueueDriver& driver) {
             return std::make_unique<ProvisioningMachines>(manager, driver);
           }}) {
    w.add_node("small", R"("pool":"small")", "2");
    w.start();
  }

  // A gang that needs two machines has asked for them.
  void ask() {
    w.add_type("big", kBig);
    w.submit("pair", 2);
    ASSERT_TRUE(w.follow_until([&] { return !w.list(kProvisioningRequests).empty(); }))
        << w.state();
  }
  void say(const std::vector<std::string>& conditions) {
    std::string all;
    for (const std::string& each : conditions) {
      all += (all.empty() ? "" : ",") + each;
    }
    w.patch(kProvisioningRequests, w.list(kProvisioningRequests).front()->key(),
            R"({"status":{"conditions":[)" + all + "]}}", "status");
  }
  void provision() {
    say({condition("Accepted", "True", "Accepted", "taken"),
         condition("Provisioned", "True", "CapacityIsProvisioned", "all of it")});
  }
  bool until_failed() {
    return w.follow_until([&] { return w.state().starts_with("Failed"); });
  }
  void expect_nothing_left() {
    EXPECT_TRUE(w.follow_until([&] {
      return w.list(kProvisioningRequests).empty() && w.list(kPodTemplates).empty() &&
             w.adopted().empty();
    })) << w.state();
    EXPECT_TRUE(w.closed().empty());
    EXPECT_EQ(w.places(), "");
  }
  std::string name() { return std::string(w.list(kProvisioningRequests).front()->name()); }
  // Of all pods, by name: "pair-0 uses NAME of CLASS".
  std::string consumers() {
    std::string text;
    for (const kube::ObjectRef& pod : w.list(kPods)) {
      const std::string used = pod->string_at({"metadata", "annotations", kConsumeAnnotation});
      const std::string of = pod->string_at({"metadata", "annotations", kClassAnnotation});
      text += (text.empty() ? "" : "; ") + std::string(pod->name());
      text += used.empty() && of.empty() ? "" : " uses " + used + " of " + of;
    }
    return text;
  }

  testing::ScaleWorld w;
};

TEST_F(ProvisioningRequests, ask_for_all_pods_of_the_gang_at_once) {
  w.add_type("big", std::string(kBig) + R"(,"parameters":{"ValidUntilSeconds":"600"})");
  w.submit("pair", 2);
  ASSERT_TRUE(w.follow_until([&] { return !w.list(kProvisioningRequests).empty(); })) << w.state();
  w.follow(seconds(5));
  ASSERT_EQ(w.list(kProvisioningRequests).size(), 1u);
  ASSERT_EQ(w.list(kPodTemplates).size(), 1u);
  const json::Document request = *w.list(kProvisioningRequests).front()->parse();
  const json::Document pod = *w.list(kPodTemplates).front()->parse();
  EXPECT_EQ(request.root.get({"metadata", "namespace"})->as_string(), "default");
  EXPECT_EQ(name(), w.requests().front().metadata.name);
  EXPECT_EQ(json::to_text(*request.root.find("spec")),
            R"({"provisioningClassName":")" + std::string(kAtomicClass) +
                R"(","parameters":{"ValidUntilSeconds":"600"},"podSets":[{"podTemplateRef":)"
                R"({"name":")" +
                name() + R"(-big-0"},"count":2}]})");
  const json::Value* spec = pod.root.get({"template", "spec"});
  EXPECT_EQ(json::to_text(*spec->find("nodeSelector")), R"({"pool":"big"})");
  EXPECT_EQ(json::to_text(*spec->find("containers")->items()[0].get({"resources", "requests"})),
            R"({"cpu":"6"})");
}

TEST_F(ProvisioningRequests, start_the_gang_once_all_machines_are_there) {
  ask();
  // Nodes that come before the autoscaler says so are for others.
  w.add_node("other", kPool);
  w.follow(seconds(3));
  EXPECT_TRUE(w.adopted().empty());
  w.remove(kNodes, {"", "other"});
  provision();
  w.add_node("cloud-0", kPool);
  w.follow(seconds(5));
  EXPECT_EQ(w.closed(), std::vector<std::string>{"cloud-0"});
  EXPECT_EQ(w.places(), "");
  w.add_node("cloud-1", kPool);
  ASSERT_TRUE(w.follow_until([&] { return w.places() == "cloud-0 cloud-1"; })) << w.state();
  w.follow(seconds(3));
  EXPECT_TRUE(w.closed().empty());
  EXPECT_EQ(w.state(), "Ready: ");
  // A crash changes nothing.
  w.crash();
  w.start();
  w.follow(seconds(30));
  EXPECT_EQ(w.adopted(), (std::vector<std::string>{"cloud-0", "cloud-1"}));
  EXPECT_EQ(w.list(kProvisioningRequests).size(), 1u);
  w.remove(kAppWrappers, {"default", "pair"});
  for (const char* pod : {"pair-0", "pair-1"}) {
    w.remove(kPods, {"default", pod});
  }
  ASSERT_TRUE(w.follow_until([&] { return w.requests().empty(); })) << w.state();
  expect_nothing_left();
  EXPECT_EQ(w.list(kNodes).size(), 3u);  // the autoscaler removes them
}

// Autoscalers keep the nodes of some classes for pods with these annotations.
TEST_F(ProvisioningRequests, are_named_by_the_pods_that_use_them) {
  EXPECT_EQ(kConsumeAnnotation, "autoscaling.x-k8s.io/consume-provisioning-request");
  EXPECT_EQ(kClassAnnotation, "autoscaling.x-k8s.io/provisioning-class-name");
  w.add_type("big", std::string(kBig) + R"(,"parameters":{"class":"queued.example.com"})");
  w.submit("pair", 2);
  ASSERT_TRUE(w.follow_until([&] { return !w.list(kProvisioningRequests).empty(); })) << w.state();
  provision();
  w.add_node("cloud-0", kPool);
  w.add_node("cloud-1", kPool);
  ASSERT_TRUE(w.follow_until([&] { return w.places() == "cloud-0 cloud-1"; })) << w.state();
  const std::string used = " uses " + name() + " of queued.example.com";
  EXPECT_EQ(consumers(), "pair-0" + used + "; pair-1" + used);
  // Work that finds the machines later did not ask for them.
  w.remove(kAppWrappers, {"default", "pair"});
  for (const char* pod : {"pair-0", "pair-1"}) {
    w.remove(kPods, {"default", pod});
  }
  w.submit("later", 1);
  ASSERT_TRUE(w.follow_until([&] { return w.places().starts_with("cloud"); })) << w.state();
  EXPECT_EQ(consumers(), "later-0");
}

TEST_F(ProvisioningRequests, are_not_named_by_pods_that_have_other_nodes) {
  w.add_node("old", R"("pool":"old")");
  ask();
  provision();
  w.add_node("cloud-0", kPool);
  ASSERT_TRUE(w.follow_until([&] { return w.places() == "cloud-0 old"; })) << w.state();
  const std::string all = consumers();
  const std::string used = " uses " + name() + " of " + std::string(kAtomicClass);
  EXPECT_TRUE(all == "pair-0" + used + "; pair-1" || all == "pair-0; pair-1" + used) << all;
}

TEST_F(ProvisioningRequests, accept_a_larger_node_for_two_machines) {
  ask();
  provision();
  w.add_node("cloud-0", kPool, "16");
  ASSERT_TRUE(w.follow_until([&] { return w.places() == "cloud-0 cloud-0"; })) << w.state();
}

TEST_F(ProvisioningRequests, that_are_late_end_with_the_time_out) {
  ask();
  say({condition("Accepted", "True", "Accepted", "taken")});
  w.follow(seconds(2));
  EXPECT_EQ(w.state(), "Pending: ProvisioningRequest default/" + name() + " is accepted");
  const std::string request = name();
  ASSERT_TRUE(until_failed());
  EXPECT_EQ(w.state(), "Failed: 0/2 machines ready after 60 s: ProvisioningRequest default/" +
                           request + " is accepted");
  expect_nothing_left();
}

TEST_F(ProvisioningRequests, that_failed_end_with_the_words_of_the_autoscaler) {
  ask();
  const std::string request = name();
  say({condition("Accepted", "True", "Accepted", "taken"),
       condition("Failed", "True", "OutOfResources", "no GPUs in zone a")});
  ASSERT_TRUE(until_failed());
  EXPECT_EQ(w.state(), "Failed: Failed: ProvisioningRequest default/" + request +
                           ": OutOfResources: no GPUs in zone a");
  expect_nothing_left();
}

TEST_F(ProvisioningRequests, whose_capacity_is_revoked_release_the_nodes_that_came) {
  ask();
  const std::string request = name();
  provision();
  w.add_node("cloud-0", kPool);
  ASSERT_TRUE(w.follow_until([&] { return !w.adopted().empty(); }));
  say({condition("Provisioned", "True", "CapacityIsProvisioned", "all of it"),
       condition("CapacityRevoked", "True", "Preempted", "the nodes are gone")});
  ASSERT_TRUE(until_failed());
  EXPECT_EQ(w.state(), "Failed: CapacityRevoked: ProvisioningRequest default/" + request +
                           ": Preempted: the nodes are gone");
  expect_nothing_left();
}

TEST_F(ProvisioningRequests, whose_booking_expired_fail) {
  ask();
  provision();
  say({condition("Provisioned", "True", "CapacityIsProvisioned", "all of it"),
       condition("BookingExpired", "True", "Expired", "10 minutes are over")});
  ASSERT_TRUE(until_failed());
  EXPECT_TRUE(w.state().contains("BookingExpired: ProvisioningRequest default/")) << w.state();
  expect_nothing_left();
}

TEST_F(ProvisioningRequests, with_half_of_the_machines_give_them_back) {
  ask();
  provision();
  w.add_node("cloud-0", kPool);
  const std::string request = name();
  ASSERT_TRUE(until_failed());
  EXPECT_EQ(w.state(), "Failed: 1/2 machines ready after 60 s: ProvisioningRequest default/" +
                           request + " is provisioned");
  expect_nothing_left();
}

TEST_F(ProvisioningRequests, name_a_node_that_has_less_than_its_type) {
  ask();
  provision();
  w.add_node("cloud-0", kPool, "5");
  w.add_node("cloud-1", kPool);
  ASSERT_TRUE(until_failed());
  EXPECT_EQ(w.state(), "Failed: 1/2 machines ready after 60 s: Node cloud-0 has cpu 5 of 8");
  expect_nothing_left();
}

TEST_F(ProvisioningRequests, need_the_labels_of_the_nodes) {
  w.add_type("big", R"("capacity":{"cpu":"8","memory":"8Gi"})");
  w.submit("pair", 2);
  ASSERT_TRUE(until_failed());
  EXPECT_EQ(w.state(), "Failed: MachineType big has no labels: set those of its Nodes");
  expect_nothing_left();
}

// Killed after each of its writes, with and without the answer: one ProvisioningRequest, and the
// gang runs once.
TEST_F(ProvisioningRequests, are_found_again_after_a_crash) {
  w.add_type("big", kBig);
  w.crash();
  w.submit("pair", 2);
  int kills = 0;
  for (int cut = 1; cut <= 12; ++cut) {
    // One write gets through.
    w.start_and_kill(cut % 2 == 0 ? 2 : 1, cut % 2 != 0);
    w.follow(seconds(3));
    EXPECT_LE(w.list(kProvisioningRequests).size(), 1u);
    EXPECT_LE(w.requests().size(), 1u);
    kills += w.wire().is_cut() ? 1 : 0;
    w.crash();
  }
  EXPECT_GE(kills, 4);
  w.start();
  ASSERT_TRUE(w.follow_until([&] { return !w.list(kProvisioningRequests).empty(); })) << w.state();
  provision();
  w.add_node("cloud-0", kPool);
  w.add_node("cloud-1", kPool);
  ASSERT_TRUE(w.follow_until([&] { return w.places() == "cloud-0 cloud-1"; })) << w.state();
}

}  // namespace
}  // namespace codeflare::controllers::scale
