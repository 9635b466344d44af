#include "apiserver/rest/testing/api_world.h"

#include <gtest/gtest.h>

namespace codeflare::apiserver {
namespace {

const std::string kPods = "/api/v1/namespaces/default/pods";
const std::string kDeployments = "/apis/apps/v1/namespaces/default/deployments";

void make_pod(ApiWorld& world, std::string_view name, std::string_view labels = "{}") {
  Answer made = world.post(kPods, "{\"metadata\":{\"name\":\"" + std::string(name) +
                                      "\",\"labels\":" + std::string(labels) +
                                      R"(},"spec":{"containers":[{"name":"c","image":"i"}]}})");
  ASSERT_EQ(made.status, 201) << made.body;
}

void make_ready_pod(ApiWorld& world, const std::string& name, std::string_view labels) {
  make_pod(world, name, labels);
  world.patch(kPods + "/" + name + "/status", "merge",
              R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})");
}

void make_deployment(ApiWorld& world) {
  Answer made = world.post(kDeployments, R"({"metadata":{"name":"d"},"spec":{"replicas":2,
    "selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},
    "spec":{"containers":[{"name":"x","image":"i"}]}}}})");
  ASSERT_EQ(made.status, 201) << made.body;
}

TEST(Status, is_written_through_its_own_path_only) {
  ApiWorld world;
  make_pod(world, "p");
  Answer main = world.patch(kPods + "/p", "merge", R"({"status":{"phase":"Running"}})");
  EXPECT_EQ(main.at("status.phase"), "Pending");
  Answer status = world.patch(kPods + "/p/status", "strategic-merge",
                              R"({"status":{"phase":"Running","podIP":"10.0.0.1"}})");
  EXPECT_EQ(status.status, 200) << status.body;
  EXPECT_EQ(status.at("status.phase"), "Running");
  EXPECT_EQ(world.get(kPods + "/p/status").at("status.phase"), "Running");
}

TEST(Scale, is_read_as_a_scale) {
  ApiWorld world;
  make_deployment(world);
  Answer scale = world.get(kDeployments + "/d/scale");
  EXPECT_EQ(scale.at("kind"), "Scale");
  EXPECT_EQ(scale.at("apiVersion"), "autoscaling/v1");
  EXPECT_EQ(scale.at("spec.replicas"), "2");
  EXPECT_EQ(scale.at("status.selector"), "a=b");
  EXPECT_EQ(scale.at("status.replicas"), "0");
}

TEST(Scale, patches_and_puts_change_the_replicas) {
  ApiWorld world;
  make_deployment(world);
  Answer patched = world.patch(kDeployments + "/d/scale", "merge", R"({"spec":{"replicas":5}})");
  EXPECT_EQ(patched.status, 200) << patched.body;
  EXPECT_EQ(patched.at("spec.replicas"), "5");
  EXPECT_EQ(world.get(kDeployments + "/d").at("spec.replicas"), "5");
  EXPECT_EQ(world.get(kDeployments + "/d").at("metadata.generation"), "2");
  Answer put =
      world.put(kDeployments + "/d/scale", R"({"metadata":{"name":"d"},"spec":{"replicas":0}})");
  EXPECT_EQ(put.status, 200) << put.body;
  EXPECT_EQ(world.get(kDeployments + "/d").at("spec.replicas"), "0");
  Answer negative = world.patch(kDeployments + "/d/scale", "merge", R"({"spec":{"replicas":-1}})");
  EXPECT_EQ(negative.status, 422);
  Answer text = world.patch(kDeployments + "/d/scale", "merge", R"({"spec":{"replicas":"two"}})");
  EXPECT_EQ(text.status, 422);
  EXPECT_EQ(text.at("details.causes.0.field"), "patch") << text.body;
  Answer stale =
      world.put(kDeployments + "/d/scale",
                R"({"metadata":{"name":"d","resourceVersion":"1"},"spec":{"replicas":1}})");
  EXPECT_EQ(stale.status, 409);
}

