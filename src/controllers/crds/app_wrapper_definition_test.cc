#include "controllers/admission/fixed_spec_admission.h"
#include "controllers/crds/crds.h"
#include "controllers/crds/ensure_crds.h"
#include "controllers/crds/testing/server_world.h"
#include "json/parse.h"
#include "json/pointer.h"
#include "json/write.h"
#include "json/yaml.h"
#include "kube/typed.h"
#include "model/codec/app_wrapper.h"
#include "model/codec/custom_resource_definition.h"
#include "model/codec/quota_subtree.h"
#include "model/codec/ray_cluster.h"
#include "model/status.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

// `codeflare apiserver`'s handling of AppWrappers and their like under our definitions.
namespace codeflare::controllers {
namespace {

const kube::ResourceType kWrappers = model::resource_type<model::AppWrapper>();

// Of the shape that MCAD documents for wrapped RayClusters.
constexpr std::string_view kWrapped = R"(
apiVersion: workload.codeflare.dev/v1beta1
kind: AppWrapper
metadata: {name: raycluster-complete, namespace: default}
spec:
  resources:
    GenericItems:
    - replicas: 1
      custompodresources:
      - replicas: 1
        limits: {cpu: 1, memory: 2G, nvidia.com/gpu: 0}
        requests: {cpu: 1, memory: 2G, nvidia.com/gpu: 0}
      - replicas: 1
        limits: {cpu: 2, memory: 2G, nvidia.com/gpu: 0}
        requests: {cpu: 2, memory: 2G, nvidia.com/gpu: 0}
      generictemplate:
        apiVersion: ray.io/v1alpha1
        kind: RayCluster
        metadata:
          labels: {controller-tools.k8s.io: "1.0"}
          name: raycluster-complete
        spec:
          rayVersion: '2.5.0'
          headGroupSpec:
            serviceType: ClusterIP
            rayStartParams: {dashboard-host: '0.0.0.0'}
            template:
              metadata: {labels: {}}
              spec:
                containers:
                - name: ray-head
                  image: ray:2.5.0
                  ports: [{containerPort: 6379, name: gcs}]
                  lifecycle: {preStop: {exec: {command: ["/bin/sh", "-c", "ray stop"]}}}
                  resources: {limits: {cpu: "1", memory: 2G}, requests: {cpu: "1", memory: 2G}}
          workerGroupSpecs:
          - replicas: 1
            minReplicas: 1
            maxReplicas: 1
            groupName: small-group
            rayStartParams: {}
            template:
              spec:
                containers:
                - name: ray-worker
                  image: ray:2.5.0
                  resources: {limits: {cpu: "2", memory: 2G}, requests: {cpu: "2", memory: 2G}}
  schedulingSpec:
    minAvailable: 2
    requeuing: {maxNumRequeuings: 3}
)";

json::Document parsed_yaml(std::string_view text) {
  Result<std::vector<json::Document>> documents = json::parse_yaml(text);
  CHECK(documents.has_value() && documents->size() == 1);
  return std::move(documents->front());
}

class Server : public ServerWorld {
 public:
  Server() : ServerWorld(admission::fixed_spec_rules) { install(); }
  void install() {
    CHECK(wait(ensure_crds(*client, {.legacy_group = true, .ray_cluster = true})).has_value());
    settle();
  }
  Result<kube::ObjectRef> create(const kube::ResourceType& type, std::string_view yaml) {
    return wait(client->create(type, "default", json::to_text(parsed_yaml(yaml).root),
                               {.field_validation = "Strict"}));
  }
  Result<kube::ObjectRef> patch(std::string body, std::string subresource = {}) {
    return wait(client->patch(kWrappers, {"default", "raycluster-complete"}, kube::PatchKind::merge,
                              std::move(body), {.subresource = std::move(subresource)}));
  }
  Result<kube::ObjectRef> json_patch(std::string body) {
    return wait(client->patch(kWrappers, {"default", "raycluster-complete"}, kube::PatchKind::json,
                              std::move(body)));
  }
};

std::string at(const kube::ObjectRef& object, std::string_view pointer) {
  const Result<json::Document> document = object->parse();
  const json::Value* value = json::find(document->root, *json::Pointer::parse(pointer));
  return value == nullptr ? "absent" : json::to_text(*value);
}

std::string refusal(const Result<kube::ObjectRef>& written) {
  return written ? "accepted" : written.error().message;
}

TEST(AppWrapperDefinition, the_documented_ray_cluster_round_trips) {
  Server server;
  const Result<kube::ObjectRef> made = server.create(kWrappers, kWrapped);
  ASSERT_TRUE(made.has_value()) << made.error().message;
  const json::Document sent = parsed_yaml(kWrapped);
  const Result<json::Document> got = (*made)->parse();
  EXPECT_TRUE(
      json::equal(*got->root.get({"spec", "resources"}), *sent.root.get({"spec", "resources"})))
      << (*made)->text();
  EXPECT_EQ(at(*made, "/spec/schedulingSpec/requeuing/timeInSeconds"), "300");
  EXPECT_EQ(at(*made, "/spec/schedulingSpec/requeuing/growthType"), "\"exponential\"");
  const Result<model::AppWrapper> typed = (*made)->as<model::AppWrapper>();
  ASSERT_TRUE(typed.has_value()) << typed.error().message;
  EXPECT_EQ(typed->spec.resources.generic_items[0].custom_pod_resources.size(), 2u);
}

TEST(AppWrapperDefinition, priority_suspend_and_service_may_change) {
  Server server;
  ASSERT_TRUE(server.create(kWrappers, kWrapped).has_value());
  EXPECT_EQ(refusal(server.patch(R"({"spec":{"service":{"a":1}}})")), "accepted");
  EXPECT_EQ(refusal(server.patch(R"({"spec":{"priority":9}})")), "accepted");
  EXPECT_EQ(refusal(server.patch(R"({"spec":{"suspend":true}})")), "accepted");
  EXPECT_EQ(refusal(server.patch(R"({"spec":{"suspend":null,"priority":null}})")), "accepted");
  EXPECT_EQ(refusal(server.patch(R"({"metadata":{"labels":{"quota":"gold"}}})")), "accepted");
}

TEST(AppWrapperDefinition, the_rest_of_the_spec_may_not) {
  Server server;
  ASSERT_TRUE(server.create(kWrappers, kWrapped).has_value());
  const auto refused = [&](const Result<kube::ObjectRef>& written, std::string_view words) {
    EXPECT_TRUE(refusal(written).contains(words)) << refusal(written);
  };
  const std::string item = "/spec/resources/GenericItems/0";
  const auto replace = [&](std::string_view pointer, std::string_view value) {
    return server.json_patch(R"([{"op":"add","path":")" + item + std::string(pointer) +
                             R"(","value":)" + std::string(value) + "}]");
  };
  refused(replace("/custompodresources/0/replicas", "5"), "resources cannot be changed");
  refused(replace("/custompodresources/1/requests/cpu", "3"), "resources cannot be changed");
  refused(replace("/completionstatus", "\"Complete\""), "resources cannot be changed");
  refused(replace("/generictemplate/kind", "\"RayJob\""), "resources cannot be changed");
  refused(replace("/generictemplate/metadata/name", "\"other\""), "resources cannot be changed");
  refused(replace("/generictemplate/spec/rayVersion", "\"9.9\""), "resources cannot be changed");
  refused(server.json_patch(R"([{"op":"remove","path":"/spec/resources/GenericItems/0"}])"),
          "resources cannot be changed");
  refused(server.patch(R"({"spec":{"schedulingSpec":{"minAvailable":1}}})"),
          "schedulingSpec cannot be changed");
  refused(server.patch(R"({"spec":{"schedulingSpec":null}})"), "schedulingSpec cannot be changed");
  refused(server.patch(R"({"spec":{"priorityslope":0.5}})"), "priorityslope cannot be changed");
  // More than fits: what cannot be read any more would be ended.
  refused(server.patch(R"({"spec":{"priority":99999999999}})"), "spec.priority");
  refused(server.patch(R"({"spec":{"ttlSecondsAfterFinished":5}})"),
          "ttlSecondsAfterFinished cannot be changed");
  refused(server.patch(R"({"spec":{"selector":{"matchLabels":{"a":"b"}}}})"),
          "selector cannot be changed");
}

