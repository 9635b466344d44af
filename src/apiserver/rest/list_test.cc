#include "apiserver/rest/testing/api_world.h"

#include <gtest/gtest.h>

namespace codeflare::apiserver {
namespace {

const std::string kMaps = "/api/v1/namespaces/default/configmaps";

void make(ApiWorld& world, std::string_view name, std::string_view meta = "",
          std::string_view ns = "default") {
  Answer made = world.post(
      "/api/v1/namespaces/" + std::string(ns) + "/configmaps",
      "{\"metadata\":{\"name\":\"" + std::string(name) + "\"" + std::string(meta) + "}}");
  ASSERT_EQ(made.status, 201) << made.body;
}

std::string names(const Answer& list) {
  std::string out;
  for (std::size_t i = 0; i < list.size("items"); ++i) {
    out += (i == 0 ? "" : " ") + list.at("items." + std::to_string(i) + ".metadata.name");
  }
  return out;
}

TEST(List, holds_kind_version_and_the_stores_revision) {
  ApiWorld world;
  Answer list = world.get(kMaps);
  EXPECT_EQ(list.status, 200);
  EXPECT_EQ(list.body,
            "{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":"
            "\"1\"},\"items\":[]}\n");
  make(world, "a");
  list = world.get(kMaps);
  EXPECT_EQ(list.at("metadata.resourceVersion"), "2");
  EXPECT_EQ(names(list), "a");
}

TEST(List, of_a_namespace_and_of_all) {
  ApiWorld world;
  make(world, "b");
  make(world, "a", "", "other");
  EXPECT_EQ(names(world.get(kMaps)), "b");
  EXPECT_EQ(names(world.get("/api/v1/configmaps")), "b a");
}

TEST(List, selects_by_labels) {
  ApiWorld world;
  make(world, "a", R"(,"labels":{"app":"x"})");
  make(world, "b", R"(,"labels":{"app":"y"})");
  make(world, "c");
  EXPECT_EQ(names(world.get(kMaps + "?labelSelector=app%3Dx")), "a");
  EXPECT_EQ(names(world.get(kMaps + "?labelSelector=app!%3Dx")), "b c");
  EXPECT_EQ(names(world.get(kMaps + "?labelSelector=app%20in%20(x,y)")), "a b");
  EXPECT_EQ(names(world.get(kMaps + "?labelSelector=!app")), "c");
  EXPECT_EQ(world.get(kMaps + "?labelSelector=a%3D%3D%3Db").status, 400);
}

TEST(List, selects_by_fields) {
  ApiWorld world;
  make(world, "a");
  make(world, "b");
  EXPECT_EQ(names(world.get(kMaps + "?fieldSelector=metadata.name%3Db")), "b");
  EXPECT_EQ(names(world.get(kMaps + "?fieldSelector=metadata.name!%3Db")), "a");
  Answer wrong = world.get(kMaps + "?fieldSelector=spec.x%3Db");
  EXPECT_EQ(wrong.status, 400);
  EXPECT_TRUE(wrong.at("message").contains("is not a known field selector"));
  EXPECT_EQ(world.get("/api/v1/pods?fieldSelector=spec.x%3Db").at("message"),
            "field label not supported: spec.x");
}

TEST(List, selects_pods_by_node_and_phase) {
  ApiWorld world;
  for (const char* name : {"a", "b"}) {
    const std::string node = name == std::string_view("a") ? R"(,"nodeName":"n1")" : "";
    ASSERT_EQ(world
                  .post("/api/v1/namespaces/default/pods",
                        "{\"metadata\":{\"name\":\"" + std::string(name) +
                            "\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]" +
                            node + "}}")
                  .status,
              201);
  }
  EXPECT_EQ(names(world.get("/api/v1/pods?fieldSelector=spec.nodeName%3Dn1")), "a");
  EXPECT_EQ(names(world.get("/api/v1/pods?fieldSelector=spec.nodeName%3D")), "b");
  EXPECT_EQ(names(world.get("/api/v1/pods?fieldSelector=status.phase%3DPending")), "a b");
  EXPECT_EQ(names(world.get("/api/v1/pods?fieldSelector=spec.hostNetwork%3Dfalse")), "a b");
}

TEST(Pages, walk_the_whole_list_at_one_revision) {
  ApiWorld world;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    make(world, name);
  }
  Answer first = world.get(kMaps + "?limit=2");
  EXPECT_EQ(names(first), "a b");
  EXPECT_EQ(first.at("metadata.remainingItemCount"), "3");
  EXPECT_EQ(first.at("metadata.resourceVersion"), "6");
  world.remove(kMaps + "/c");
  make(world, "bb");
  Answer second = world.get(kMaps + "?limit=2&continue=" + first.at("metadata.continue"));
  EXPECT_EQ(names(second), "c d");
  EXPECT_EQ(second.at("metadata.resourceVersion"), "6");
  Answer third = world.get(kMaps + "?limit=2&continue=" + second.at("metadata.continue"));
  EXPECT_EQ(names(third), "e");
  EXPECT_EQ(third.at("metadata.continue"), "<absent>");
  EXPECT_EQ(third.at("metadata.remainingItemCount"), "<absent>");
}

TEST(Pages, with_a_selector_do_not_count_what_remains) {
  ApiWorld world;
  for (const char* name : {"a", "b", "c"}) {
    make(world, name, R"(,"labels":{"x":"1"})");
  }
  Answer first = world.get(kMaps + "?limit=2&labelSelector=x");
  EXPECT_EQ(names(first), "a b");
  EXPECT_EQ(first.at("metadata.remainingItemCount"), "<absent>");
  EXPECT_NE(first.at("metadata.continue"), "<absent>");
}

TEST(Pages, an_expired_token_comes_with_one_that_goes_on) {
  ApiWorld world;
  for (const char* name : {"a", "b", "c"}) {
    make(world, name);
  }
  Answer first = world.get(kMaps + "?limit=1");
  make(world, "d");
  world.store().forget(world.store().revision());
  Answer gone = world.get(kMaps + "?limit=5&continue=" + first.at("metadata.continue"));
  EXPECT_EQ(gone.status, 410);
  EXPECT_EQ(gone.at("reason"), "Expired");
  Answer rest = world.get(kMaps + "?limit=5&continue=" + gone.at("metadata.continue"));
  EXPECT_EQ(rest.status, 200);
  EXPECT_EQ(names(rest), "b c d");
}

TEST(Pages, a_limit_below_nothing_is_none) {
  ApiWorld world;
  make(world, "a");
  make(world, "b");
  EXPECT_EQ(names(world.get(kMaps + "?limit=-1")), "a b");
}

TEST(Pages, a_token_of_somebody_else_is_400) {
  ApiWorld world;
  EXPECT_EQ(world.get(kMaps + "?continue=abc").status, 400);
  EXPECT_EQ(world.get(kMaps + "?limit=x").status, 400);
}

TEST(ListVersion, exact_shows_the_past) {
  ApiWorld world;
  make(world, "a");
  make(world, "b");
  Answer old = world.get(kMaps + "?resourceVersion=2&resourceVersionMatch=Exact");
  EXPECT_EQ(names(old), "a");
  EXPECT_EQ(old.at("metadata.resourceVersion"), "2");
  // With a limit and no match the version is meant exactly, too.
  EXPECT_EQ(names(world.get(kMaps + "?resourceVersion=2&limit=5")), "a");
}

TEST(ListVersion, not_older_than_and_unset_show_the_present) {
  ApiWorld world;
  make(world, "a");
  make(world, "b");
  EXPECT_EQ(names(world.get(kMaps + "?resourceVersion=2")), "a b");
  EXPECT_EQ(names(world.get(kMaps + "?resourceVersion=2&resourceVersionMatch=NotOlderThan")),
            "a b");
  Answer any = world.get(kMaps + "?resourceVersion=0&limit=1");
  EXPECT_EQ(names(any), "a b") << "the limit does not count";
}

TEST(ListVersion, exact_beyond_the_history_is_410) {
  ApiWorld world;
  make(world, "a");
  make(world, "b");
  world.store().forget(3);
  Answer old = world.get(kMaps + "?resourceVersion=2&resourceVersionMatch=Exact");
  EXPECT_EQ(old.status, 410);
  EXPECT_EQ(old.at("reason"), "Expired");
}

TEST(ListVersion, one_from_the_future_waits_three_seconds_then_504) {
  ApiWorld world;
  const Instant begun = world.env().clock.now();
  Answer late = world.get(kMaps + "?resourceVersion=99");
  EXPECT_EQ(late.status, 504);
  EXPECT_EQ(late.at("reason"), "Timeout");
  EXPECT_EQ(late.at("message"), "Timeout: Too large resource version: 99, current: 1");
  EXPECT_EQ(late.at("details.causes.0.reason"), "ResourceVersionTooLarge");
  EXPECT_EQ(late.at("details.retryAfterSeconds"), "1");
  EXPECT_GE(world.env().clock.now() - begun, std::chrono::seconds(3));
}

TEST(ListVersion, forbidden_combinations_are_422) {
  ApiWorld world;
  Answer wrong = world.get(kMaps + "?resourceVersionMatch=Exact");
  EXPECT_EQ(wrong.status, 422);
  EXPECT_EQ(wrong.at("details.causes.0.message"),
            "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided");
  EXPECT_EQ(world.get(kMaps + "?resourceVersion=0&resourceVersionMatch=Exact").status, 422);
  EXPECT_EQ(world.get(kMaps + "?resourceVersion=1&resourceVersionMatch=Some").status, 422);
  EXPECT_EQ(world.get(kMaps + "?sendInitialEvents=true").status, 422);
  EXPECT_EQ(world.get(kMaps + "?resourceVersion=x").status, 400);
}

TEST(Views, a_table_has_columns_rows_and_metadata) {
  ApiWorld world;
  make(world, "a");
  const net::Headers table = {
      {"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}};
  Answer list = world.get(kMaps, table);
  EXPECT_EQ(list.at("kind"), "Table");
  EXPECT_EQ(list.at("apiVersion"), "meta.k8s.io/v1");
  EXPECT_EQ(list.at("metadata.resourceVersion"), "2");
  EXPECT_EQ(list.at("columnDefinitions.0.name"), "Name");
  EXPECT_EQ(list.at("rows.0.cells.0"), "a");
  EXPECT_EQ(list.at("rows.0.object.kind"), "PartialObjectMetadata");
  EXPECT_EQ(list.at("rows.0.object.metadata.name"), "a");
  EXPECT_EQ(world.get(kMaps + "?includeObject=Object", table).at("rows.0.object.kind"),
            "ConfigMap");
  EXPECT_EQ(world.get(kMaps + "?includeObject=None", table).at("rows.0.object"), "<absent>");
  EXPECT_EQ(world.get(kMaps + "?includeObject=Some", table).status, 422);
  EXPECT_EQ(world.get(kMaps + "/a", table).at("rows.0.cells.0"), "a");
}

TEST(Views, metadata_alone) {
  ApiWorld world;
  make(world, "a");
  Answer one = world.get(
      kMaps + "/a", {{"Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"}});
  EXPECT_EQ(one.at("kind"), "PartialObjectMetadata");
  EXPECT_EQ(one.at("metadata.name"), "a");
  EXPECT_EQ(one.at("data"), "<absent>");
  Answer list = world.get(
      kMaps, {{"Accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"}});
  EXPECT_EQ(list.at("kind"), "PartialObjectMetadataList");
  EXPECT_EQ(list.at("items.0.kind"), "PartialObjectMetadata");
}

TEST(Views, what_is_not_offered_is_406_and_json_is_always_offered) {
  ApiWorld world;
  Answer got = world.get(kMaps, {{"Accept", "application/vnd.kubernetes.protobuf"}});
  EXPECT_EQ(got.status, 406);
  EXPECT_EQ(got.at("reason"), "NotAcceptable");
  EXPECT_EQ(
      world.get(kMaps, {{"Accept", "application/vnd.kubernetes.protobuf,application/json"}}).status,
      200);
  EXPECT_EQ(world.get(kMaps, {{"Accept", "application/vnd.kubernetes.protobuf, */*"}}).status, 200);
}

TEST(Views, two_versions_of_a_custom_resource_differ_in_their_version_alone) {
  ApiWorld world;
  world.add_custom();
  const std::string path = "/namespaces/default/things";
  ASSERT_EQ(
      world
          .post("/apis/example.com/v1beta1" + path,
                R"({"apiVersion":"example.com/v1beta1","kind":"Thing","metadata":{"name":"a"}})")
          .at("apiVersion"),
      "example.com/v1beta1");
  EXPECT_EQ(world.get("/apis/example.com/v1" + path + "/a").at("apiVersion"), "example.com/v1");
  EXPECT_EQ(world.get("/apis/example.com/v1beta1" + path).at("items.0.apiVersion"),
            "example.com/v1beta1");
}

}  // namespace
}  // namespace codeflare::apiserver