TEST(Scale, of_custom_resources_follows_their_paths) {
  ApiWorld world;
  world.add_custom();
  const std::string things = "/apis/example.com/v1/namespaces/default/things";
  world.post(things, R"({"metadata":{"name":"a"},"spec":{"replicas":1}})");
  world.patch(things + "/a/status", "merge", R"({"status":{"replicas":1,"selector":"x=y"}})");
  Answer scale = world.patch(things + "/a/scale", "merge", R"({"spec":{"replicas":3}})");
  EXPECT_EQ(scale.status, 200) << scale.body;
  EXPECT_EQ(scale.at("spec.replicas"), "3");
  EXPECT_EQ(scale.at("status.selector"), "x=y");
  EXPECT_EQ(world.get(things + "/a").at("spec.replicas"), "3");
}

TEST(Status, of_a_custom_resource_is_all_that_counts) {
  ApiWorld world;
  world.add_custom();
  const std::string things = "/apis/example.com/v1/namespaces/default/things";
  const Answer made = world.post(
      things,
      R"({"metadata":{"name":"a","labels":{"x":"y"},"finalizers":["example.com/f"]},"spec":{"replicas":1}})");
  const std::string version = made.at("metadata.resourceVersion");
  const Answer alone =
      world.put(things + "/a/status",
                R"({"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a",)"
                R"("resourceVersion":")" +
                    version + R"(","labels":{"x":"z"}},"status":{"replicas":1}})");
  EXPECT_EQ(alone.status, 200) << alone.body;
  EXPECT_EQ(alone.at("status.replicas"), "1");
  EXPECT_EQ(alone.at("spec.replicas"), "1");
  EXPECT_EQ(alone.at("metadata.labels.x"), "y");
  EXPECT_EQ(alone.at("metadata.finalizers.0"), "example.com/f");
  EXPECT_EQ(alone.at("metadata.generation"), "1");
  // The writer of the rest still owns it.
  EXPECT_EQ(alone.at("metadata.managedFields.1.subresource"), "status") << alone.body;
  EXPECT_TRUE(alone.at("metadata.managedFields.0.fieldsV1").contains("f:replicas")) << alone.body;
  const Answer patched =
      world.patch(things + "/a/status", "merge",
                  R"({"metadata":{"labels":{"x":"z"}},"status":{"replicas":2}})");
  EXPECT_EQ(patched.at("status.replicas"), "2") << patched.body;
  EXPECT_EQ(patched.at("metadata.labels.x"), "y");
}

TEST(Binding, gives_a_pod_its_node_once) {
  ApiWorld world;
  make_pod(world, "p");
  const std::string binding =
      R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"p"},"target":{"kind":"Node","name":"n1"}})";
  Answer bound = world.post(kPods + "/p/binding", binding);
  EXPECT_EQ(bound.status, 201) << bound.body;
  EXPECT_EQ(bound.at("kind"), "Status");
  EXPECT_EQ(bound.at("status"), "Success");
  Answer pod = world.get(kPods + "/p");
  EXPECT_EQ(pod.at("spec.nodeName"), "n1");
  EXPECT_TRUE(pod.body.contains(R"("type":"PodScheduled")"));
  Answer again = world.post("/api/v1/namespaces/default/bindings", binding);
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(
      again.at("message"),
      "Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to node "
      "\"n1\"");
  EXPECT_FALSE(pod.body.contains(R"("subresource":"binding")")) << "nobody owns what it wrote";
  EXPECT_EQ(world.post(kPods + "/q/binding", R"({"target":{"name":"n"}})").status, 404);
  EXPECT_EQ(world.post(kPods + "/p/binding", R"({"target":{}})").status, 422);
}

TEST(Binding, a_gated_pod_gets_no_node) {
  ApiWorld world;
  world.post(kPods, R"({"metadata":{"name":"p"},"spec":{"schedulingGates":[{"name":"wait"}],
    "containers":[{"name":"c","image":"i"}]}})");
  Answer refused = world.post(kPods + "/p/binding", R"({"target":{"name":"n"}})");
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.at("message"),
            "Operation cannot be fulfilled on pods/binding \"p\": pod p has non-empty "
            ".spec.schedulingGates");
}