TEST(AppWrapperDefinition, each_change_is_refused_with_its_field) {
  Server server;
  ASSERT_TRUE(server.create(kWrappers, kWrapped).has_value());
  const Result<kube::ObjectRef> refused =
      server.patch(R"({"spec":{"ttlSecondsAfterFinished":5,"priorityslope":1,"priority":1}})");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message,
            "appwrappers.workload.codeflare.dev \"raycluster-complete\" is invalid: "
            "spec.ttlSecondsAfterFinished: ttlSecondsAfterFinished cannot be changed; delete the "
            "AppWrapper and create it again; spec.priorityslope: priorityslope cannot be changed; "
            "delete the AppWrapper and create it again");
  const model::Status* status = model::status_of(refused.error());
  ASSERT_NE(status, nullptr);
  EXPECT_EQ(status->code, 422);
  ASSERT_EQ(status->details->causes.size(), 2u);
  EXPECT_EQ(status->details->causes[0].field, "spec.ttlSecondsAfterFinished");
}

TEST(AppWrapperDefinition, what_means_the_same_is_no_change) {
  Server server;
  const kube::ObjectRef made = *server.create(kWrappers, kWrapped);
  const auto put = [&](const std::string& text) {
    return refusal(server.wait(server.client->update(kWrappers, made->key(), text)));
  };
  EXPECT_EQ(put(std::string(made->text())), "accepted");
  // Without what the server filled in, as people keep it.
  json::Document manifest = parsed_yaml(kWrapped);
  manifest.root.find("metadata")
      ->set(manifest.arena, "resourceVersion",
            json::Value::string(manifest.arena, made->resource_version()));
  EXPECT_EQ(put(json::to_text(manifest.root)), "accepted");
  EXPECT_EQ(
      refusal(server.wait(server.client->apply(
          kWrappers, made->key(), json::to_text(parsed_yaml(kWrapped).root), {.force = true}))),
      "accepted");
  EXPECT_EQ(refusal(server.json_patch(
                R"([{"op":"remove","path":"/spec/schedulingSpec/requeuing/growthType"}])")),
            "accepted");
  EXPECT_EQ(refusal(server.json_patch(R"([{"op":"replace","path":
                "/spec/resources/GenericItems/0/generictemplate/spec/workerGroupSpecs/0/replicas",
                "value":1.0}])")),
            "accepted");
}

