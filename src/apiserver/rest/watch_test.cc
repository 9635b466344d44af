#include "apiserver/rest/testing/api_world.h"

#include <gtest/gtest.h>

namespace codeflare::apiserver {
namespace {

const std::string kMaps = "/api/v1/namespaces/default/configmaps";

void make(ApiWorld& world, std::string_view name, std::string_view meta = "") {
  Answer made = world.post(
      kMaps, "{\"metadata\":{\"name\":\"" + std::string(name) + "\"" + std::string(meta) + "}}");
  ASSERT_EQ(made.status, 201) << made.body;
}

TEST(Watch, without_a_version_begins_with_what_is_there) {
  ApiWorld world;
  make(world, "a");
  WatchLines watch = world.watch(kMaps + "?watch=true");
  EXPECT_EQ(watch.status(), 200);
  EXPECT_EQ(watch.next_text(), "ADDED a");
  make(world, "b");
  EXPECT_EQ(watch.next_text(), "ADDED b");
  world.put(kMaps + "/a", R"({"metadata":{"name":"a"},"data":{"k":"v"}})");
  EXPECT_EQ(watch.next_text(), "MODIFIED a");
  world.remove(kMaps + "/a");
  std::optional<Answer> gone = watch.next();
  ASSERT_TRUE(gone);
  EXPECT_EQ(gone->at("type"), "DELETED");
  EXPECT_EQ(gone->at("object.data.k"), "v");
  EXPECT_EQ(gone->at("object.metadata.resourceVersion"), "5") << "the deletion's own version";
}

TEST(Watch, resumes_behind_a_version) {
  ApiWorld world;
  make(world, "a");
  make(world, "b");
  make(world, "c");
  WatchLines watch = world.watch(kMaps + "?watch=1&resourceVersion=2");
  EXPECT_EQ(watch.next_text(), "ADDED b");
  EXPECT_EQ(watch.next_text(), "ADDED c");
}

TEST(Watch, sees_its_namespace_only) {
  ApiWorld world;
  WatchLines watch = world.watch(kMaps + "?watch=1");
  world.post("/api/v1/namespaces/other/configmaps", R"({"metadata":{"name":"x"}})");
  make(world, "a");
  EXPECT_EQ(watch.next_text(), "ADDED a");
}

TEST(Watch, behind_the_history_is_410_before_the_stream) {
  ApiWorld world;
  make(world, "a");
  make(world, "b");
  world.store().forget(3);
  WatchLines watch = world.watch(kMaps + "?watch=1&resourceVersion=1");
  EXPECT_EQ(watch.status(), 410);
}

TEST(Watch, objects_that_enter_and_leave_a_selection_are_added_and_deleted) {
  ApiWorld world;
  make(world, "a");
  WatchLines watch = world.watch(kMaps + "?watch=1&resourceVersion=2&labelSelector=x%3D1");
  world.patch(kMaps + "/a", "merge", R"({"metadata":{"labels":{"x":"1"}},"data":{"k":"1"}})");
  EXPECT_EQ(watch.next_text(), "ADDED a");
  world.patch(kMaps + "/a", "merge", R"({"data":{"k":"2"}})");
  EXPECT_EQ(watch.next_text(), "MODIFIED a");
  world.patch(kMaps + "/a", "merge", R"({"metadata":{"labels":{"x":"2"}},"data":{"k":"3"}})");
  std::optional<Answer> left = watch.next();
  ASSERT_TRUE(left);
  EXPECT_EQ(left->at("type"), "DELETED");
  EXPECT_EQ(left->at("object.data.k"), "2") << "the state that was selected";
  EXPECT_EQ(left->at("object.metadata.resourceVersion"), "5");
  world.remove(kMaps + "/a");
  make(world, "b", R"(,"labels":{"x":"1"})");
  EXPECT_EQ(watch.next_text(), "ADDED b") << "what was not selected is not deleted";
}

TEST(Watch, bookmarks_come_every_minute_and_before_the_end) {
  ApiWorld world;
  WatchLines watch =
      world.watch(kMaps + "?watch=1&resourceVersion=1&allowWatchBookmarks=true&timeoutSeconds=100");
  const Instant begun = world.env().clock.now();
  world.post("/api/v1/namespaces/default/secrets", R"({"metadata":{"name":"x"}})");
  std::optional<Answer> bookmark = watch.next();
  ASSERT_TRUE(bookmark);
  EXPECT_EQ(bookmark->at("type"), "BOOKMARK");
  EXPECT_EQ(bookmark->at("object.kind"), "ConfigMap");
  EXPECT_EQ(bookmark->at("object.metadata.resourceVersion"), "2");
  EXPECT_GE(world.env().clock.now() - begun, std::chrono::seconds(59));
  EXPECT_EQ(watch.next_text(), "BOOKMARK");
  EXPECT_GE(world.env().clock.now() - begun, std::chrono::seconds(97));
  EXPECT_EQ(watch.next_text(), "end");
  EXPECT_LE(world.env().clock.now() - begun, std::chrono::seconds(101));
}

TEST(Watch, ends_with_the_last_event_when_its_resource_is_no_longer_served) {
  ApiWorld world;
  world.add_custom();
  StopSource gone;
  Resource resource = *world.registry().find("example.com", "things");
  resource.gone = gone.token();
  world.registry().add(std::move(resource));
  const std::string things = "/apis/example.com/v1/namespaces/default/things";
  WatchLines behind = world.watch(things + "?watch=1&resourceVersion=1");
  ASSERT_EQ(world.post(things, R"({"metadata":{"name":"a"}})").status, 201);
  WatchLines watch = world.watch(things + "?watch=1&resourceVersion=1");
  EXPECT_EQ(watch.next_text(), "ADDED a");
  const Instant begun = world.env().clock.now();
  gone.request_stop();
  EXPECT_EQ(watch.next_text(), "end");
  EXPECT_EQ(behind.next_text(), "ADDED a");
  EXPECT_EQ(behind.next_text(), "end");
  EXPECT_LT(world.env().clock.now() - begun, std::chrono::seconds(1));
}

TEST(Watch, a_short_one_has_its_bookmark_before_the_end_too) {
  ApiWorld world;
  const Instant begun = world.env().clock.now();
  WatchLines watch =
      world.watch(kMaps + "?watch=1&resourceVersion=1&allowWatchBookmarks=true&timeoutSeconds=30");
  world.post("/api/v1/namespaces/default/secrets", R"({"metadata":{"name":"x"}})");
  std::optional<Answer> bookmark = watch.next();
  ASSERT_TRUE(bookmark);
  EXPECT_EQ(bookmark->at("type"), "BOOKMARK");
  EXPECT_EQ(bookmark->at("object.metadata.resourceVersion"), "2");
  EXPECT_GE(world.env().clock.now() - begun, std::chrono::seconds(27));
  EXPECT_EQ(watch.next_text(), "end");
  EXPECT_LE(world.env().clock.now() - begun, std::chrono::seconds(31));
}

TEST(Watch, without_bookmarks_it_is_silent_until_its_end) {
  ApiWorld world;
  WatchLines watch = world.watch(kMaps + "?watch=1&resourceVersion=1&timeoutSeconds=300");
  const Instant begun = world.env().clock.now();
  EXPECT_EQ(watch.next_text(), "end");
  EXPECT_GE(world.env().clock.now() - begun, std::chrono::seconds(299));
}

TEST(Watch, lasts_half_an_hour_to_an_hour_by_itself) {
  ApiWorld world;
  WatchLines watch = world.watch(kMaps + "?watch=1&resourceVersion=1");
  const Instant begun = world.env().clock.now();
  EXPECT_EQ(watch.next_text(), "end");
  EXPECT_GE(world.env().clock.now() - begun, std::chrono::minutes(30));
  EXPECT_LE(world.env().clock.now() - begun, std::chrono::minutes(61));
}

TEST(WatchList, sends_the_state_then_a_bookmark_then_changes) {
  ApiWorld world;
  make(world, "a");
  make(world, "b");
  WatchLines watch = world.watch(kMaps +
                                 "?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&"
                                 "resourceVersionMatch=NotOlderThan");
  EXPECT_EQ(watch.next_text(), "ADDED a");
  EXPECT_EQ(watch.next_text(), "ADDED b");
  std::optional<Answer> end = watch.next();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->at("type"), "BOOKMARK");
  EXPECT_EQ(end->at("object.metadata.annotations.k8s.io/initial-events-end"), "true");
  EXPECT_EQ(end->at("object.metadata.resourceVersion"), "3");
  make(world, "c");
  EXPECT_EQ(watch.next_text(), "ADDED c");
}

TEST(WatchList, must_say_how_new_the_state_shall_be) {
  ApiWorld world;
  Answer wrong = world.get(kMaps + "?watch=1&sendInitialEvents=true");
  EXPECT_EQ(wrong.status, 422);
  EXPECT_EQ(world.get(kMaps + "?watch=1&resourceVersionMatch=NotOlderThan").status, 422);
}

TEST(WatchViews, tables_say_their_columns_once) {
  ApiWorld world;
  make(world, "a");
  make(world, "b");
  WatchLines watch =
      world.watch(kMaps + "?watch=1", {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}});
  std::optional<Answer> first = watch.next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->at("object.kind"), "Table");
  EXPECT_GT(first->size("object.columnDefinitions"), 0u);
  EXPECT_EQ(first->at("object.rows.0.cells.0"), "a");
  EXPECT_EQ(first->at("object.metadata.resourceVersion"),
            first->at("object.rows.0.object.metadata.resourceVersion"));
  std::optional<Answer> second = watch.next();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->at("object.metadata.resourceVersion"),
            world.get(kMaps + "/b").at("metadata.resourceVersion"));
  EXPECT_EQ(second->size("object.columnDefinitions"), 0u);
  EXPECT_EQ(second->at("object.rows.0.cells.0"), "b");
}