TEST(Eviction, deletes_the_pod) {
  ApiWorld world;
  make_pod(world, "p");
  Answer evicted = world.post(
      kPods + "/p/eviction",
      R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p","namespace":"default"}})");
  EXPECT_EQ(evicted.status, 201) << evicted.body;
  EXPECT_EQ(world.get(kPods + "/p").status, 404);
}

TEST(Eviction, names_its_pod) {
  ApiWorld world;
  make_pod(world, "p");
  for (const char* body : {"{}", R"({"metadata":{"name":"other"}})"}) {
    EXPECT_EQ(world.post(kPods + "/p/eviction", body).status, 400) << body;
  }
  EXPECT_EQ(world.get(kPods + "/p").status, 200);
}

TEST(Eviction, tells_a_running_pod_why_it_goes) {
  ApiWorld world;
  make_pod(world, "p");
  world.post(kPods + "/p/binding", R"({"metadata":{"name":"p"},"target":{"name":"n"}})");
  Answer wrong = world.post(
      kPods + "/p/eviction",
      R"({"metadata":{"name":"p"},"deleteOptions":{"preconditions":{"uid":"not-this-one"}}})");
  EXPECT_EQ(wrong.status, 409) << wrong.body;
  EXPECT_EQ(world.get(kPods + "/p").at("status.conditions.1.type"), "<absent>");
  const std::string version = world.get(kPods + "/p").at("metadata.resourceVersion");
  Answer evicted = world.post(kPods + "/p/eviction",
                              R"({"metadata":{"name":"p"},"deleteOptions":{"preconditions":)"
                              R"({"resourceVersion":")" +
                                  version + R"("}}})");
  EXPECT_EQ(evicted.status, 201) << evicted.body;
  Answer pod = world.get(kPods + "/p");
  EXPECT_EQ(pod.at("status.conditions.1.type"), "DisruptionTarget") << pod.body;
  EXPECT_EQ(pod.at("status.conditions.1.reason"), "EvictionByEvictionAPI");
  EXPECT_NE(pod.at("metadata.deletionTimestamp"), "<absent>");
}

TEST(Eviction, of_old_clients_is_in_v1beta1) {
  ApiWorld world;
  make_pod(world, "p");
  Answer evicted =
      world.post(kPods + "/p/eviction",
                 R"({"apiVersion":"policy/v1beta1","kind":"Eviction","metadata":{"name":"p"}})");
  EXPECT_EQ(evicted.status, 201) << evicted.body;
  EXPECT_EQ(world.get(kPods + "/p").status, 404);
}

TEST(Eviction, a_spent_disruption_budget_is_429) {
  ApiWorld world;
  make_ready_pod(world, "p", R"({"app":"x"})");
  const std::string budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
  Answer made = world.post(
      budgets,
      R"({"metadata":{"name":"b"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"x"}}}})");
  ASSERT_EQ(made.status, 201) << made.body;
  Answer evicted = world.post(kPods + "/p/eviction", R"({"metadata":{"name":"p"}})");
  EXPECT_EQ(evicted.status, 429) << evicted.body;
  EXPECT_EQ(evicted.at("details.causes.0.reason"), "DisruptionBudget");
  EXPECT_EQ(world.get(kPods + "/p").status, 200);
  Answer status = world.patch(
      budgets + "/b/status", "merge",
      R"({"status":{"disruptionsAllowed":1,"currentHealthy":2,"desiredHealthy":1,"expectedPods":2,"observedGeneration":1}})");
  ASSERT_EQ(status.status, 200) << status.body;
  EXPECT_EQ(world.post(kPods + "/p/eviction", R"({"metadata":{"name":"p"}})").status, 201);
  EXPECT_EQ(world.get(budgets + "/b").at("status.disruptionsAllowed"), "0");
  EXPECT_EQ(world.get(kPods + "/p").status, 404);
}