// A definition like ours, but for one piece of its text.
std::string definition_without(std::string_view piece) {
  for (const EmbeddedCrd& crd : *embedded_crds()) {
    if (crd.name == kAppWrapperCrd) {
      std::string text = crd.json;
      CHECK(text.contains(piece));
      return text.replace(text.find(piece), piece.size(), "");
    }
  }
  CHECK(false, "the program carries the definition of AppWrappers");
}

const kube::ResourceType kDefinitions = model::resource_type<model::CustomResourceDefinition>();

TEST(AppWrapperDefinition, what_was_stored_before_there_was_a_default_has_not_changed_by_it) {
  Server server;
  const kube::ObjectKey name{"", std::string(kAppWrapperCrd)};
  const std::string older = definition_without(R"(,"default":"exponential")");
  const kube::ObjectRef now = *server.wait(server.client->get(kDefinitions, name));
  Result<json::Document> text = json::parse(older);
  text->root.find("metadata")
      ->set(text->arena, "resourceVersion",
            json::Value::string(text->arena, now->resource_version()));
  ASSERT_TRUE(server.wait(server.client->update(kDefinitions, name, json::to_text(text->root))));
  server.settle();
  const kube::ObjectRef made = *server.create(kWrappers, kWrapped);
  EXPECT_EQ(at(made, "/spec/schedulingSpec/requeuing/growthType"), "absent");
  server.install();
  const Result<kube::ObjectRef> labelled =
      server.patch(R"({"metadata":{"labels":{"quota":"gold"}}})");
  ASSERT_EQ(refusal(labelled), "accepted");
  EXPECT_EQ(at(*labelled, "/spec/schedulingSpec/requeuing/growthType"), "\"exponential\"");
}

TEST(AppWrapperDefinition, other_programs_may_change_what_they_define_themselves) {
  ServerWorld world(admission::fixed_spec_rules);
  ASSERT_TRUE(world.wait(world.client->create(kDefinitions, "", R"({
    "apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
    "metadata":{"name":"appwrappers.workload.codeflare.dev"},"spec":{
      "group":"workload.codeflare.dev","scope":"Namespaced",
      "names":{"plural":"appwrappers","kind":"AppWrapper"},"versions":[{"name":"v1beta1",
        "served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object",
          "x-kubernetes-preserve-unknown-fields":true}}}]}})")));
  world.settle();
  ASSERT_TRUE(world.wait(world.client->create(kWrappers, "default", R"({
    "apiVersion":"workload.codeflare.dev/v1beta1","kind":"AppWrapper","metadata":{"name":"w"},
    "spec":{"resources":{"a":1}}})")));
  EXPECT_EQ(
      refusal(world.wait(world.client->patch(kWrappers, {"default", "w"}, kube::PatchKind::merge,
                                             R"({"spec":{"resources":{"a":2}}})"))),
      "accepted");
}

