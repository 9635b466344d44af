#include "controllers/appwrapper/items.h"
#include "controllers/appwrapper/trim.h"
#include "controllers/appwrapper/wrapper_pods.h"
#include "model/codec/pod.h"
#include "queue/marks.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::controllers {
namespace {

using model::ObjectKey;

kube::ObjectRef object(const std::string& text) {
  Result<kube::ObjectRef> made = kube::Object::from_json(text);
  EXPECT_TRUE(made) << made.error().to_string();
  return *made;
}

std::string pod_text(const std::string& name, const std::string& label, const std::string& phase,
                     const std::string& more = "") {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
         R"(","namespace":"team","uid":"uid-)" + name + R"(","resourceVersion":"5",
         "annotations":{"a":"long"},"managedFields":[{"manager":"x"}],"labels":{)" +
         label + R"(}},"spec":{"nodeSelector":{"zone":"a"},"tolerations":[{"operator":"Exists"}],
         "containers":[{"name":"c","image":"i","env":[{"name":"A","value":"b"}],
         "resources":{"requests":{"cpu":"500m","memory":"1Gi","nvidia.com/gpu":"2"}}}],
         "volumes":[{"name":"v"}],"schedulerName":"s")" +
         more + R"(},"status":{"phase":")" + phase +
         R"(","podIP":"10.0.0.1","conditions":[{"type":"Ready","status":"True"},
         {"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/3 nodes"}]}})";
}

model::Pod pod(const std::string& name, const std::string& label, const std::string& phase) {
  return *object(pod_text(name, label, phase))->as<model::Pod>();
}

const std::string kLabel = '"' + std::string(queue::kUidLabel) + R"(":"u1")";
const PodsOf kOwner{"u1", {"team", "a"}};
const std::string kMcad = '"' + std::string(queue::kMcadLabel) + R"(":"a")";

TEST(Trim, a_pod_keeps_what_the_queue_looks_at) {
  const kube::ObjectRef kept = trimmed_pod(object(pod_text("p", kLabel, "Pending")));
  const model::Pod full = pod("p", kLabel, "Pending");
  const model::Pod pod = *kept->as<model::Pod>();
  EXPECT_EQ(pod.metadata.labels, full.metadata.labels);
  EXPECT_EQ(pod.metadata.uid, full.metadata.uid);
  EXPECT_EQ(pod.metadata.resource_version, "5");
  EXPECT_EQ(pod.spec.node_selector, full.spec.node_selector);
  EXPECT_EQ(pod.spec.tolerations, full.spec.tolerations);
  EXPECT_EQ(pod.spec.scheduler_name, "s");
  EXPECT_EQ(pod.spec.containers[0].resources, full.spec.containers[0].resources);
  EXPECT_EQ(pod.status.phase, "Pending");
  ASSERT_EQ(pod.status.conditions.size(), 1u);
  EXPECT_EQ(pod.status.conditions[0].type, "PodScheduled");
  for (const char* dropped : {"annotations", "managedFields", "env", "volumes", "podIP", "image"}) {
    EXPECT_FALSE(kept->text().contains(dropped)) << dropped;
  }
}

TEST(Trim, a_bound_pod_needs_no_constraints) {
  const kube::ObjectRef kept =
      trimmed_pod(object(pod_text("p", kLabel, "Running", R"(,"nodeName":"n1")")));
  EXPECT_FALSE(kept->text().contains("nodeSelector"));
  EXPECT_EQ(kept->as<model::Pod>()->spec.node_name, "n1");
}

TEST(WrapperPods, counts_pods_by_phase_and_adds_up_what_they_use) {
  WrapperPods ledger;
  ledger.upsert(pod("a", kLabel, "Pending"));
  ledger.upsert(pod("b", kLabel, "Running"));
  ledger.upsert(pod("c", kLabel, "Succeeded"));
  ledger.upsert(pod("d", kLabel, "Failed"));
  ledger.upsert(pod("e", R"("other":"x")", "Running"));
  const PodsSeen seen = ledger.seen(kOwner);
  EXPECT_EQ(seen.pending, 1);
  EXPECT_EQ(seen.running, 1);
  EXPECT_EQ(seen.succeeded, 1);
  EXPECT_EQ(seen.failed, 1);
  EXPECT_EQ(seen.cpu, 1000);
  EXPECT_EQ(seen.memory, std::int64_t{2} << 30);
  EXPECT_EQ(seen.gpu, 4);
  EXPECT_EQ(seen.unschedulable, 1);
  ASSERT_EQ(seen.unschedulable_pods.size(), 1u);
  EXPECT_EQ(seen.unschedulable_pods[0].pod_name, "a");
}

TEST(WrapperPods, forgets_pods_that_are_gone_or_change_hands) {
  const PodsOf adopted{"u9", {"team", "a"}, true};
  WrapperPods ledger;
  EXPECT_EQ(ledger.upsert(pod("a", kLabel, "Running")).size(), 1u);
  EXPECT_EQ(ledger.upsert(pod("a", kMcad, "Running")).size(), 2u) << "both are concerned";
  EXPECT_FALSE(ledger.any(kOwner));
  EXPECT_TRUE(ledger.any(adopted)) << "by the name in MCAD's label";
  ASSERT_EQ(ledger.remove({"team", "a"}).size(), 1u);
  EXPECT_TRUE(ledger.remove({"team", "a"}).empty());
  EXPECT_FALSE(ledger.any(adopted));
}