TEST(Eviction, of_a_pod_that_is_not_ready_costs_nothing_while_enough_others_are) {
  ApiWorld world;
  const std::string budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
  const auto evict = [&](std::string_view policy, std::string_view healthy) {
    world.remove(kPods + "/p");
    world.remove(budgets + "/b");
    make_pod(world, "p", R"({"app":"x"})");
    world.patch(kPods + "/p/status", "merge", R"({"status":{"phase":"Running"}})");
    world.post(budgets, R"({"metadata":{"name":"b"},"spec":{"minAvailable":2,"selector":)"
                        R"({"matchLabels":{"app":"x"}})" +
                            std::string(policy) + "}}");
    world.patch(budgets + "/b/status", "merge",
                R"({"status":{"disruptionsAllowed":0,"currentHealthy":)" + std::string(healthy) +
                    R"(,"desiredHealthy":2,"expectedPods":3,"observedGeneration":1}})");
    return world.post(kPods + "/p/eviction", R"({"metadata":{"name":"p"}})").status;
  };
  EXPECT_EQ(evict("", "2"), 201);
  EXPECT_EQ(evict("", "1"), 429);
  EXPECT_EQ(evict(R"(,"unhealthyPodEvictionPolicy":"AlwaysAllow")", "1"), 201);
}

TEST(Eviction, waits_for_a_budget_whose_numbers_are_old) {
  ApiWorld world;
  make_ready_pod(world, "p", R"({"app":"x"})");
  const std::string budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
  world.post(
      budgets,
      R"({"metadata":{"name":"b"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"x"}}}})");
  world.patch(budgets + "/b/status", "merge",
              R"({"status":{"disruptionsAllowed":1,"currentHealthy":2,"desiredHealthy":1,)"
              R"("expectedPods":2,"observedGeneration":1}})");
  world.patch(budgets + "/b", "merge", R"({"spec":{"minAvailable":2}})");
  Answer evicted = world.post(kPods + "/p/eviction", R"({"metadata":{"name":"p"}})");
  EXPECT_EQ(evicted.status, 429) << evicted.body;
  EXPECT_TRUE(evicted.at("details.causes.0.message").contains("still being processed"));
}

TEST(Connect, without_a_node_is_a_clear_501) {
  ApiWorld world;
  make_pod(world, "p");
  Answer log = world.get(kPods + "/p/log");
  EXPECT_EQ(log.status, 501);
  EXPECT_EQ(log.at("kind"), "Status");
  EXPECT_TRUE(log.at("message").contains("pods/log"));
  EXPECT_EQ(world.get(kPods + "/q/log").status, 404);
}

class Echo final : public ConnectHandler {
  Task<Result<net::Response>> connect(User user, RequestInfo info, ObjectPtr pod,
                                      net::Request) override {
    co_return net::make_response(
        200, "text/plain",
        Bytes::from(user.name + " " + info.subresource + " " + std::string(pod->name())));
  }
};

TEST(Connect, goes_to_the_handler_with_user_and_pod) {
  Echo echo;
  ApiWorld world({.connect = &echo});
  make_pod(world, "p");
  EXPECT_EQ(world.get(kPods + "/p/log?follow=true").body, "admin log p");
  EXPECT_EQ(world.post(kPods + "/p/exec?command=x", "").body, "admin exec p");
}

TEST(Events, of_both_groups_are_one_object) {
  ApiWorld world;
  Answer made = world.post("/api/v1/namespaces/default/events",
                           R"({"metadata":{"name":"e"},"involvedObject":{"kind":"Pod","name":"p",
      "namespace":"default"},"reason":"Started","message":"hello","type":"Normal"})");
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string other = "/apis/events.k8s.io/v1/namespaces/default/events";
  Answer seen = world.get(other + "/e");
  EXPECT_EQ(seen.at("apiVersion"), "events.k8s.io/v1");
  EXPECT_EQ(seen.at("note"), "hello");
  EXPECT_EQ(seen.at("regarding.name"), "p");
  EXPECT_EQ(seen.at("message"), "<absent>");
  EXPECT_EQ(world.get(other + "?fieldSelector=regarding.name%3Dp").size("items"), 1u);
  EXPECT_EQ(world.get("/api/v1/events?fieldSelector=involvedObject.name%3Dother").size("items"),
            0u);
  Answer patched = world.patch(other + "/e", "merge", R"({"note":"changed"})");
  EXPECT_EQ(patched.status, 200) << patched.body;
  EXPECT_EQ(world.get("/api/v1/namespaces/default/events/e").at("message"), "changed");
}

