#include "kube/typed.h"

#include "base/env/sim_env.h"
#include "kube/testing/scripted_service.h"
#include "model/codec/core.h"
#include "model/codec/node.h"
#include "model/codec/pod.h"

#include <gtest/gtest.h>

namespace codeflare::kube {
namespace {

class TypedTest : public ::testing::Test {
 protected:
  template <typename T>
  T run(Task<T> task) {
    std::optional<T> value = codeflare::run(sim_.env().loop, std::move(task));
    CHECK(value.has_value());
    return *std::move(value);
  }

  SimEnv sim_;
  testing::ScriptedService service_{sim_.env()};
  Client client_{sim_.env(), service_};
};

TEST_F(TypedTest, structs_make_the_round_trip) {
  Api<model::ConfigMap> maps(client_, "a");
  model::ConfigMap map;
  map.metadata.name = "settings";
  map.data["k"] = "v";
  model::ConfigMap made = *run(maps.create(map));
  EXPECT_EQ(made.metadata.ns, "a");
  EXPECT_EQ(made.data.at("k"), "v");

  made.data["k"] = "w";
  EXPECT_EQ(run(maps.update(made))->data.at("k"), "w");
  EXPECT_EQ(run(maps.update(made)).error().code, ErrorCode::conflict);
  EXPECT_EQ(run(maps.patch("settings", PatchKind::merge, R"({"data":{"k":"x"}})"))->data.at("k"),
            "x");
  EXPECT_EQ(run(maps.get("settings"))->data.at("k"), "x");

  map.data = {{"other", "1"}};
  EXPECT_EQ(run(maps.apply(map))->data.size(), 2u);
  EXPECT_EQ(run(maps.list())->items.size(), 1u);
  EXPECT_FALSE(run(maps.remove("settings"))->has_value());
  EXPECT_EQ(run(maps.get("settings")).error().code, ErrorCode::not_found);
}

TEST_F(TypedTest, status_goes_to_its_subresource) {
  Api<model::Pod> pods(client_, "a");
  model::Pod pod;
  pod.metadata.name = "x";
  pod = *run(pods.create(pod));
  pod.status.phase = "Running";
  EXPECT_EQ(run(pods.update(pod))->status.phase, "");
  EXPECT_EQ(run(pods.update_status(pod))->status.phase, "Running");
  EXPECT_TRUE(service_.requests().back().starts_with("PUT /api/v1/namespaces/a/pods/x/status?"));
}

TEST_F(TypedTest, without_a_namespace_lists_see_all_and_writes_use_the_objects_own) {
  Api<model::ConfigMap> all(client_);
  for (const char* ns : {"a", "b"}) {
    model::ConfigMap map;
    map.metadata.name = "m";
    map.metadata.ns = ns;
    EXPECT_TRUE(run(all.create(map)));
  }
  EXPECT_EQ(run(all.list())->items.size(), 2u);
  EXPECT_EQ(run(all.get("m")).error().code, ErrorCode::invalid_argument);
  Api<model::Node> nodes(client_);
  model::Node node;
  node.metadata.name = "n";
  EXPECT_TRUE(run(nodes.create(node)));
  EXPECT_EQ(run(nodes.get("n"))->metadata.name, "n");
}

TEST_F(TypedTest, an_object_that_does_not_fit_its_struct_is_damaged_data) {
  service_.put(model::resource_type<model::ConfigMap>(),
               R"({"metadata":{"name":"m","namespace":"a"},"data":{"k":7}})");
  Api<model::ConfigMap> maps(client_, "a");
  const Error error = run(maps.get("m")).error();
  EXPECT_EQ(error.code, ErrorCode::data_loss);
  EXPECT_TRUE(error.message.starts_with("configmaps \"m\": data[")) << error.message;
}

model::ConfigMap config_map(const std::string& name, const std::string& value) {
  model::ConfigMap map;
  map.metadata.name = name;
  map.data["k"] = value;
  return map;
}

TEST_F(TypedTest, lists_come_page_by_page_where_that_is_asked) {
  Api<model::ConfigMap> maps(client_, "a");
  for (const char* name : {"x", "y", "z"}) {
    ASSERT_TRUE(run(maps.create(config_map(name, "v"))));
  }
  const Api<model::ConfigMap>::List first = *run(maps.list_page({.limit = 2}));
  ASSERT_EQ(first.items.size(), 2u);
  EXPECT_EQ(first.items[1].metadata.name, "y");
  ASSERT_FALSE(first.continue_token.empty());
  const Api<model::ConfigMap>::List rest =
      *run(maps.list_page({.limit = 2, .continue_token = first.continue_token}));
  ASSERT_EQ(rest.items.size(), 1u);
  EXPECT_EQ(rest.items[0].metadata.name, "z");
  EXPECT_EQ(rest.continue_token, "");
  EXPECT_EQ(rest.resource_version, first.resource_version);
}

TEST_F(TypedTest, a_watch_tells_of_changes_as_structs) {
  Api<model::ConfigMap> maps(client_, "a");
  model::ConfigMap map = *run(maps.create(config_map("m", "v")));
  Api<model::ConfigMap>::Watch watch =
      *run(maps.watch({.resource_version = map.metadata.resource_version}));
  map.data["k"] = "w";
  map = *run(maps.update(map));
  Api<model::ConfigMap> elsewhere(client_, "b");
  ASSERT_TRUE(run(elsewhere.create(config_map("not-seen", "v"))));
  ASSERT_TRUE(run(maps.remove("m")));

  using Type = WatchEvent::Type;
  const auto changed = run(watch.next()).value();
  ASSERT_TRUE(changed && changed->object);
  EXPECT_EQ(changed->type, Type::modified);
  EXPECT_EQ(changed->object->data.at("k"), "w");
  EXPECT_EQ(changed->resource_version, map.metadata.resource_version);
  const auto gone = run(watch.next()).value();
  ASSERT_TRUE(gone && gone->object);
  EXPECT_EQ(gone->type, Type::deleted);
  EXPECT_EQ(gone->object->metadata.name, "m");
  // Nothing more happens, so a bookmark comes next; it has no object.
  const auto bookmark = run(watch.next()).value();
  ASSERT_TRUE(bookmark);
  EXPECT_EQ(bookmark->type, Type::bookmark);
  EXPECT_FALSE(bookmark->object);
  service_.end_watches();
  EXPECT_FALSE(run(watch.next()).value());
}

TEST_F(TypedTest, a_watch_goes_on_behind_an_object_that_does_not_fit) {
  Api<model::ConfigMap> maps(client_, "a");
  Api<model::ConfigMap>::Watch watch =
      *run(maps.watch({.resource_version = std::to_string(service_.revision())}));
  service_.put(model::resource_type<model::ConfigMap>(),
               R"({"metadata":{"name":"bad","namespace":"a"},"data":{"k":7}})");
  ASSERT_TRUE(run(maps.create(config_map("good", "v"))));
  EXPECT_EQ(run(watch.next()).error().code, ErrorCode::data_loss);
  const auto next = run(watch.next()).value();
  ASSERT_TRUE(next && next->object);
  EXPECT_EQ(next->object->metadata.name, "good");
}

TEST_F(TypedTest, a_watch_whose_position_is_gone_is_told_so) {
  Api<model::ConfigMap> maps(client_, "a");
  const model::ConfigMap map = *run(maps.create(config_map("m", "v")));
  ASSERT_TRUE(run(maps.create(config_map("n", "v"))));
  service_.compact();
  EXPECT_EQ(run(maps.watch({.resource_version = map.metadata.resource_version})).error().code,
            ErrorCode::expired);
}

TEST_F(TypedTest, a_collection_is_removed_by_its_labels) {
  Api<model::ConfigMap> maps(client_, "a");
  for (const char* name : {"x", "y", "z"}) {
    model::ConfigMap map = config_map(name, "v");
    map.metadata.labels["keep"] = std::string(name) == "y" ? "yes" : "no";
    ASSERT_TRUE(run(maps.create(map)));
  }
  Api<model::ConfigMap> elsewhere(client_, "b");
  model::ConfigMap other = config_map("x", "v");
  other.metadata.labels["keep"] = "no";
  ASSERT_TRUE(run(elsewhere.create(other)));
  ASSERT_TRUE(run(maps.remove_collection({.label_selector = "keep=no"})));
  const Api<model::ConfigMap>::List left = *run(maps.list());
  ASSERT_EQ(left.items.size(), 1u);
  EXPECT_EQ(left.items[0].metadata.name, "y");
  EXPECT_EQ(run(elsewhere.list())->items.size(), 1u);
}

}  // namespace
}  // namespace codeflare::kube