TEST(WrapperPods, a_label_reaches_no_further_than_its_namespace) {
  WrapperPods ledger;
  model::Pod stranger = pod("a", kLabel, "Running");
  stranger.metadata.ns = "evil";
  ledger.upsert(stranger);
  EXPECT_FALSE(ledger.any(kOwner));
  EXPECT_EQ(ledger.seen(kOwner).running, 0);
  EXPECT_TRUE(ledger.pods(kOwner).empty());
}

TEST(WrapperPods, mcads_label_counts_for_what_mcad_dispatched_alone) {
  WrapperPods ledger;
  ledger.upsert(pod("a", kMcad, "Running"));
  EXPECT_FALSE(ledger.any(kOwner));
  EXPECT_EQ(ledger.seen({"u1", {"team", "a"}, true}).running, 1);
}

TEST(WrapperPods, says_which_changes_may_decide_something) {
  WrapperPods ledger;
  const auto matters = [&](const std::string& name, const std::string& phase) {
    return ledger.upsert(pod(name, kLabel, phase)).at(0).matters;
  };
  EXPECT_TRUE(matters("a", "Running")) << "the first pod";
  EXPECT_FALSE(matters("b", "Running"));
  EXPECT_TRUE(matters("c", "Pending")) << "the first that no scheduler takes";
  EXPECT_FALSE(matters("d", "Pending"));
  EXPECT_FALSE(matters("c", "Running"));
  EXPECT_TRUE(matters("d", "Running")) << "the last of them";
  EXPECT_FALSE(matters("d", "Running"));
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_FALSE(matters(name, "Succeeded"));
  }
  EXPECT_TRUE(matters("d", "Succeeded")) << "none is active any more";
  EXPECT_FALSE(ledger.remove({"team", "a"}).at(0).matters);
  ledger.remove({"team", "b"});
  ledger.remove({"team", "c"});
  EXPECT_TRUE(ledger.remove({"team", "d"}).at(0).matters) << "none is left";
}

TEST(WrapperPods, sums_follow_what_changes) {
  WrapperPods ledger;
  ledger.upsert(pod("a", kLabel, "Running"));
  ledger.upsert(pod("b", kLabel, "Running"));
  ledger.upsert(pod("a", kLabel, "Failed"));
  EXPECT_EQ(ledger.seen(kOwner).cpu, 500);
  EXPECT_EQ(ledger.seen(kOwner).failed, 1);
  ledger.remove({"team", "b"});
  EXPECT_EQ(ledger.seen(kOwner).cpu, 0);
  EXPECT_EQ(ledger.seen(kOwner).running, 0);
}

TEST(WrapperPods, absurd_requests_do_not_overflow) {
  WrapperPods ledger;
  model::Pod huge = pod("a", kLabel, "Running");
  huge.spec.containers[0].resources.requests.set("memory", *model::Quantity::parse("9e18"));
  ledger.upsert(huge);
  huge.metadata.name = "b";
  ledger.upsert(huge);
  EXPECT_GT(ledger.seen(kOwner).memory, 0);
}

TEST(Trim, what_scopes_of_quotas_look_at_stays) {
  const kube::ObjectRef kept = trimmed_pod(object(
      pod_text("p", "", "Running",
               R"(,"nodeName":"n1","priorityClassName":"high","activeDeadlineSeconds":60)")));
  const Result<model::Pod> pod = kept->as<model::Pod>();
  ASSERT_TRUE(pod) << pod.error().to_string();
  EXPECT_EQ(pod->spec.priority_class_name, "high");
  EXPECT_EQ(pod->spec.active_deadline_seconds, 60);
}

TEST(Trim, an_item_keeps_what_tells_how_it_ended) {
  const kube::ObjectRef kept = trimmed_item(object(
      R"({"kind":"RayJob","metadata":{"name":"j","namespace":"team","uid":"u"},"spec":{"x":1},
      "status":{"jobStatus":"FAILED","jobDeploymentStatus":"Retrying","message":"m",
      "dashboardURL":"http://x"}})"));
  EXPECT_EQ(kept->string_at({"status", "jobDeploymentStatus"}), "Retrying");
  EXPECT_EQ(kept->string_at({"status", "message"}), "m");
  EXPECT_FALSE(kept->text().contains("dashboardURL"));
}

TEST(Trim, an_item_keeps_how_many_pods_it_is_to_have) {
  const kube::ObjectRef kept = trimmed_item(object(
      R"({"kind":"RayCluster","metadata":{"name":"r","namespace":"team","uid":"u"},"spec":{
      "rayVersion":"2","workerGroupSpecs":[{"groupName":"w","replicas":2,"numOfHosts":3,
      "template":{"spec":{"containers":[]}}}]}})"));
  EXPECT_TRUE(kept->text().contains(R"("workerGroupSpecs":[{"replicas":2,"numOfHosts":3}])"))
      << kept->text();
  EXPECT_FALSE(kept->text().contains("rayVersion"));
}

}  // namespace
}  // namespace codeflare::controllers
