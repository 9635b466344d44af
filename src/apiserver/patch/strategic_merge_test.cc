#include "apiserver/patch/strategic_merge.h"

#include "apiserver/patch/testing/test_schema.h"
#include "json/parse.h"
#include "json/write.h"
#include "model/status.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::apiserver {
namespace {

// A pod-like kind: named containers with ports by number, labels, finalizers, plain arguments, a
// strategy and a selector that is replaced as a whole.
struct Schema : TestSchema {
  Schema() {
    Node& port = structure({{"number", &integer()}, {"protocol", &text()}}, "test.Port");
    Node& container = structure({{"name", &text()},
                                 {"image", &text()},
                                 {"args", &list(text())},
                                 {"ports", &merged_list(port, "number")}},
                                "test.Container");
    Node& selector = structure({{"matchLabels", &map(text())}}, "test.Selector");
    selector.patch = schema::PatchStrategy::replace;
    Node& rolling = structure({{"surge", &integer()}}, "test.Rolling");
    Node& strategy = structure({{"type", &text()}, {"rolling", &rolling}}, "test.Strategy");
    strategy.retain_keys = true;
    Node& nested = map(structure({{"a", &text()}}));
    root = &structure({{"labels", &map(text())},
                       {"finalizers", &merged_list(text())},
                       {"numbers", &merged_list(integer())},
                       {"containers", &merged_list(container, "name")},
                       {"strategy", &strategy},
                       {"selector", &selector},
                       {"properties", &nested},
                       {"raw", &any()},
                       {"tables", &merged_list(list(text()))},
                       {"keyless", &merged_list(structure({{"a", &text()}}))},
                       {"replicas", &integer()}},
                      "test.Root");
  }
  const Node* root = nullptr;
};

Result<std::string> merged(std::string_view target, std::string_view patch) {
  static const Schema kSchema;
  auto document = json::parse(target);
  auto change = json::parse(patch);
  CHECK(document.has_value() && change.has_value());
  std::string patch_before = json::to_text(change->root);
  auto result =
      strategic_merge(*kSchema.root, document->arena, document->root, std::as_const(change->root));
  EXPECT_EQ(json::to_text(change->root), patch_before);  // it belongs to the caller
  // Nothing of the result may live in the patch.
  change->arena = json::Arena();
  if (!result) {
    return fail(std::move(result).error());
  }
  return json::to_text(document->root);
}

void expect(std::string_view target, std::string_view patch, std::string_view expected) {
  auto result = merged(target, patch);
  ASSERT_TRUE(result.has_value()) << result.error().to_string();
  auto wanted = json::parse(expected);
  auto got = json::parse(*result);
  ASSERT_TRUE(wanted.has_value() && got.has_value());
  EXPECT_TRUE(json::equal(wanted->root, got->root))
      << target << " + " << patch << "\n  gave   " << *result << "\n  wanted " << expected;
}

void expect_error(std::string_view target, std::string_view patch, int code,
                  std::string_view message) {
  auto result = merged(target, patch);
  ASSERT_FALSE(result.has_value()) << *result;
  model::Status status = model::to_status(result.error());
  EXPECT_EQ(status.code, code);
  EXPECT_EQ(status.message, message);
}

TEST(StrategicMerge, merges_maps_and_null_deletes) {
  expect(R"({"labels":{"a":"1","b":"2"},"replicas":1})", R"({"labels":{"b":null,"c":"3"}})",
         R"({"labels":{"a":"1","c":"3"},"replicas":1})");
  expect(R"({"replicas":1})", R"({"replicas":null})", "{}");
  expect(R"({"replicas":1})", R"({"replicas":2,"labels":{"a":"1","gone":null}})",
         R"({"replicas":2,"labels":{"a":"1"}})");
  expect(R"({"replicas":1})", "null", R"({"replicas":1})");
}

TEST(StrategicMerge, keeps_the_order_of_members) {
  EXPECT_EQ(merged(R"({"b":1,"a":2,"c":3})", R"({"d":4,"a":9,"b":null})"),
            R"({"a":9,"c":3,"d":4})");
}

TEST(StrategicMerge, large_maps_are_merged_too) {
  std::string target = R"({"labels":{)";
  std::string patch = R"({"labels":{)";
  for (int i = 0; i < 100; ++i) {
    std::string comma = i == 0 ? "" : ",";
    target += comma + "\"k" + std::to_string(i) + "\":\"old\"";
    patch += comma + "\"k" + std::to_string(i + 99) + (i == 0 ? "\":null" : "\":\"new\"");
  }
  auto result = merged(target + "}}", patch + "}}");
  ASSERT_TRUE(result.has_value());
  auto document = json::parse(*result);
  EXPECT_EQ(document->root.find("labels")->size(), 198U);
}

// Quadratic work would take minutes here.
TEST(StrategicMerge, large_lists_cost_in_proportion) {
  auto containers = [](int from, int to) {
    std::string list;
    for (int i = from; i < to; ++i) {
      list += (list.empty() ? R"({"name":"c)" : R"(,{"name":"c)") + std::to_string(i) + "\"}";
    }
    return "[" + list + "]";
  };
  auto result = merged(R"({"containers":)" + containers(0, 20'000) + "}",
                       R"({"containers":)" + containers(10'000, 30'000) +
                           R"(,"$setElementOrder/containers":)" + containers(10'000, 30'000) + "}");
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(json::parse(*result)->root.find("containers")->size(), 30'000U);
}

TEST(StrategicMerge, replaces_lists_without_a_strategy) {
  expect(R"({"containers":[{"name":"a","args":["x","y"]}]})",
         R"({"containers":[{"name":"a","args":["z"]}]})",
         R"({"containers":[{"name":"a","args":["z"]}]})");
}

TEST(StrategicMerge, merges_lists_by_their_key) {
  expect(R"({"containers":[{"name":"a","image":"1"},{"name":"b","image":"2"}]})",
         R"({"containers":[{"name":"b","image":"3"},{"name":"c"}]})",
         R"({"containers":[{"name":"a","image":"1"},{"name":"b","image":"3"},{"name":"c"}]})");
  expect(R"({"containers":[{"name":"a","ports":[{"number":80,"protocol":"TCP"}]}]})",
         R"({"containers":[{"name":"a","ports":[{"number":80,"protocol":"UDP"},{"number":81}]}]})",
         R"({"containers":[{"name":"a","ports":[{"number":80,"protocol":"UDP"},{"number":81}]}]})");
}

TEST(StrategicMerge, patch_elements_keep_their_order_and_come_where_the_server_allows) {
  expect(R"({"containers":[{"name":"a"},{"name":"b"},{"name":"c"},{"name":"d"}]})",
         R"({"containers":[{"name":"x"},{"name":"d"},{"name":"b"}]})",
         R"({"containers":[{"name":"x"},{"name":"a"},{"name":"c"},{"name":"d"},{"name":"b"}]})");
  expect(R"({"finalizers":["a","b","c"]})", R"({"finalizers":["c","z","b"]})",
         R"({"finalizers":["a","c","z","b"]})");
}

TEST(StrategicMerge, merged_scalars_are_there_once) {
  expect(R"({"finalizers":["a","a","b"]})", R"({"finalizers":["b","b","c"]})",
         R"({"finalizers":["a","b","c"]})");
  expect(R"({"numbers":[1,2]})", R"({"numbers":[2,3]})", R"({"numbers":[1,2,3]})");
}

TEST(StrategicMerge, set_element_order_puts_elements_in_order) {
  expect(R"({"containers":[{"name":"a"},{"name":"b"},{"name":"c"}]})",
         R"({"$setElementOrder/containers":[{"name":"c"},{"name":"a"}]})",
         R"({"containers":[{"name":"b"},{"name":"c"},{"name":"a"}]})");
  expect(R"({"containers":[{"name":"a"},{"name":"b"}]})",
         R"({"$setElementOrder/containers":[{"name":"n"},{"name":"b"},{"name":"a"}],
             "containers":[{"name":"n"},{"name":"a","image":"i"}]})",
         R"({"containers":[{"name":"n"},{"name":"b"},{"name":"a","image":"i"}]})");
  expect("{}",
         R"({"$setElementOrder/containers":[{"name":"b"},{"name":"a"}],
             "containers":[{"name":"b"},{"name":"a"}]})",
         R"({"containers":[{"name":"b"},{"name":"a"}]})");
  expect("{}", R"({"$setElementOrder/containers":[{"name":"b"}]})", "{}");
  expect(R"({"finalizers":["a","b","c"]})",
         R"({"$setElementOrder/finalizers":["c","n","a"],"finalizers":["n"],
             "$deleteFromPrimitiveList/finalizers":["b"]})",
         R"({"finalizers":["c","n","a"]})");
}