TEST(Autoscalers, written_as_v1_are_read_as_v2) {
  ApiWorld world;
  const std::string path = "/namespaces/default/horizontalpodautoscalers";
  Answer made = world.post("/apis/autoscaling/v1" + path,
                           R"({"metadata":{"name":"h"},"spec":{"maxReplicas":3,
      "scaleTargetRef":{"kind":"Deployment","name":"d","apiVersion":"apps/v1"},
      "targetCPUUtilizationPercentage":70}})");
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(made.at("spec.targetCPUUtilizationPercentage"), "70");
  Answer v2 = world.get("/apis/autoscaling/v2" + path + "/h");
  EXPECT_EQ(v2.at("spec.metrics.0.resource.target.averageUtilization"), "70") << v2.body;
}

class Reverse final : public VirtualResource {
  Task<Result<json::Value>> create(Call& call) override {
    call.body.set_static(call.arena, "status", json::Value::string(call.arena, call.user.name));
    co_return call.body;
  }
};

TEST(Virtual, resources_answer_what_they_are_asked) {
  ApiWorld world;
  world.service().add("authorization.k8s.io", "selfsubjectaccessreviews", "",
                      std::make_unique<Reverse>());
  Answer review = world.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                             R"({"spec":{"nonResourceAttributes":{"path":"/x","verb":"get"}}})");
  EXPECT_EQ(review.status, 201) << review.body;
  EXPECT_EQ(review.at("kind"), "SelfSubjectAccessReview");
  EXPECT_EQ(review.at("status"), "admin");
  EXPECT_EQ(world.get("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews").status, 405);
}

TEST(Virtual, resources_take_small_bodies_only) {
  ApiWorld world;
  const std::string reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  world.service().add("authorization.k8s.io", "selfsubjectaccessreviews", "",
                      std::make_unique<Reverse>());
  const auto review = [](std::size_t bytes) {
    std::string text = R"({"spec":{"nonResourceAttributes":{"path":"","verb":"get"}}})";
    return text.insert(text.find("\",\"verb"), std::string(bytes - text.size(), 'x'));
  };
  EXPECT_EQ(world.post(reviews, review(256u << 10)).status, 201);
  EXPECT_EQ(world.post(reviews, review((256u << 10) + 1)).status, 413);
}

TEST(Protobuf, bodies_that_are_none_are_400) {
  ApiWorld world;
  Answer made = world.post("/api/v1/namespaces/default/configmaps", "not protobuf",
                           {{"Content-Type", "application/vnd.kubernetes.protobuf"}});
  EXPECT_EQ(made.status, 400);
}

// A pod with a container, a sidecar and an init container that ends.
void make_resizable_pod(ApiWorld& world) {
  Answer made = world.post(kPods, R"({"metadata":{"name":"p","labels":{"a":"1"}},"spec":{
    "initContainers":[
      {"name":"first","image":"i","resources":{"requests":{"cpu":"10m"}}},
      {"name":"side","image":"i","restartPolicy":"Always","resources":{"requests":{"cpu":"10m"}}}],
    "containers":[{"name":"c","image":"i","command":["run"],
      "resources":{"requests":{"cpu":"100m","memory":"64Mi"},"limits":{"cpu":"200m"}}}]}})");
  ASSERT_EQ(made.status, 201) << made.body;
  ASSERT_EQ(made.at("status.qosClass"), "Burstable");
}

TEST(Resize, changes_what_containers_ask_for) {
  ApiWorld world;
  make_resizable_pod(world);
  Answer resized = world.patch(kPods + "/p/resize", "strategic-merge",
                               R"({"spec":{"initContainers":[{"name":"side","resources":
                                 {"requests":{"cpu":"20m"}}}],"containers":[{"name":"c",
                                 "resources":{"requests":{"cpu":"150m"},"limits":{"cpu":"300m"}}}]}})");
  EXPECT_EQ(resized.status, 200) << resized.body;
  EXPECT_EQ(resized.at("spec.containers.0.resources"),
            R"({"limits":{"cpu":"300m"},"requests":{"cpu":"150m","memory":"64Mi"}})");
  EXPECT_EQ(resized.at("spec.initContainers.1.resources.requests.cpu"), "20m");
  EXPECT_EQ(resized.at("metadata.generation"), "2");
}

