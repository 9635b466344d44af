#include "apiserver/registry/registry.h"

#include <gtest/gtest.h>

namespace codeflare::apiserver {
namespace {

Resource make(std::string group, std::string plural, std::vector<std::string> versions,
              CollectionId collection, bool custom) {
  Resource resource;
  resource.group = std::move(group);
  resource.plural = std::move(plural);
  resource.kind = resource.plural;
  for (std::string& version : versions) {
    resource.versions.push_back({.version = std::move(version)});
  }
  resource.collection = collection;
  resource.custom = custom;
  return resource;
}

TEST(Registry, finds_only_served_versions) {
  Registry registry;
  Resource resource = make("g", "things", {"v1", "v1beta1"}, 1, true);
  resource.versions[1].served = false;
  registry.add(resource);
  EXPECT_NE(registry.find("g", "v1", "things"), nullptr);
  EXPECT_EQ(registry.find("g", "v1beta1", "things"), nullptr);
  EXPECT_NE(registry.find("g", "things"), nullptr);
  EXPECT_NE(registry.find_kind("g", "v1", "things"), nullptr);
  EXPECT_EQ(registry.find_kind("g", "v2", "things"), nullptr);
  EXPECT_EQ(registry.find_kind("f", "v1", "things"), nullptr);
}

TEST(Registry, a_replaced_resource_lives_on_for_those_who_hold_it) {
  Registry registry;
  registry.add(make("g", "things", {"v1"}, 1, true));
  ResourcePtr old = registry.find("g", "things");
  const std::uint64_t before = registry.generation();
  registry.add(make("g", "things", {"v2"}, 1, true));
  EXPECT_GT(registry.generation(), before);
  EXPECT_EQ(old->versions[0].version, "v1");
  EXPECT_EQ(registry.find(CollectionId{1})->versions[0].version, "v2");
  registry.remove("g", "things");
  EXPECT_EQ(registry.find("g", "things"), nullptr);
  EXPECT_EQ(registry.find(CollectionId{1}), nullptr);
}

TEST(Registry, a_collection_belongs_to_the_view_that_was_added_first) {
  Registry registry;
  registry.add(make("", "events", {"v1"}, 7, false));
  registry.add(make("events.k8s.io", "events", {"v1"}, 7, false));
  EXPECT_EQ(registry.find(CollectionId{7})->group, "");
}

TEST(Registry, groups_come_built_in_first_then_by_name) {
  Registry registry;
  registry.add(make("z.example", "a", {"v1"}, 1, true));
  registry.add(make("", "pods", {"v1"}, 2, false));
  registry.add(make("batch", "jobs", {"v1"}, 3, false));
  registry.add(make("apps", "deployments", {"v1"}, 4, false));
  registry.add(make("a.example", "b", {"v1alpha1", "v1"}, 5, true));
  registry.add(make("a.example", "c", {"v2beta1"}, 6, true));
  std::vector<std::string> names;
  for (const Registry::Group& group : registry.groups()) {
    names.push_back(group.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"", "batch", "apps", "a.example", "z.example"}));
  EXPECT_EQ(registry.groups()[3].versions, (std::vector<std::string>{"v1", "v2beta1", "v1alpha1"}));
  EXPECT_EQ(registry.all().size(), 6u);
}

TEST(Registry, versions_are_ranked_by_stage_then_number) {
  EXPECT_TRUE(version_precedes("v2", "v1"));
  EXPECT_TRUE(version_precedes("v10", "v2"));
  EXPECT_TRUE(version_precedes("v1", "v2beta1"));
  EXPECT_TRUE(version_precedes("v1beta2", "v1beta1"));
  EXPECT_TRUE(version_precedes("v1beta1", "v2alpha1"));
  EXPECT_TRUE(version_precedes("v1alpha1", "foo"));
  EXPECT_TRUE(version_precedes("bar", "foo"));
  EXPECT_FALSE(version_precedes("v0", "v1"));
}

TEST(Strategy, names_are_dns_subdomains_and_prefixes_may_end_in_a_dash) {
  Strategy strategy;
  EXPECT_TRUE(strategy.check_name("a.b", false).empty());
  EXPECT_FALSE(strategy.check_name("A", false).empty());
  EXPECT_FALSE(strategy.check_name("a-", false).empty());
  EXPECT_TRUE(strategy.check_name("a-", true).empty());
}

}  // namespace
}  // namespace codeflare::apiserver
