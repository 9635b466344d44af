#include "apiserver/patch/internal/field_set.h"

#include "json/parse.h"
#include "json/write.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace codeflare::apiserver::internal {
namespace {

class FieldSets : public testing::Test {
 protected:
  FieldSet set(std::string_view text) {
    auto document = json::parse(text);
    CHECK(document.has_value());
    json::Value fields = document->root.clone(arena_);
    auto parsed = parse_fields(arena_, fields);
    CHECK(parsed.has_value());
    return *parsed;
  }
  std::string text(FieldSet set) { return json::to_text(write_fields(arena_, set)); }

  json::Arena arena_;
};

TEST_F(FieldSets, are_written_in_upstreams_order) {
  EXPECT_EQ(text(set(R"({"i:3":{},"v:\"b\"":{},"v:7":{},"v:\"a\"":{},"k:{\"port\":443}":{},
                         "k:{\"port\":80}":{},"v:true":{},"v:10":{},"f:b":{},"f:a":{}})")),
            R"({"f:a":{},"f:b":{},"k:{\"port\":80}":{},"k:{\"port\":443}":{},"v:7":{},"v:10":{},)"
            R"("v:\"a\"":{},"v:\"b\"":{},"v:true":{},"i:3":{}})");
}

TEST_F(FieldSets, keys_are_sorted_by_name) {
  EXPECT_EQ(text(set(R"({"k:{\"protocol\":\"TCP\",\"containerPort\":80}":{".":{},"f:name":{}}})")),
            R"({"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:name":{}}})");
}

TEST_F(FieldSets, an_element_with_nothing_below_stands_for_itself) {
  EXPECT_EQ(text(set(R"({"f:a":{".":{}},"f:b":{"f:c":{}}})")), R"({"f:a":{},"f:b":{"f:c":{}}})");
  EXPECT_EQ(text(set(R"({"x:future":{},"f:a":{}})")), R"({"f:a":{}})");
  json::Value bad = json::Value::object();
  bad.set(arena_, "k:[]", json::Value::object());
  EXPECT_FALSE(parse_fields(arena_, bad).has_value());
}

TEST_F(FieldSets, union_intersection_and_difference_are_of_members) {
  FieldSet a = set(R"({"f:a":{".":{},"f:x":{},"f:y":{}},"f:b":{}})");
  FieldSet b = set(R"({"f:a":{".":{},"f:y":{}},"f:c":{}})");
  EXPECT_EQ(text(set_union(arena_, a, b)),
            R"({"f:a":{".":{},"f:x":{},"f:y":{}},"f:b":{},"f:c":{}})");
  EXPECT_EQ(text(set_intersection(arena_, a, b)), R"({"f:a":{".":{},"f:y":{}}})");
  EXPECT_EQ(text(set_difference(arena_, a, b)), R"({"f:a":{"f:x":{}},"f:b":{}})");
  EXPECT_EQ(text(set_subtract_below(arena_, a, b)), R"({"f:b":{}})");
}

TEST_F(FieldSets, an_operation_that_changes_nothing_gives_the_operand) {
  FieldSet a = set(R"({"f:a":{"f:x":{}},"f:b":{}})");
  EXPECT_TRUE(set_union(arena_, a, set(R"({"f:a":{"f:x":{}}})")).same(a));
  EXPECT_TRUE(set_difference(arena_, a, set(R"({"f:a":{"f:z":{}}})")).same(a));
  EXPECT_TRUE(set_subtract_below(arena_, a, set(R"({"f:c":{}})")).same(a));
}

TEST_F(FieldSets, paths_are_shown_as_people_know_them) {
  std::string shown;
  for_each_path(
      set(R"({"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:name":{}}},
                        "f:finalizers":{"v:\"x\"":{}},"f:items":{"i:2":{}},"f:replicas":{}}})"),
      [&](const FieldPath& path) { shown += to_text(path) + "\n"; });
  EXPECT_EQ(shown,
            ".spec.replicas\n.spec.finalizers[=\"x\"]\n.spec.items[2]\n"
            ".spec.ports[port=80,protocol=\"TCP\"]\n"
            ".spec.ports[port=80,protocol=\"TCP\"].name\n");
}

TEST_F(FieldSets, names_make_a_set) {
  constexpr std::array<std::string_view, 3> kNames = {"status", "metadata.name", "metadata"};
  EXPECT_EQ(text(set_of_names(arena_, kNames)),
            R"({"f:metadata":{".":{},"f:name":{}},"f:status":{}})");
}

TEST_F(FieldSets, one_element_in_several_spellings_is_one_entry) {
  EXPECT_EQ(text(set(R"({"v:\"a\"":{"f:x":{}},"v: \"a\"":{"f:y":{}},"v:  \"a\"":{".":{}}})")),
            R"({"v:\"a\"":{".":{},"f:x":{},"f:y":{}}})");
}

}  // namespace
}  // namespace codeflare::apiserver::internal