TEST(AppWrapperDefinition, nonsense_is_refused_with_its_field) {
  Server server;
  const auto refused = [&](std::string_view from, std::string_view to, std::string_view words) {
    std::string yaml(kWrapped);
    yaml.replace(yaml.find(from), from.size(), to);
    const std::string got = refusal(server.create(kWrappers, yaml));
    EXPECT_TRUE(got.contains(words)) << got;
  };
  refused("      - replicas: 1\n        limits", "      - replicas: -1\n        limits",
          "spec.resources.GenericItems[0].custompodresources[0].replicas");
  refused("requests: {cpu: 1,", "requests: {cpu: -1x,",
          "spec.resources.GenericItems[0].custompodresources[0].requests.cpu");
  refused("kind: RayCluster", "kind: ''", "spec.resources.GenericItems[0].generictemplate.kind");
  refused("maxNumRequeuings: 3", "growthType: cubic", "spec.schedulingSpec.requeuing.growthType");
  refused("minAvailable: 2", "minAvailable: -2", "spec.schedulingSpec.minAvailable");
  refused("  schedulingSpec:", "  priority: 2147483648\n  schedulingSpec:", "spec.priority");
}

TEST(AppWrapperDefinition, a_whole_status_is_kept) {
  Server server;
  ASSERT_TRUE(server.create(kWrappers, kWrapped).has_value());
  const std::string status = R"({"pending":1,"running":2,"Succeeded":3,"failed":4,"canrun":true,
    "state":"Running","message":"m","systempriority":1.5,"queuejobstate":"Dispatched",
    "controllerfirsttimestamp":"2026-11-15T23:10:18.757696Z",
    "controllerfirstdispatchtimestamp":"2026-11-15T23:10:18.757696Z","filterignore":true,
    "sender":"s","conditions":[{"type":"Queued","status":"True","reason":"Fragmented",
      "message":"m","lastUpdateMicroTime":"2026-11-15T23:10:18.757696Z",
      "lastTransitionMicroTime":"2026-11-15T23:10:18.757696Z"}],
    "pendingpodconditions":[{"podname":"p","conditions":[{"type":"PodScheduled","status":"False"}]}],
    "totalcpu":1,"totalmemory":68719476736,"totalgpu":3,"requeueingTimeInSeconds":4,
    "numberOfRequeueings":5,"plan":{"places":[{"podSet":0,"node":"n","count":1}],
      "started":"2026-11-15T23:10:18.757696Z"},"consumedSeconds":6,
    "finished":"2026-11-15T23:10:18.757696Z","observedGeneration":7})";
  const Result<kube::ObjectRef> written = server.patch(R"({"status":)" + status + "}", "status");
  ASSERT_TRUE(written.has_value()) << written.error().message;
  const Result<json::Document> got = (*written)->parse();
  const Result<json::Document> sent = json::parse(status);
  EXPECT_TRUE(json::equal(*got->root.find("status"), sent->root)) << (*written)->text();
}

TEST(AppWrapperDefinition, people_see_state_and_reason_in_the_table) {
  Server server;
  ASSERT_TRUE(server.create(kWrappers, kWrapped).has_value());
  ASSERT_TRUE(server
                  .patch(R"({"status":{"state":"Pending","queuejobstate":"Backoff","running":0,
    "conditions":[{"type":"Init","status":"True"},
                  {"type":"Queued","status":"True","reason":"InsufficientResources"}]}})",
                         "status")
                  .has_value());
  const Result<kube::Client::RawResponse> table = server.wait(server.client->raw(
      {.target = "/apis/workload.codeflare.dev/v1beta1/namespaces/default/appwrappers",
       .accept = "application/json;as=Table;v=v1;g=meta.k8s.io"}));
  ASSERT_TRUE(table.has_value()) << table.error().message;
  const Result<json::Document> document = json::parse(table->body);
  std::string columns;
  for (const json::Value& column : document->root.find("columnDefinitions")->items()) {
    columns += std::string(column.string_or_empty("name")) + " ";
  }
  EXPECT_EQ(columns, "Name State QueueState Priority Pods Why Age ");
  const std::string cells = json::to_text(*document->root.find("rows")->items()[0].find("cells"));
  EXPECT_TRUE(cells.starts_with(
      R"(["raycluster-complete","Pending","Backoff",null,0,"InsufficientResources",)"))
      << cells;
}

TEST(AppWrapperDefinition, the_legacy_group_serves_the_same) {
  Server server;
  std::string yaml(kWrapped);
  yaml.replace(yaml.find("workload.codeflare.dev"),
               std::string_view("workload.codeflare.dev").size(), "mcad.ibm.com");
  const Result<kube::ObjectRef> made =
      server.create(model::resource_type<model::LegacyAppWrapper>(), yaml);
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_TRUE((*made)->as<model::LegacyAppWrapper>().has_value());
}

