#include "runtime/map_function.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace codeflare::runtime {
namespace {

using Keys = std::vector<model::ObjectKey>;

const model::ResourceType kJobs{"batch", "v1", "Job", "jobs", true};
const model::ResourceType kNodes{"", "v1", "Node", "nodes", false};

Keys keys_of(const MapFunction& map, const std::string& metadata) {
  const kube::ObjectRef object =
      *kube::Object::from_json(R"({"metadata":{"name":"a","namespace":"team")" + metadata + "}}");
  Keys keys;
  map(*object, keys);
  return keys;
}

std::string owner(const std::string& api_version, const std::string& kind, const std::string& name,
                  bool controller) {
  return R"({"apiVersion":")" + api_version + R"(","kind":")" + kind + R"(","name":")" + name +
         R"(","uid":"u","controller":)" + (controller ? "true" : "false") + "}";
}

std::string owners(const std::string& references) {
  return R"(,"ownerReferences":[)" + references + "]";
}

TEST(MapFunction, an_object_leads_to_itself) {
  EXPECT_EQ(keys_of(to_self(), ""), (Keys{{"team", "a"}}));
}

TEST(MapFunction, an_owned_object_leads_to_the_owner_that_controls_it) {
  const MapFunction map = to_controller(kJobs);
  EXPECT_EQ(keys_of(map, ""), Keys());
  EXPECT_EQ(keys_of(map, owners(owner("batch/v1", "Job", "j", true))), (Keys{{"team", "j"}}));
  EXPECT_EQ(keys_of(map, owners(owner("batch/v1beta1", "Job", "j", true))), (Keys{{"team", "j"}}))
      << "a kind is the same in all versions of its group";
  EXPECT_EQ(keys_of(map, owners(owner("batch/v1", "Job", "j", false))), Keys());
}

TEST(MapFunction, kinds_of_the_same_name_in_other_groups_are_others) {
  const MapFunction map = to_controller(kJobs);
  EXPECT_EQ(keys_of(map, owners(owner("v1", "Job", "j", true))), Keys());
  EXPECT_EQ(keys_of(map, owners(owner("batch.volcano.sh/v1", "Job", "j", true))), Keys());
  EXPECT_EQ(keys_of(map, owners(owner("batch/v1", "CronJob", "j", true))), Keys());
}

TEST(MapFunction, owners_that_do_not_control_are_found_when_asked_for) {
  const std::string both =
      owners(owner("batch/v1", "Job", "one", false) + "," + owner("batch/v1", "Job", "two", true));
  EXPECT_EQ(keys_of(to_owners(kJobs), both), (Keys{{"team", "one"}, {"team", "two"}}));
  EXPECT_EQ(keys_of(to_controller(kJobs), both), (Keys{{"team", "two"}}));
}

TEST(MapFunction, an_owner_without_namespace_has_none_in_its_key) {
  EXPECT_EQ(keys_of(to_controller(kNodes), owners(owner("v1", "Node", "n", true))),
            (Keys{{"", "n"}}));
}

TEST(MapFunction, a_label_names_an_object_of_the_same_namespace) {
  const MapFunction map = to_label("example.com/of");
  EXPECT_EQ(keys_of(map, R"(,"labels":{"example.com/of":"x","b":"c"})"), (Keys{{"team", "x"}}));
  EXPECT_EQ(keys_of(map, R"(,"labels":{"b":"c"})"), Keys());
  EXPECT_EQ(keys_of(map, R"(,"labels":{"example.com/of":""})"), Keys());
  EXPECT_EQ(keys_of(map, ""), Keys());
}

}  // namespace
}  // namespace codeflare::runtime
