#include "controllers/crds/ensure_crds.h"

#include "controllers/crds/crds.h"
#include "controllers/crds/testing/server_world.h"
#include "kube/testing/scripted_service.h"
#include "model/codec/custom_resource_definition.h"
#include "model/resources.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::controllers {
namespace {

using namespace std::chrono_literals;

const kube::ResourceType kDefinitions = model::resource_type<model::CustomResourceDefinition>();

std::string names(const std::vector<std::string>& list) {
  std::string out;
  for (const std::string& each : list) {
    out += (out.empty() ? "" : " ") + each;
  }
  return out;
}

std::string text(const Result<CrdReport>& report) {
  return report ? names(report->applied) + " | " + names(report->left_alone)
                : report.error().to_string();
}

// A definition that is another program's.
std::string foreign(std::string_view name, std::string_view group, std::string_view plural,
                    std::string_view kind, std::string_view version) {
  return R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
    "metadata":{"name":")" +
         std::string(name) + R"("},"spec":{"group":")" + std::string(group) +
         R"(","scope":"Namespaced","names":{"plural":")" + std::string(plural) + R"(","kind":")" +
         std::string(kind) + R"("},"versions":[{"name":")" + std::string(version) +
         R"(","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})";
}

const std::string kPlatform =
    "trainingjobs.breezeml.ai applications.codeflare.dev datasets.codeflare.dev "
    "images.codeflare.dev platformreposecrets.codeflare.dev runpolicies.codeflare.dev "
    "runs.codeflare.dev runsizeconfigurations.codeflare.dev "
    "managedclusters.dispatch.codeflare.dev ";
const std::string kBeforeWrappers =
    "machinerequests.scale.codeflare.dev machinetypes.scale.codeflare.dev "
    "usageledgers.usage.codeflare.dev ";

// By the names of their groups these are behind Ray's.
const std::string kMachinesAndUsage =
    "machinerequests.scale.codeflare.dev machinetypes.scale.codeflare.dev "
    "usageledgers.usage.codeflare.dev ";

TEST(EnsureCrds, the_server_serves_what_is_asked_for) {
  ServerWorld world;
  EXPECT_EQ(text(world.wait(ensure_crds(*world.client, {}))),
            kPlatform + "quotasubtrees.quota.codeflare.dev " + kMachinesAndUsage +
                "appwrappers.workload.codeflare.dev | ");
  EXPECT_EQ(
      text(world.wait(ensure_crds(*world.client, {.legacy_group = true, .ray_cluster = true}))),
      kPlatform +
          "appwrappers.mcad.ibm.com quotasubtrees.quota.codeflare.dev rayclusters.ray.io "
          "rayjobs.ray.io " +
          kMachinesAndUsage + "appwrappers.workload.codeflare.dev | ");
  for (const kube::ResourceType& type :
       {kube::ResourceType{"mcad.ibm.com", "v1beta1", "AppWrapper", "appwrappers", true},
        kube::ResourceType{"ray.io", "v1alpha1", "RayCluster", "rayclusters", true}}) {
    EXPECT_TRUE(world.wait(world.client->list(type, {})).has_value()) << type.group;
  }
}

TEST(EnsureCrds, a_second_time_changes_nothing) {
  ServerWorld world;
  ASSERT_TRUE(world.wait(ensure_crds(*world.client, {.ray_cluster = true})).has_value());
  const auto version = [&] {
    const kube::ObjectRef now =
        *world.wait(world.client->get(kDefinitions, {"", std::string(kRayClusterCrd)}));
    return std::string(now->resource_version());
  };
  const std::string before = version();
  ASSERT_TRUE(world.wait(ensure_crds(*world.client, {.ray_cluster = true})).has_value());
  EXPECT_EQ(version(), before);
}

TEST(EnsureCrds, kuberays_own_definition_stays) {
  ServerWorld world;
  ASSERT_TRUE(world.wait(world.client->create(
      kDefinitions, "", foreign(kRayClusterCrd, "ray.io", "rayclusters", "RayCluster", "v1"))));
  ASSERT_TRUE(world.wait(world.client->create(
      kDefinitions, "", foreign(kRayJobCrd, "ray.io", "rayjobs", "RayJob", "v1"))));
  EXPECT_EQ(text(world.wait(ensure_crds(*world.client, {.ray_cluster = true}))),
            kPlatform + "quotasubtrees.quota.codeflare.dev " + kMachinesAndUsage +
                "appwrappers.workload.codeflare.dev | "
                "rayclusters.ray.io rayjobs.ray.io");
}

TEST(EnsureCrds, mcads_own_definition_is_taken_over) {
  ServerWorld world;
  ASSERT_TRUE(world.wait(world.client->create(
      kDefinitions, "",
      foreign(kAppWrapperCrd, "workload.codeflare.dev", "appwrappers", "AppWrapper", "v1beta1"))));
  EXPECT_EQ(text(world.wait(ensure_crds(*world.client, {}))),
            kPlatform + "quotasubtrees.quota.codeflare.dev " + kMachinesAndUsage +
                "appwrappers.workload.codeflare.dev | ");
  const kube::ObjectRef now =
      *world.wait(world.client->get(kDefinitions, {"", std::string(kAppWrapperCrd)}));
  EXPECT_TRUE(now->text().contains("queuejobstate"));
}

TEST(EnsureCrds, a_version_of_another_program_is_not_overwritten) {
  ServerWorld world;
  ASSERT_TRUE(world.wait(world.client->create(
      kDefinitions, "",
      foreign(kAppWrapperCrd, "workload.codeflare.dev", "appwrappers", "AppWrapper", "v1beta2"))));
  const Result<CrdReport> report = world.wait(ensure_crds(*world.client, {}));
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::failed_precondition);
  EXPECT_TRUE(report.error().message.contains("v1beta2")) << report.error().message;
}

TEST(EnsureCrds, versions_of_another_program_stay_beside_ours) {
  for (const bool ours_stores : {false, true}) {
    ServerWorld world;
    std::string two = foreign(kAppWrapperCrd, "workload.codeflare.dev", "appwrappers", "AppWrapper",
                              ours_stores ? "v1beta1" : "v1beta2");
    two.insert(two.rfind("]}}"), R"(,{"name":")" +
                                     std::string(ours_stores ? "v1beta2" : "v1beta1") +
                                     R"(","served":true,"storage":false,"schema":{"openAPIV3Schema":
      {"type":"object","x-kubernetes-preserve-unknown-fields":true}}})");
    ASSERT_TRUE(world.wait(world.client->create(kDefinitions, "", two)));
    for (int turn = 0; turn < 2; ++turn) {
      const Result<CrdReport> report = world.wait(ensure_crds(*world.client, {}));
      ASSERT_TRUE(report) << report.error().to_string();
      ASSERT_EQ(report->shared.size(), 1u);
      EXPECT_EQ(report->shared[0].name, kAppWrapperCrd);
      EXPECT_EQ(names(report->shared[0].versions), "v1beta2");
    }
    const kube::ObjectRef now =
        *world.wait(world.client->get(kDefinitions, {"", std::string(kAppWrapperCrd)}));
    EXPECT_TRUE(now->text().contains("queuejobstate"));
    const auto definition = now->as<model::CustomResourceDefinition>();
    ASSERT_TRUE(definition);
    ASSERT_EQ(definition->spec.versions.size(), 2u);
    for (const auto& version : definition->spec.versions) {
      EXPECT_TRUE(version.served);
      EXPECT_EQ(version.storage, (version.name == "v1beta1") == ours_stores) << version.name;
    }
    // Both are served, and the plan survives.
    for (const char* version : {"v1beta1", "v1beta2"}) {
      const kube::ResourceType type{"workload.codeflare.dev", version, "AppWrapper", "appwrappers",
                                    true};
      EXPECT_TRUE(world.wait(world.client->list(type, {})).has_value()) << version;
    }
  }
}

TEST(EnsureCrds, without_the_right_to_change_them_those_that_are_there_will_do) {
  ServerWorld world;
  ASSERT_TRUE(world.wait(ensure_crds(*world.client, {})).has_value());
  const kube::ResourceType roles{"rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles",
                                 false};
  const kube::ResourceType bindings{"rbac.authorization.k8s.io", "v1", "ClusterRoleBinding",
                                    "clusterrolebindings", false};
  ASSERT_TRUE(world.wait(world.client->create(roles, "", R"({
    "apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"look"},
    "rules":[{"apiGroups":["apiextensions.k8s.io"],"resources":["customresourcedefinitions"],
              "verbs":["get"]}]})")));
  ASSERT_TRUE(world.wait(world.client->create(bindings, "", R"({
    "apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding",
    "metadata":{"name":"look"},"subjects":[{"kind":"User","name":"eve",
      "apiGroup":"rbac.authorization.k8s.io"}],
    "roleRef":{"kind":"ClusterRole","name":"look","apiGroup":"rbac.authorization.k8s.io"}})")));
  net::InProcessService service(world.server->service(), ServerWorld::identity("eve"));
  kube::Client eve(world.sim.env(), service);
  EXPECT_EQ(text(world.wait(ensure_crds(eve, {}))),
            " | " + kPlatform + "quotasubtrees.quota.codeflare.dev " + kMachinesAndUsage +
                "appwrappers.workload.codeflare.dev");
  EXPECT_EQ(world.wait(ensure_crds(eve, {.legacy_group = true})).error().code,
            ErrorCode::permission_denied);
}

TEST(EnsureCrds, a_server_that_never_serves_them_is_given_up) {
  SimEnv sim;
  kube::testing::ScriptedService service{sim.env()};  // stores definitions, establishes none
  kube::Client client(sim.env(), service);
  const Result<CrdReport> report = *run(sim.env().loop, ensure_crds(client, {.timeout = 5s}));
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::deadline_exceeded) << report.error().to_string();
}

}  // namespace
}  // namespace codeflare::controllers