TEST(Resize, whoever_may_do_nothing_else_changes_nothing_else) {
  ApiWorld world;
  make_resizable_pod(world);
  Answer resized = world.patch(kPods + "/p/resize", "strategic-merge",
                               R"({"metadata":{"labels":{"a":"2"},"annotations":{"x":"y"},
                                 "finalizers":["x.io/y"]},"spec":{"nodeName":"n","containers":[
                                 {"name":"c","image":"evil","command":["sh"],
                                 "env":[{"name":"A","value":"b"}],
                                 "resources":{"requests":{"cpu":"150m"}}}]}})");
  EXPECT_EQ(resized.status, 200) << resized.body;
  EXPECT_EQ(resized.at("spec.containers.0.resources.requests.cpu"), "150m");
  EXPECT_EQ(resized.at("spec.containers.0.image"), "i");
  EXPECT_EQ(resized.at("spec.containers.0.command"), R"(["run"])");
  EXPECT_EQ(resized.at("spec.containers.0.env"), "<absent>");
  EXPECT_EQ(resized.at("spec.nodeName"), "<absent>");
  EXPECT_EQ(resized.at("metadata.labels"), R"({"a":"1"})");
  EXPECT_EQ(resized.at("metadata.annotations"), "<absent>");
  EXPECT_EQ(resized.at("metadata.finalizers"), "<absent>");
}

TEST(Resize, is_refused_in_the_words_of_upstream) {
  const std::string own = R"("resources":{"requests":{"cpu":"100m","memory":"64Mi"},)"
                          R"("limits":{"cpu":"200m"}})";
  const std::string c = R"({"name":"c","image":"i",)" + own + "}";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"("containers":[)" + c + R"(,{"name":"d","image":"evil"}])",
       "spec.containers: Forbidden: containers may not be added or removed on resize"},
      {R"("initContainers":[])",
       "spec.initContainers: Forbidden: initContainers may not be added or removed on resize"},
      {R"("containers":[{"name":"d","image":"i",)" + own + "}]",
       "spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize"},
      {R"("containers":[{"name":"c","image":"i","resources":{"requests":)"
       R"({"cpu":"100m","memory":"64Mi"}}}])",
       "spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed"},
      {R"("containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"100m"},)"
       R"("limits":{"cpu":"200m"}}}])",
       "spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed"},
      {R"("containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"100m",)"
       R"("memory":"64Mi","ephemeral-storage":"1Gi"},"limits":{"cpu":"200m"}}}])",
       "spec: Forbidden: only cpu and memory resources are mutable"},
      {R"("containers":[{"name":"c","image":"i",)" + own +
           R"(,"resizePolicy":[{"resourceName":"cpu","restartPolicy":"RestartContainer"}]}])",
       "spec: Forbidden: only cpu and memory resources are mutable"},
      {R"("initContainers":[{"name":"first","image":"i","resources":{"requests":{"cpu":"20m"}}},)"
       R"({"name":"side","image":"i","restartPolicy":"Always",)"
       R"("resources":{"requests":{"cpu":"10m"}}}])",
       "spec: Forbidden: resources for non-sidecar init containers are immutable"},
  };
  for (const auto& [spec, complaint] : cases) {
    ApiWorld world;
    make_resizable_pod(world);
    Answer refused = world.patch(kPods + "/p/resize", "merge", R"({"spec":{)" + spec + "}}");
    EXPECT_EQ(refused.status, 422) << spec;
    EXPECT_EQ(refused.at("message"), "Pod \"p\" is invalid: " + complaint);
  }
}

TEST(Resize, keeps_the_class_of_a_pod) {
  ApiWorld world;
  make_pod(world, "p");
  Answer refused = world.patch(kPods + "/p/resize", "strategic-merge",
                               R"({"spec":{"containers":[{"name":"c","resources":
                                 {"requests":{"cpu":"1"}}}]}})");
  EXPECT_EQ(refused.at("message"),
            "Pod \"p\" is invalid: spec: Invalid value: \"BestEffort\": Pod QOS Class may not "
            "change as a result of resizing");
}

