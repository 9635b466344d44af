#include "runtime/store.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace codeflare::runtime {
namespace {

struct Spec {
  std::string name;
  std::string ns = "default";
  int version = 1;
  std::string uid = {};
  std::string team = "blue";
};

ObjectRef object(const Spec& spec) {
  auto made = kube::Object::from_json(
      R"({"metadata":{"name":")" + spec.name + R"(","namespace":")" + spec.ns + R"(","uid":")" +
      (spec.uid.empty() ? "uid-" + spec.name : spec.uid) + R"(","resourceVersion":")" +
      std::to_string(spec.version) + R"(","labels":{"team":")" + spec.team + R"("}}})");
  EXPECT_TRUE(made) << made.error().to_string();
  return *made;
}

std::vector<std::string> names(const std::vector<ObjectRef>& objects) {
  std::vector<std::string> result;
  for (const ObjectRef& each : objects) {
    result.push_back(each->key().to_string());
  }
  return result;
}

void by_labels(const kube::Object& each, std::vector<std::string>& keys) {
  keys.emplace_back(each.labels_json());
}

using Names = std::vector<std::string>;

TEST(Store, lists_all_or_one_namespace_in_key_order) {
  Store store;
  for (const Spec& spec :
       {Spec{"b", "two"}, Spec{"z", "one"}, Spec{"a", "two"}, Spec{"a", "one"}}) {
    store.apply(object(spec));
  }
  EXPECT_EQ(names(store.list()), (Names{"one/a", "one/z", "two/a", "two/b"}));
  EXPECT_EQ(names(store.list("two")), (Names{"two/a", "two/b"}));
  EXPECT_TRUE(store.list("tw").empty());
  EXPECT_EQ(store.get("one", "z")->name(), "z");
  EXPECT_EQ(store.get("one", "b"), nullptr);
}

TEST(Store, keeps_what_it_has_when_the_same_or_an_older_version_comes) {
  Store store;
  ObjectRef first = object({.name = "a", .version = 7});
  EXPECT_TRUE(store.apply(first).changed);
  EXPECT_FALSE(store.apply(object({.name = "a", .version = 7})).changed);
  EXPECT_FALSE(store.apply(object({.name = "a", .version = 6})).changed);
  EXPECT_EQ(store.get("default", "a"), first) << "not held twice";
  Store::Change newer = store.apply(object({.name = "a", .version = 8}));
  EXPECT_TRUE(newer.changed);
  EXPECT_EQ(newer.old, first);
}

TEST(Store, another_object_of_the_same_name_counts_whatever_its_version) {
  Store store;
  store.apply(object({.name = "a", .version = 9}));
  EXPECT_TRUE(store.apply(object({.name = "a", .version = 3, .uid = "another"})).changed);
}

TEST(Store, a_replace_removes_what_the_list_did_not_have_and_keeps_the_rest) {
  Store store;
  for (const char* name : {"a", "b", "c"}) {
    store.apply(object({.name = name}));
  }
  ObjectRef kept = store.get("default", "b");
  store.begin_replace();
  store.apply(object({.name = "b"}));
  store.apply(object({.name = "d", .version = 5}));
  EXPECT_EQ(names(store.end_replace()), (Names{"default/a", "default/c"}));
  EXPECT_EQ(names(store.list()), (Names{"default/b", "default/d"}));
  EXPECT_EQ(store.get("default", "b"), kept);
}

TEST(Store, indexes_follow_changes_and_removals) {
  Store store;
  store.add_index("team", by_labels);
  store.apply(object({.name = "b"}));
  store.apply(object({.name = "a"}));
  store.apply(object({.name = "c", .team = "red"}));
  EXPECT_EQ(names(store.by_index("team", R"({"team":"blue"})")), (Names{"default/a", "default/b"}));
  store.apply(object({.name = "a", .version = 2, .team = "red"}));
  EXPECT_EQ(names(store.by_index("team", R"({"team":"red"})")), (Names{"default/a", "default/c"}));
  store.erase("default", "b");
  EXPECT_TRUE(store.by_index("team", R"({"team":"blue"})").empty());
}

TEST(Store, survives_ten_thousand_changes_of_the_same_keys) {
  Store store;
  for (int i = 1; i <= 10'000; ++i) {
    store.apply(object({.name = "n" + std::to_string(i % 10), .version = i}));
  }
  EXPECT_EQ(store.size(), 10u);
  EXPECT_EQ(store.get("default", "n0")->resource_version(), "10000");
}

}  // namespace
}  // namespace codeflare::runtime
