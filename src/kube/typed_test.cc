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

}  // namespace
}  // namespace codeflare::kube