TEST(EphemeralContainers, are_added_and_change_nothing_else) {
  ApiWorld world;
  make_pod(world, "p", R"({"a":"1"})");
  Answer added = world.patch(kPods + "/p/ephemeralcontainers", "strategic-merge",
                             R"({"metadata":{"labels":{"a":"2"}},"spec":{"containers":
                               [{"name":"c","image":"evil"}],"ephemeralContainers":
                               [{"name":"debug","image":"d","targetContainerName":"c"}]}})");
  EXPECT_EQ(added.status, 200) << added.body;
  EXPECT_EQ(added.at("spec.ephemeralContainers.0.name"), "debug");
  EXPECT_EQ(added.at("spec.containers.0.image"), "i");
  EXPECT_EQ(added.at("metadata.labels"), R"({"a":"1"})");
  Answer second = world.patch(kPods + "/p/ephemeralcontainers", "strategic-merge",
                              R"({"spec":{"ephemeralContainers":[{"name":"more","image":"d"}]}})");
  EXPECT_EQ(second.status, 200) << second.body;
  EXPECT_EQ(second.size("spec.ephemeralContainers"), 2u);
}

TEST(EphemeralContainers, stay_as_they_are) {
  ApiWorld world;
  make_pod(world, "p");
  const std::string door = kPods + "/p/ephemeralcontainers";
  ASSERT_EQ(world
                .patch(door, "strategic-merge",
                       R"({"spec":{"ephemeralContainers":[{"name":"debug","image":"d"}]}})")
                .status,
            200);
  Answer changed =
      world.patch(door, "strategic-merge",
                  R"({"spec":{"ephemeralContainers":[{"name":"debug","image":"x"}]}})");
  EXPECT_EQ(changed.status, 422);
  EXPECT_TRUE(changed.at("message").starts_with(
      "Pod \"p\" is invalid: spec.ephemeralContainers: Forbidden: existing ephemeral containers "
      "\"debug\" may not be changed\n"))
      << changed.body;
  Answer removed = world.patch(door, "merge", R"({"spec":{"ephemeralContainers":[]}})");
  EXPECT_EQ(removed.status, 422);
  EXPECT_TRUE(removed.at("message").starts_with(
      "Pod \"p\" is invalid: spec.ephemeralContainers: Forbidden: existing ephemeral containers "
      "\"debug\" may not be removed"))
      << removed.body;
}

TEST(EphemeralContainers, have_their_own_rules) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"name":"c","image":"d"})", "spec.ephemeralContainers[0].name: Duplicate value: \"c\""},
      {R"({"name":"x","image":"d","targetContainerName":"y"})",
       "spec.ephemeralContainers[0].targetContainerName: Not found: \"y\""},
      {R"({"name":"x","image":"d","resources":{"limits":{"cpu":"1"}}})",
       "spec.ephemeralContainers[0].resources: Forbidden: cannot be set for an Ephemeral "
       "Container"},
      {R"({"name":"x"})", "spec.ephemeralContainers[0].image: Required value"},
  };
  for (const auto& [container, complaint] : cases) {
    ApiWorld world;
    make_pod(world, "p");
    Answer refused = world.patch(kPods + "/p/ephemeralcontainers", "strategic-merge",
                                 R"({"spec":{"ephemeralContainers":[)" + container + "]}}");
    EXPECT_EQ(refused.status, 422) << container;
    EXPECT_EQ(refused.at("message"), "Pod \"p\" is invalid: " + complaint);
  }
  ApiWorld world;
  Answer created = world.post(kPods, R"({"metadata":{"name":"p"},"spec":{"containers":
    [{"name":"c","image":"i"}],"ephemeralContainers":[{"name":"x","image":"d"}]}})");
  EXPECT_EQ(created.at("message"),
            "Pod \"p\" is invalid: spec.ephemeralContainers: Forbidden: cannot be set on create");
}

}  // namespace
}  // namespace codeflare::apiserver