TEST(StrategicMerge, an_empty_order_leaves_new_elements_last) {
  expect(R"({"finalizers":["a","b"]})", R"({"$setElementOrder/finalizers":[],"finalizers":["n"]})",
         R"({"finalizers":["a","b","n"]})");
}

TEST(StrategicMerge, deletes_elements_by_directive) {
  expect(R"({"containers":[{"name":"a"},{"name":"b"}]})",
         R"({"containers":[{"name":"a","$patch":"delete"}]})", R"({"containers":[{"name":"b"}]})");
  expect(R"({"containers":[{"name":"a"},{"name":"b"}]})",
         R"({"$setElementOrder/containers":[{"name":"c"},{"name":"b"}],
             "containers":[{"name":"c"},{"name":"a","$patch":"delete"}]})",
         R"({"containers":[{"name":"c"},{"name":"b"}]})");
  expect(R"({"finalizers":["a","b","a"]})", R"({"$deleteFromPrimitiveList/finalizers":["a"]})",
         R"({"finalizers":["b"]})");
  expect("{}", R"({"$deleteFromPrimitiveList/finalizers":["a"]})", "{}");
  expect("{}", R"({"containers":[{"name":"a","$patch":"delete"},{"name":"b"}]})",
         R"({"containers":[{"name":"b"}]})");
}

