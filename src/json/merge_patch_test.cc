#include "json/merge_patch.h"

#include "json/parse.h"
#include "json/write.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::json {
namespace {

std::string merged(std::string_view target, std::string_view patch) {
  return to_text(apply_merge_patch(parse(target)->root, parse(patch)->root).root);
}

std::string diff(std::string_view from, std::string_view to) {
  Document a = *parse(from);
  Document b = *parse(to);
  Document patch = merge_diff(a.root, b.root);
  Document result = apply_merge_patch(a.root, patch.root);
  Document wanted = merge_diff(Value(), b.root);  // without nulls
  EXPECT_TRUE(equal(result.root, wanted.root)) << from << " -> " << to;
  return to_text(patch.root);
}

TEST(MergePatch, follows_each_rule_of_the_rfc) {
  EXPECT_EQ(merged(R"({"a":"b"})", R"({"a":"c"})"), R"({"a":"c"})");
  EXPECT_EQ(merged(R"({"a":"b"})", R"({"b":"c"})"), R"({"a":"b","b":"c"})");
  EXPECT_EQ(merged(R"({"a":"b"})", R"({"a":null})"), R"({})");
  EXPECT_EQ(merged(R"({"a":"b","b":"c"})", R"({"a":null})"), R"({"b":"c"})");
  EXPECT_EQ(merged(R"({"a":["b"]})", R"({"a":"c"})"), R"({"a":"c"})");
  EXPECT_EQ(merged(R"({"a":"c"})", R"({"a":["b"]})"), R"({"a":["b"]})");
  EXPECT_EQ(merged(R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})"), R"({"a":{"b":"d"}})");
  EXPECT_EQ(merged(R"({"a":[{"b":"c"}]})", R"({"a":[1]})"), R"({"a":[1]})");
  EXPECT_EQ(merged(R"(["a","b"])", R"(["c"])"), R"(["c"])");
  EXPECT_EQ(merged(R"({"a":"b"})", R"(["c"])"), R"(["c"])");
  EXPECT_EQ(merged(R"({"a":"foo"})", "null"), "null");
  EXPECT_EQ(merged(R"({"a":"foo"})", R"("bar")"), R"("bar")");
  EXPECT_EQ(merged(R"({"e":null})", R"({"a":1})"), R"({"e":null,"a":1})");
  EXPECT_EQ(merged("[1,2]", R"({"a":"b","c":null})"), R"({"a":"b"})");
  EXPECT_EQ(merged("{}", R"({"a":{"bb":{"ccc":null}}})"), R"({"a":{"bb":{}}})");
  EXPECT_EQ(merged(R"({"a":1})", R"({"a":[null,{"b":null}]})"), R"({"a":[null,{"b":null}]})");
}

TEST(MergePatch, large_objects_are_merged_like_small_ones) {
  std::string target = "{\"first\":0";
  std::string patch = "{\"first\":null";
  for (int i = 0; i < 1'000; ++i) {
    target += ",\"k" + std::to_string(i) + "\":1";
    patch += ",\"k" + std::to_string(i) + "\":2";
  }
  Document result =
      apply_merge_patch(parse(target + "}")->root, parse(patch + ",\"new\":3}")->root);
  EXPECT_EQ(result.root.size(), 1'001u);
  EXPECT_EQ(result.root.find("k512")->to_int64(), 2);
  EXPECT_EQ(result.root.find("first"), nullptr);
  EXPECT_EQ(result.root.find("new")->to_int64(), 3);
}

TEST(MergeDiff, is_empty_when_nothing_changes) {
  EXPECT_EQ(diff(R"({"a":{"b":1}})", R"({"a":{"b":1.0}})"), "{}");
  EXPECT_EQ(diff("{}", "{}"), "{}");
}

TEST(MergeDiff, says_only_what_changed) {
  EXPECT_EQ(diff(R"({"a":1,"b":{"c":2,"d":3}})", R"({"a":1,"b":{"c":2,"d":4}})"),
            R"({"b":{"d":4}})");
  EXPECT_EQ(diff(R"({"a":1,"b":2})", R"({"b":2,"c":3})"), R"({"a":null,"c":3})");
  EXPECT_EQ(diff(R"({"a":[1,2]})", R"({"a":[1]})"), R"({"a":[1]})");
  EXPECT_EQ(diff(R"({"a":{"x":1}})", R"({"a":{}})"), R"({"a":{"x":null}})");
  EXPECT_EQ(diff(R"({"a":1})", R"({"a":{"x":{}}})"), R"({"a":{"x":{}}})");
}

TEST(MergeDiff, replaces_what_is_no_object_as_a_whole) {
  EXPECT_EQ(diff("[1]", "[2]"), "[2]");
  EXPECT_EQ(diff(R"({"a":1})", "7"), "7");
  EXPECT_EQ(diff("7", R"({"a":1})"), R"({"a":1})");
  EXPECT_EQ(diff("7", "null"), "null");
}

TEST(MergeDiff, counts_null_members_as_absent) {
  EXPECT_EQ(diff(R"({"a":1})", R"({"a":null})"), R"({"a":null})");
  EXPECT_EQ(diff(R"({})", R"({"a":null,"b":{"c":null}})"), R"({"b":{}})");
  EXPECT_EQ(diff(R"({"b":{}})", R"({"b":{"c":null}})"), "{}");
}

}  // namespace
}  // namespace codeflare::json
