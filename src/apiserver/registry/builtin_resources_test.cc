#include "apiserver/registry/builtin_data.h"
#include "apiserver/registry/registry.h"
#include "json/parse.h"
#include "json/write.h"

#include <gtest/gtest.h>

#include <map>

namespace codeflare::apiserver {
namespace {

struct World {
  World() {
    add_builtin_resources(
        registry,
        [this](std::string_view name) {
          return collections.try_emplace(std::string(name), collections.size() + 1).first->second;
        },
        {});
  }
  std::map<std::string, CollectionId, std::less<>> collections;
  Registry registry;
};

json::Document parse(std::string_view text) {
  Result<json::Document> document = json::parse(text);
  EXPECT_TRUE(document.has_value());
  return *std::move(document);
}

TEST(BuiltinResources, pods_have_status_and_selectable_fields) {
  World world;
  ResourcePtr pods = world.registry.find("", "v1", "pods");
  ASSERT_NE(pods, nullptr);
  EXPECT_EQ(pods->kind, "Pod");
  EXPECT_TRUE(pods->namespaced);
  EXPECT_TRUE(pods->versions[0].has_status);
  EXPECT_NE(pods->versions[0].schema, nullptr);
  EXPECT_FALSE(pods->versions[0].selectable_fields.empty());
  EXPECT_TRUE(pods->strategy->generation());
}

TEST(BuiltinResources, autoscalers_are_stored_as_v2_and_served_as_v1) {
  World world;
  ResourcePtr autoscalers = world.registry.find("autoscaling", "horizontalpodautoscalers");
  ASSERT_NE(autoscalers, nullptr);
  EXPECT_EQ(autoscalers->storage_api_version(), "autoscaling/v2");
  EXPECT_NE(autoscalers->find_version("v1"), nullptr);
}

TEST(BuiltinResources, endpoints_say_what_to_use_instead) {
  World world;
  const ResourcePtr endpoints = world.registry.find("", "endpoints");
  ASSERT_NE(endpoints, nullptr);
  EXPECT_TRUE(endpoints->versions[0].deprecated);
  EXPECT_TRUE(endpoints->versions[0].deprecation_warning.ends_with("EndpointSlice"));
  EXPECT_FALSE(world.registry.find("", "services")->versions[0].deprecated);
}

TEST(BuiltinResources, both_event_resources_share_one_collection) {
  World world;
  ResourcePtr core = world.registry.find("", "events");
  ResourcePtr events = world.registry.find("events.k8s.io", "events");
  ASSERT_NE(core, nullptr);
  ASSERT_NE(events, nullptr);
  EXPECT_EQ(core->collection, events->collection);
  EXPECT_EQ(events->storage_api_version(), "v1");
}

TEST(BuiltinResources, events_convert_there_and_back_without_loss) {
  const std::string text =
      R"({"apiVersion":"v1","involvedObject":{"name":"p"},"message":"m","count":2,)"
      R"("reportingComponent":"c","source":{"component":"k"},"eventTime":null})";
  json::Document event = parse(text);
  ASSERT_TRUE(
      builtin::convert_event(event.arena, event.root, "v1", "events.k8s.io/v1").has_value());
  EXPECT_EQ(event.root.string_or_empty("note"), "m");
  EXPECT_NE(event.root.get({"regarding", "name"}), nullptr);
  EXPECT_NE(event.root.find("deprecatedSource"), nullptr);
  EXPECT_EQ(event.root.find("message"), nullptr);
  ASSERT_TRUE(
      builtin::convert_event(event.arena, event.root, "events.k8s.io/v1", "v1").has_value());
  EXPECT_EQ(json::to_text(event.root), text);
}

TEST(BuiltinResources, autoscalers_convert_there_and_back_without_loss) {
  const std::string text =
      R"({"metadata":{"name":"h"},"spec":{"maxReplicas":3,"metrics":[)"
      R"({"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}},)"
      R"({"type":"Pods","pods":{"metric":{"name":"x"}}}],"behavior":{"scaleUp":{}}},)"
      R"("status":{"currentMetrics":[{"type":"Resource","resource":{"name":"cpu","current":{"averageUtilization":5}}}],)"
      R"("conditions":[{"type":"AbleToScale"}]}})";
  json::Document object = parse(text);
  json::Document expected = parse(text);
  ASSERT_TRUE(
      builtin::convert_autoscaler(object.arena, object.root, "autoscaling/v2", "autoscaling/v1")
          .has_value());
  EXPECT_EQ(object.root.get({"spec", "targetCPUUtilizationPercentage"})->number(), "80");
  EXPECT_EQ(object.root.get({"spec", "metrics"}), nullptr);
  EXPECT_EQ(object.root.get({"status", "currentCPUUtilizationPercentage"})->number(), "5");
  ASSERT_TRUE(
      builtin::convert_autoscaler(object.arena, object.root, "autoscaling/v1", "autoscaling/v2")
          .has_value());
  EXPECT_TRUE(json::equal(object.root, expected.root)) << json::to_text(object.root);
}

TEST(BuiltinResources, names_of_roles_may_hold_colons_and_capitals) {
  World world;
  const Strategy& roles =
      *world.registry.find("rbac.authorization.k8s.io", "clusterroles")->strategy;
  EXPECT_TRUE(roles.check_name("system:Node", false).empty());
  EXPECT_FALSE(roles.check_name("a/b", false).empty());
}

}  // namespace
}  // namespace codeflare::apiserver