TEST(StrategicMerge, replaces_by_directive) {
  expect(R"({"labels":{"a":"1"}})", R"({"labels":{"$patch":"replace","b":"2"}})",
         R"({"labels":{"b":"2"}})");
  expect(R"({"labels":{"a":"1"}})", R"({"labels":{"$patch":"delete"}})", R"({"labels":{}})");
  expect(R"({"containers":[{"name":"a"}]})",
         R"({"containers":[{"$patch":"replace"},{"name":"b"}]})",
         R"({"containers":[{"name":"b"}]})");
  expect(R"({"labels":{"a":"1"}})", R"({"$patch":"replace","replicas":1})", R"({"replicas":1})");
  expect(R"({"replicas":1})", R"({"$patch":"delete"})", "{}");
  expect(R"({"replicas":1})", R"({"labels":{"$patch":"replace","a":"1"}})", R"({"replicas":1})");
}

TEST(StrategicMerge, a_structure_may_be_replaced_as_a_whole) {
  expect(R"({"selector":{"matchLabels":{"a":"1"}}})", R"({"selector":{"matchLabels":{"b":"2"}}})",
         R"({"selector":{"matchLabels":{"b":"2"}}})");
}

TEST(StrategicMerge, retain_keys_drops_the_rest) {
  expect(R"({"strategy":{"type":"Rolling","rolling":{"surge":1}}})",
         R"({"strategy":{"$retainKeys":["type"],"type":"Recreate"}})",
         R"({"strategy":{"type":"Recreate"}})");
  expect(R"({"strategy":{"type":"Recreate"}})",
         R"({"strategy":{"$retainKeys":["type"],"rolling":null}})",
         R"({"strategy":{"type":"Recreate"}})");
  expect_error(R"({"strategy":{"type":"x"}})",
               R"({"strategy":{"$retainKeys":["type"],"rolling":{}}})", 400,
               "invalid patch format of retainKeys");
  expect_error(R"({"strategy":{"type":"x"}})", R"({"strategy":{"$retainKeys":"type"}})", 400,
               "invalid patch format of retainKeys");
}

