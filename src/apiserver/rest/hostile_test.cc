// Bodies that once cost time quadratic in their size: at these sizes that would take longer than
// the test may run.

#include "apiserver/rest/testing/api_world.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace codeflare::apiserver {
namespace {

const std::string kMaps = "/api/v1/namespaces/default/configmaps";
const std::string kPods = "/api/v1/namespaces/default/pods";
constexpr std::string_view kMerge = "merge";
constexpr std::string_view kApply = "apply";

// `count` times the item, each '#' replaced by its number.
std::string many(std::size_t count, std::string_view item) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    out += i == 0 ? "" : ",";
    for (char c : item) {
      c == '#' ? void(out += std::to_string(i)) : out.push_back(c);
    }
  }
  return out;
}

std::string map_with(std::string_view metadata) {
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a",)" +
         std::string(metadata) + "}}";
}

std::string pod_with(std::string_view container) {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{)"
         R"("name":"c","image":"i",)" +
         std::string(container) + "}]}}";
}

TEST(Hostile, equal_finalizers_are_compared_in_groups) {
  ApiWorld world;
  const std::string equal = map_with(R"("finalizers":[)" + many(200'000, R"("a.b/f")") + "]");
  EXPECT_EQ(world.post(kMaps, equal).status, 201);
  const std::string more = map_with(R"("finalizers":[)" + many(200'001, R"("a.b/f")") + "]");
  EXPECT_EQ(world.put(kMaps + "/a", more).status, 200);
}

TEST(Hostile, equal_ports_and_env_are_compared_in_groups) {
  ApiWorld world;
  const std::string ports = pod_with(R"("ports":[)" + many(60'000, R"({"containerPort":1})") + "]");
  EXPECT_EQ(world.post(kPods, ports).status, 201);
  const std::string env = pod_with(R"("env":[)" + many(60'000, R"({"name":"E"})") + "]");
  EXPECT_NE(world.put(kPods + "/a", env).status, 500);
}

TEST(Hostile, applied_duplicates_are_reported_in_bounded_space) {
  ApiWorld world;
  Answer refused = world.patch(kPods + "/a?fieldManager=one", kApply,
                               pod_with(R"("env":[)" + many(60'000, R"({"name":"E"})") + "]"));
  EXPECT_EQ(refused.status, 500);
  EXPECT_TRUE(refused.at("message").contains("duplicate entries for key"));
  EXPECT_LT(refused.body.size(), 100'000u);
}

TEST(Hostile, unknown_fields_are_removed_in_one_pass_and_warnings_are_bounded) {
  ApiWorld world;
  Answer made =
      world.post(kMaps, R"({"metadata":{"name":"a"},)" + many(150'000, R"("u#":1)") + "}");
  EXPECT_EQ(made.status, 201);
  std::size_t bytes = 0;
  std::size_t count = 0;
  for (const auto& header : made.headers.fields()) {
    if (header.name == "Warning") {
      ++count;
      bytes += header.value.size();
    }
  }
  EXPECT_GT(count, 50u);
  EXPECT_LT(bytes, 8192u);
}

TEST(Hostile, a_long_key_is_not_repeated_for_each_complaint) {
  ApiWorld world;
  const std::string key(1'000'000, 'x');
  Answer made = world.post(kMaps, R"({"metadata":{"name":"a"},")" + key + R"(":1,"b":2})");
  EXPECT_EQ(made.status, 201);
  for (const auto& header : made.headers.fields()) {
    EXPECT_LT(header.value.size(), 5000u);
  }
}

TEST(Hostile, nulls_in_a_map_are_dropped_in_one_pass) {
  ApiWorld world;
  Answer made = world.post(kMaps, map_with(R"("labels":{)" + many(150'000, R"("k#":null)") + "}"));
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.at("metadata.labels"), "<absent>");
}

TEST(Hostile, many_controllers_are_refused_in_bounded_space) {
  ApiWorld world;
  Answer refused = world.post(
      kMaps,
      map_with(R"("ownerReferences":[)" +
               many(20'000,
                    R"({"apiVersion":"v1","kind":"Pod","name":"p","uid":"#","controller":true})") +
               "]"));
  EXPECT_EQ(refused.status, 422);
  EXPECT_TRUE(refused.at("message").contains("Only one reference can have Controller"));
  EXPECT_LT(refused.body.size(), 20'000'000u);
}

TEST(Hostile, finalizers_of_an_object_that_goes_are_looked_up) {
  ApiWorld world;
  const std::string finalizers = many(150'000, R"("a.b/f#")");
  ASSERT_EQ(world.post(kMaps, map_with(R"("finalizers":[)" + finalizers + "]")).status, 201);
  ASSERT_EQ(world.remove(kMaps + "/a").status, 200);
  Answer refused = world.patch(kMaps + "/a", kMerge,
                               R"({"metadata":{"finalizers":[)" + finalizers + R"(,"a.b/new"]}})");
  EXPECT_EQ(refused.status, 422);
  EXPECT_TRUE(refused.at("message").contains("no new finalizers can be added"));
}

}  // namespace
}  // namespace codeflare::apiserver