TEST(QuotaSubtreeDefinition, a_tree_and_its_status_are_kept) {
  Server server;
  const kube::ResourceType type = model::resource_type<model::QuotaSubtree>();
  const Result<kube::ObjectRef> made = server.create(type, R"(
apiVersion: quota.codeflare.dev/v1alpha1
kind: QuotaSubtree
metadata: {name: context, labels: {tree: quota_context}}
spec:
  parent: root
  children:
  - {name: gold, namespace: ml, quotas: {requests: {cpu: 8, memory: 16Gi}, hardLimit: true}}
  - {name: default, quotas: {requests: {cpu: 0}}}
)");
  ASSERT_TRUE(made.has_value()) << made.error().message;
  const Result<kube::ObjectRef> written = server.wait(server.client->patch(
      type, {"default", "context"}, kube::PatchKind::merge,
      R"({"status":{"totalAllocation":{"cpu":"3"},"children":[{"name":"gold","namespace":"ml",
        "allocated":{"cpu":"3"},"problem":"p"}],"observedGeneration":1}})",
      {.subresource = "status"}));
  ASSERT_TRUE(written.has_value()) << written.error().message;
  const Result<model::QuotaSubtree> typed = (*written)->as<model::QuotaSubtree>();
  ASSERT_TRUE(typed.has_value()) << typed.error().message;
  EXPECT_TRUE(typed->spec.children[0].quotas.hard_limit);
  EXPECT_EQ(typed->status.children[0].allocated.get("cpu"), model::Quantity(3));
}

TEST(QuotaSubtreeDefinition, amounts_that_are_no_limits_are_refused) {
  Server server;
  const auto limited = [&](const std::string& amount) {
    return refusal(server.create(model::resource_type<model::QuotaSubtree>(), R"(
apiVersion: quota.codeflare.dev/v1alpha1
kind: QuotaSubtree
metadata: {generateName: q-}
spec: {children: [{name: a, quotas: {requests: {cpu: )" + amount + "}}}]}"));
  };
  const std::string field = "spec.children[0].quotas.requests.cpu: Invalid value: ";
  EXPECT_TRUE(limited("-1").contains(field + "-1: ")) << limited("-1");
  for (const std::string amount : {"'-1'", "'1e999'", "'1e19'", "'-5e3'", "'many'"}) {
    EXPECT_TRUE(limited(amount).contains(field)) << amount << limited(amount);
  }
  for (const std::string amount :
       {"0", "8", "'8'", "500m", "'1e18'", "'1E+06'", "'2e-3'", "1.5Gi"}) {
    EXPECT_EQ(limited(amount), "accepted") << amount;
  }
}

TEST(RayClusterDefinition, both_versions_serve_one_object_with_kuberays_defaults) {
  Server server;
  const Result<kube::ObjectRef> made =
      server.create({"ray.io", "v1alpha1", "RayCluster", "rayclusters", true}, R"(
apiVersion: ray.io/v1alpha1
kind: RayCluster
metadata: {name: r}
spec:
  gcsFaultToleranceOptions: {redisAddress: 'r:1'}
  headGroupSpec:
    rayStartParams: {dashboard-host: 0.0.0.0}
    template: {spec: {containers: [{name: head, image: i, newField: {a: 1}}]}}
  workerGroupSpecs:
  - {groupName: w, template: {spec: {containers: [{name: w}]}}}
)");
  ASSERT_TRUE(made.has_value()) << made.error().message;
  const Result<model::RayCluster> cluster =
      server.wait(kube::Api<model::RayCluster>(*server.client, "default").get("r"));
  ASSERT_TRUE(cluster.has_value()) << cluster.error().message;
  ASSERT_EQ(cluster->spec.worker_groups.size(), 1u);
  EXPECT_EQ(cluster->spec.worker_groups[0].replicas, 0);
  EXPECT_EQ(cluster->spec.worker_groups[0].max_replicas, 2147483647);
  EXPECT_EQ(cluster->spec.worker_groups[0].num_of_hosts, 1);
  EXPECT_EQ(cluster->spec.extra.find("gcsFaultToleranceOptions"), R"({"redisAddress":"r:1"})");
  EXPECT_EQ(cluster->spec.head_group.pod_template.spec.containers[0].extra.find("newField"),
            R"({"a":1})");
}

}  // namespace
}  // namespace codeflare::controllers