TEST(StrategicMerge, says_what_is_wrong_as_upstream_does) {
  expect_error(R"({"labels":{"a":"1"}})", R"({"labels":{"$patch":"merge","b":"2"}})", 500,
               "unknown patch type: merge in map: map[$patch:merge b:2]");
  expect_error(R"({"containers":[{"name":"a"}]})",
               R"({"containers":[{"image":"x","args":["y",1]}]})", 500,
               "map: map[args:[y 1] image:x] does not contain declared merge key: name");
  expect_error(R"({"containers":[{"name":"a"}]})", R"({"containers":[{"$patch":"delete"}]})", 500,
               "map: map[$patch:delete] does not contain declared merge key: name");
  expect_error(R"({"containers":[{"name":"a"}]})",
               R"({"containers":[{"$patch":"merge","name":"a"}]})", 500,
               "merging lists cannot yet be specified in the patch");
  expect_error(R"({"containers":[{"name":"a"}]})", R"({"containers":["a"]})", 500,
               "list element types are not identical: [[map[name:a]] [a]]");
  expect_error(R"({"numbers":[1]})", R"({"numbers":[1.5]})", 500,
               "list element types are not identical: [[1] [1.5]]");
  expect_error(R"({"containers":[{"name":"a"}]})",
               R"({"$setElementOrder/containers":[{"namn":"a"}],"containers":[{"name":"a"}]})", 500,
               "map: map[namn:a] does not contain declared merge key: name");
  expect_error("{}", R"({"$setElementOrder":["a"]})", 400,
               "invalid patch format of setElementOrder list");
  expect_error("{}", R"({"$deleteFromPrimitiveListfinalizers":["a"]})", 400,
               "invalid patch format of primitive list");
  expect_error("{}", R"({"$setElementOrder/finalizers":"a"})", 500,
               "expected a []interface {}, but received a string");
  expect_error(R"({"finalizers":["a"]})",
               R"({"$setElementOrder/finalizers":["b","a"],"finalizers":["a","b"]})", 500,
               "The order in patch list:\n[a b]\n doesn't match $setElementOrder list:\n[b a]\n");
  expect_error(R"({"tables":[["a"]]})", R"({"tables":[["b"]]})", 500, "unexpected slice of slice");
  expect_error(R"({"finalizers":[["a"]]})", R"({"finalizers":[["b"]]})", 422,
               "the server rejected our request due to an error in our request");
  expect_error(R"({"keyless":[{"a":"1"}]})", R"({"keyless":[{"a":"2"}]})", 500,
               "cannot merge lists without merge key for struct");
  expect_error(R"({"properties":{"x":{"a":"1"}}})", R"({"properties":{"x":{"a":"2"}}})", 500,
               "merging an object in json but data type is not struct, instead is: map");
  expect_error("{}", R"({"$setElementOrder/nothing":["a"]})", 500,
               "unable to find api field in struct Root for the json field \"nothing\"");
  expect_error("{}", "[]", 400,
               "json: cannot unmarshal array into Go value of type map[string]interface {}");
}

TEST(StrategicMerge, refuses_to_change_one_element_again_and_again) {
  auto repeated = [](int count) {
    std::string elements;
    for (int i = 0; i < count; ++i) {
      elements +=
          (i == 0 ? "" : ",") + (R"({"name":"a","ports":[{"number":)" + std::to_string(i)) + "}]}";
    }
    return R"({"containers":[)" + elements + "]}";
  };
  const std::string_view target = R"({"containers":[{"name":"a"}]})";
  EXPECT_TRUE(merged(target, repeated(50)));
  auto refused = merged(target, repeated(50'000));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::too_large);
}

}  // namespace
}  // namespace codeflare::apiserver
