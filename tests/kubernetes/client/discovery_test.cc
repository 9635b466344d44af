#include "kube/discovery.h"

#include "base/metrics.h"
#include "kube/typed.h"
#include "model/codec/core.h"
#include "tests/kubernetes/client/cluster.h"

#include <chrono>

namespace codeflare::kube {
namespace {

const ResourceType kDefinitions{"apiextensions.k8s.io", "v1", "CustomResourceDefinition",
                                "customresourcedefinitions", false};

class DiscoveryTest : public ClusterTest {};

TEST_F(DiscoveryTest, names_of_kubectl_lead_to_the_kinds) {
  Discovery discovery(client());
  const std::pair<const char*, const char*> names[] = {
      {"po", "v1/pods"},
      {"Pod", "v1/pods"},
      {"deploy", "apps/v1/deployments"},
      {"job", "batch/v1/jobs"},
      {"events", "v1/events"},
      {"events.events.k8s.io", "events.k8s.io/v1/events"},
      {"lease", "coordination.k8s.io/v1/leases"}};
  for (auto [name, where] : names) {
    Result<ApiResource> found = run(discovery.find(name));
    ASSERT_TRUE(found) << name << ": " << found.error().to_string();
    EXPECT_EQ(found->type.api_version() + "/" + found->type.plural, where);
  }
  Result<ApiResource> pods = run(discovery.find("pods"));
  EXPECT_EQ(pods->type, kPods);
  EXPECT_TRUE(pods->can("watch"));
  EXPECT_TRUE(pods->has_subresource("log"));
  EXPECT_FALSE(run(discovery.find("nodes"))->type.namespaced);
  EXPECT_TRUE(discovery.failures().empty());
}

TEST_F(DiscoveryTest, an_unchanged_server_says_so_in_two_short_answers) {
  MetricsRegistry metrics;
  Client counted(env(), connection_->service(), {.metrics = &metrics});
  Discovery discovery(counted);
  ASSERT_TRUE(run(discovery.refresh()));
  ASSERT_TRUE(run(discovery.refresh()));
  const std::string text = metrics.expose();
  EXPECT_TRUE(text.contains(R"(rest_client_requests_total{code="200",method="GET",host=""} 2)"))
      << text;
  EXPECT_TRUE(text.contains(R"(rest_client_requests_total{code="304",method="GET",host=""} 2)"))
      << text;
  EXPECT_TRUE(run(discovery.find("pods")));
}

Task<Result<ApiResource>> find_soon(Discovery* discovery, std::string name) {
  while (true) {
    Result<ApiResource> found = co_await discovery->find(name);
    if (found || found.error().code != ErrorCode::not_found) {
      co_return found;
    }
    CO_TRY(co_await sleep_for(std::chrono::milliseconds(100)));
  }
}

TEST_F(DiscoveryTest, a_kind_that_comes_later_is_found_without_a_restart) {
  Discovery discovery(client(), {.refresh_min = std::chrono::milliseconds(100)});
  EXPECT_EQ(outcome(run(discovery.find("gizmos"))), "not_found");
  Result<ObjectRef> made = run(client().create(
      kDefinitions, "",
      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",)"
      R"("metadata":{"name":"gizmos.test.codeflare.dev"},"spec":{"group":"test.codeflare.dev",)"
      R"("scope":"Namespaced","names":{"plural":"gizmos","singular":"gizmo","kind":"Gizmo",)"
      R"("shortNames":["gz"]},"versions":[{"name":"v1","served":true,"storage":true,)"
      R"("schema":{"openAPIV3Schema":{"type":"object"}}}]}})"));
  ASSERT_TRUE(made) << made.error().to_string();
  Result<ApiResource> found =
      run(with_timeout(std::chrono::seconds(30), "the new kind", find_soon(&discovery, "gz")));
  ASSERT_TRUE(found) << found.error().to_string();
  EXPECT_EQ(found->type.api_version(), "test.codeflare.dev/v1");
  EXPECT_EQ(outcome(run(client().remove(kDefinitions, {"", "gizmos.test.codeflare.dev"}))), "ok");
}

TEST_F(DiscoveryTest, typed_calls_go_through_the_codecs) {
  Api<model::ConfigMap> maps(client(), ns_);
  model::ConfigMap map;
  map.metadata.name = "typed";
  map.data["k"] = "1";
  Result<model::ConfigMap> made = run(maps.create(map));
  ASSERT_TRUE(made) << made.error().to_string();
  made->data["k"] = "2";
  EXPECT_EQ(outcome(run(maps.update(*made))), "ok");
  EXPECT_EQ(outcome(run(maps.update(*made))), "conflict") << "the version read is too old now";
  EXPECT_EQ(run(maps.get("typed"))->data.at("k"), "2");
  map.data = {{"applied", "3"}};
  Result<model::ConfigMap> applied = run(maps.apply(map, {.field_manager = "test"}));
  ASSERT_TRUE(applied) << applied.error().to_string();
  EXPECT_EQ(applied->data.size(), 2u);
  EXPECT_EQ(outcome(run(maps.remove("typed"))), "ok");
}

}  // namespace
}  // namespace codeflare::kube