TEST(WatchViews, metadata_alone) {
  ApiWorld world;
  make(world, "a");
  WatchLines watch =
      world.watch(kMaps + "?watch=1",
                  {{"Accept", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"}});
  std::optional<Answer> event = watch.next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->at("object.kind"), "PartialObjectMetadata");
  EXPECT_EQ(event->at("object.metadata.name"), "a");
}

TEST(WatchViews, of_another_version_are_converted) {
  ApiWorld world;
  world.add_custom();
  WatchLines watch = world.watch("/apis/example.com/v1beta1/things?watch=1");
  WatchLines other = world.watch("/apis/example.com/v1beta1/things?watch=1");
  world.post("/apis/example.com/v1/namespaces/default/things", R"({"metadata":{"name":"a"}})");
  EXPECT_EQ(watch.next()->at("object.apiVersion"), "example.com/v1beta1");
  EXPECT_EQ(other.next()->at("object.apiVersion"), "example.com/v1beta1");
}

TEST(Watch, ends_when_the_service_closes) {
  ApiWorld world;
  WatchLines watch = world.watch(kMaps + "?watch=1&resourceVersion=1");
  world.run([](ApiService& service) -> Task<int> {
    co_await service.close();
    co_return 0;
  }(world.service()));
  EXPECT_EQ(watch.next_text(), "end");
  EXPECT_EQ(world.get(kMaps).status, 503);
}

TEST(Watch, a_slow_reader_gets_everything_in_order) {
  ApiWorld world;
  WatchLines watch = world.watch(kMaps + "?watch=1&resourceVersion=1");
  for (int i = 0; i < 300; ++i) {
    make(world, "m" + std::to_string(i));
  }
  for (int i = 0; i < 300; ++i) {
    ASSERT_EQ(watch.next_text(), "ADDED m" + std::to_string(i));
  }
}

TEST(Watch, history_lost_behind_a_reader_is_told_in_the_stream) {
  ApiWorld world;
  WatchLines watch = world.watch(kMaps + "?watch=1&resourceVersion=1");
  make(world, "a");
  make(world, "b");
  world.store().forget(3);
  std::optional<Answer> event = watch.next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->at("type"), "ERROR");
  EXPECT_EQ(event->at("object.code"), "410");
  EXPECT_EQ(event->at("object.reason"), "Expired");
  EXPECT_EQ(watch.next_text(), "end");
}

TEST(Watch, one_object_by_its_name) {
  ApiWorld world;
  make(world, "a");
  WatchLines watch = world.watch(kMaps + "?watch=1&fieldSelector=metadata.name%3Db");
  make(world, "b");
  EXPECT_EQ(watch.next_text(), "ADDED b");
  WatchLines old = world.watch("/api/v1/watch/namespaces/default/configmaps/a");
  EXPECT_EQ(old.next_text(), "ADDED a");
}

TEST(Watch, finds_the_few_it_selects_among_many) {
  ApiWorld world;
  for (int i = 0; i < 700; ++i) {
    make(world, "m" + std::to_string(i));
  }
  make(world, "z", R"(,"labels":{"x":"1"})");
  WatchLines watch = world.watch(kMaps + "?watch=1&labelSelector=x");
  EXPECT_EQ(watch.next_text(), "ADDED z");
}

}  // namespace
}  // namespace codeflare::apiserver
