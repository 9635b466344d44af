#include "apiserver/rest/testing/api_world.h"

#include <gtest/gtest.h>

namespace codeflare::apiserver {
namespace {

const std::string kThings = "/namespaces/default/things";

std::string things(std::string_view version) {
  return "/apis/example.com/" + std::string(version) + kThings;
}

// The effect of a change of the definition: from now on objects are written in that version.
void store_as(ApiWorld& world, std::string_view version) {
  Resource changed = *world.registry().find("example.com", "things");
  const ServedVersion* at = changed.find_version(version);
  changed.storage_version = static_cast<std::size_t>(at - changed.versions.data());
  world.registry().add(std::move(changed));
}

std::string stored_version(ApiWorld& world, std::string_view name) {
  const CollectionId collection = world.store().collection("things.example.com");
  return std::string(world.store().get(collection, "default", name)->api_version());
}

// `a` was written as v1, which is not the storage version any more; `b` was written afterwards.
void make_both(ApiWorld& world) {
  world.add_custom();
  ASSERT_EQ(world.post(things("v1"), R"({"metadata":{"name":"a"},"spec":{"size":1}})").status, 201);
  ASSERT_EQ(stored_version(world, "a"), "example.com/v1");
  store_as(world, "v1beta1");
  ASSERT_EQ(world.post(things("v1"), R"({"metadata":{"name":"b"},"spec":{"size":1}})").status, 201);
  ASSERT_EQ(stored_version(world, "b"), "example.com/v1beta1");
}

TEST(Versions, every_read_shows_the_version_that_was_asked_for) {
  ApiWorld world;
  make_both(world);
  const net::Headers table = {
      {"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}};
  for (const std::string version : {"v1", "v1beta1"}) {
    const std::string expected = "example.com/" + version;
    WatchLines watch = world.watch(things(version) + "?watch=1");
    for (const std::string name : {"a", "b"}) {
      EXPECT_EQ(world.get(things(version) + "/" + name).at("apiVersion"), expected) << name;
      std::optional<Answer> added = watch.next();
      ASSERT_TRUE(added);
      EXPECT_EQ(added->at("object.metadata.name"), name);
      EXPECT_EQ(added->at("object.apiVersion"), expected) << name;
    }
    Answer list = world.get(things(version));
    Answer rows = world.get(things(version) + "?includeObject=Object", table);
    ASSERT_EQ(list.size("items"), 2u);
    for (const std::string at : {"0", "1"}) {
      EXPECT_EQ(list.at("items." + at + ".apiVersion"), expected);
      EXPECT_EQ(rows.at("rows." + at + ".object.apiVersion"), expected);
    }
  }
}

TEST(Versions, a_watch_keeps_its_version_when_the_storage_version_changes) {
  ApiWorld world;
  world.add_custom();
  const std::string labelled = R"({"metadata":{"name":"a","labels":{"x":"1"}}})";
  WatchLines watch = world.watch(things("v1") + "?watch=1&labelSelector=x");
  store_as(world, "v1beta1");
  ASSERT_EQ(world.post(things("v1beta1"), labelled).status, 201);
  EXPECT_EQ(
      world.patch(things("v1beta1") + "/a", "merge", R"({"metadata":{"labels":null}})").status,
      200);
  for (const std::string type : {"ADDED", "DELETED"}) {
    std::optional<Answer> event = watch.next();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->at("type"), type);
    EXPECT_EQ(event->at("object.apiVersion"), "example.com/v1");
  }
}

TEST(Versions, patches_of_every_type_and_version_bring_an_object_up_to_the_storage_version) {
  for (const std::string version : {"v1", "v1beta1"}) {
    const std::string apply = "apiVersion: example.com/" + version +
                              "\nkind: Thing\nmetadata: {name: a}\nspec: {size: 2}\n";
    const std::vector<std::pair<std::string, std::string>> patches = {
        {"merge", R"({"spec":{"size":2}})"},
        {"json", R"([{"op":"replace","path":"/spec/size","value":2}])"},
        {"apply", apply}};
    for (const auto& [type, body] : patches) {
      ApiWorld world;
      make_both(world);
      Answer patched = world.patch(
          things(version) + "/a?fieldManager=m" + (type == "apply" ? "&force=true" : ""), type,
          body);
      EXPECT_EQ(patched.status, 200) << type << patched.body;
      EXPECT_EQ(patched.at("apiVersion"), "example.com/" + version) << type;
      EXPECT_EQ(patched.at("spec.size"), "2") << type;
      EXPECT_EQ(stored_version(world, "a"), "example.com/v1beta1") << type;
    }
  }
}

TEST(Versions, writing_an_old_object_as_it_is_migrates_it_and_once_is_enough) {
  ApiWorld world;
  make_both(world);
  const std::string before = world.get(things("v1") + "/a").body;
  Answer put = world.put(things("v1") + "/a", before);
  EXPECT_EQ(put.status, 200) << put.body;
  EXPECT_EQ(stored_version(world, "a"), "example.com/v1beta1");
  const Revision revision = world.store().revision();
  EXPECT_EQ(world.put(things("v1") + "/a", put.body).status, 200);
  EXPECT_EQ(world.store().revision(), revision) << "nothing was left to write";
}

TEST(Versions, an_old_object_is_deleted_in_any_version) {
  ApiWorld world;
  make_both(world);
  EXPECT_EQ(
      world.patch(things("v1") + "/b", "merge", R"({"metadata":{"finalizers":["x.io/y"]}})").status,
      200);
  store_as(world, "v1");
  Answer marked = world.remove(things("v1beta1") + "/b");
  EXPECT_EQ(marked.at("apiVersion"), "example.com/v1beta1");
  EXPECT_EQ(
      world.patch(things("v1beta1") + "/b", "merge", R"({"metadata":{"finalizers":null}})").status,
      200);
  EXPECT_EQ(world.get(things("v1") + "/b").status, 404);
  EXPECT_EQ(world.remove(things("v1beta1") + "/a").status, 200);
  EXPECT_EQ(world.get(things("v1") + "/a").status, 404);
}

TEST(Terminating, a_definition_that_goes_refuses_what_is_new_and_nothing_else) {
  ApiWorld world;
  world.add_custom();
  ASSERT_EQ(world.post(things("v1"), R"({"metadata":{"name":"a","finalizers":["x.io/y"]}})").status,
            201);
  Resource going = *world.registry().find("example.com", "things");
  going.terminating = true;
  world.registry().add(std::move(going));
  const std::string refused =
      "things.example.com \"new\" is forbidden: create not allowed while custom resource "
      "definition is terminating";
  Answer created = world.post(things("v1"), R"({"metadata":{"name":"new"}})");
  EXPECT_EQ(created.status, 403);
  EXPECT_EQ(created.at("message"), refused);
  Answer applied = world.patch(things("v1") + "/new?fieldManager=m", "apply",
                               "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: new}\n");
  EXPECT_EQ(applied.status, 403);
  EXPECT_EQ(applied.at("message"), refused);
  EXPECT_TRUE(world.get("/apis/example.com/v1")
                  .body.contains(R"("verbs":["delete","deletecollection","get","list","watch"])"));
  // Otherwise finalizers could never be taken off.
  EXPECT_EQ(world.remove(things("v1") + "/a").status, 200);
  EXPECT_EQ(world.patch(things("v1") + "/a", "merge", R"({"metadata":{"finalizers":null}})").status,
            200);
  EXPECT_EQ(world.get(things("v1") + "/a").status, 404);
}

}  // namespace
}  // namespace codeflare::apiserver
