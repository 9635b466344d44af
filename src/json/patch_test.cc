#include "json/patch.h"

#include "json/parse.h"
#include "json/write.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::json {
namespace {

Result<Document> apply(std::string_view target, std::string_view patch,
                       const PatchOptions& options = {}) {
  TRY_ASSIGN(Document target_document, parse(target));
  TRY_ASSIGN(Document patch_document, parse(patch));
  return apply_patch(target_document.root, patch_document.root, options);
}

std::string patched(std::string_view target, std::string_view patch) {
  auto result = apply(target, patch);
  return result ? to_text(result->root) : result.error().to_string();
}

ErrorCode refusal(std::string_view target, std::string_view patch,
                  const PatchOptions& options = {}) {
  auto result = apply(target, patch, options);
  EXPECT_FALSE(result.has_value()) << patch;
  return result ? ErrorCode::internal : result.error().code;
}

TEST(Patch, add_sets_members_and_inserts_items) {
  EXPECT_EQ(patched(R"({"a":1})", R"([{"op":"add","path":"/b","value":[2]}])"),
            R"({"a":1,"b":[2]})");
  EXPECT_EQ(patched(R"({"a":1})", R"([{"op":"add","path":"/a","value":null}])"), R"({"a":null})");
  EXPECT_EQ(patched("[1,3]", R"([{"op":"add","path":"/1","value":2}])"), "[1,2,3]");
  EXPECT_EQ(patched("[1]", R"([{"op":"add","path":"/1","value":2}])"), "[1,2]");
  EXPECT_EQ(patched("[1]", R"([{"op":"add","path":"/-","value":2}])"), "[1,2]");
  EXPECT_EQ(patched("[1]", R"([{"op":"add","path":"","value":{"x":2}}])"), R"({"x":2})");
  EXPECT_EQ(patched(R"({"a":{}})", R"([{"op":"add","path":"/a/","value":1}])"), R"({"a":{"":1}})");
}

TEST(Patch, add_needs_an_existing_container) {
  for (std::string_view path : {"/b/c", "/a/x", "/l/3", "/l/-1", "/l/01", "/l/x", "/l/-/x"}) {
    std::string patch = R"([{"op":"add","path":")" + std::string(path) + R"(","value":1}])";
    EXPECT_EQ(refusal(R"({"a":1,"l":[1,2]})", patch), ErrorCode::failed_precondition);
  }
}

TEST(Patch, remove_takes_members_and_items_away) {
  EXPECT_EQ(patched(R"({"a":1,"b":2})", R"([{"op":"remove","path":"/a"}])"), R"({"b":2})");
  EXPECT_EQ(patched("[1,2,3]", R"([{"op":"remove","path":"/1"}])"), "[1,3]");
  EXPECT_EQ(refusal("[1]", R"([{"op":"remove","path":"/1"}])"), ErrorCode::failed_precondition);
  EXPECT_EQ(refusal("[1]", R"([{"op":"remove","path":"/-"}])"), ErrorCode::failed_precondition);
  EXPECT_EQ(refusal("{}", R"([{"op":"remove","path":"/a"}])"), ErrorCode::failed_precondition);
  EXPECT_EQ(refusal("{}", R"([{"op":"remove","path":""}])"), ErrorCode::invalid_argument);
}

TEST(Patch, replace_needs_something_to_replace) {
  EXPECT_EQ(patched(R"({"a":1,"b":2})", R"([{"op":"replace","path":"/a","value":[]}])"),
            R"({"a":[],"b":2})");
  EXPECT_EQ(patched("[1,2]", R"([{"op":"replace","path":"/1","value":"x"}])"), R"([1,"x"])");
  EXPECT_EQ(patched("[1,2]", R"([{"op":"replace","path":"","value":0}])"), "0");
  EXPECT_EQ(refusal("{}", R"([{"op":"replace","path":"/a","value":1}])"),
            ErrorCode::failed_precondition);
  EXPECT_EQ(refusal("[1]", R"([{"op":"replace","path":"/-","value":1}])"),
            ErrorCode::failed_precondition);
}

TEST(Patch, replace_adds_a_missing_member_where_that_is_asked_for) {
  const PatchOptions adds{.replace_adds = true};
  auto result = apply(R"({"a":{}})", R"([{"op":"replace","path":"/a/b","value":1}])", adds);
  ASSERT_TRUE(result);
  EXPECT_EQ(to_text(result->root), R"({"a":{"b":1}})");
  EXPECT_EQ(refusal("{}", R"([{"op":"replace","path":"/a/b","value":1}])", adds),
            ErrorCode::failed_precondition);
  EXPECT_EQ(refusal("[1]", R"([{"op":"replace","path":"/1","value":1}])", adds),
            ErrorCode::failed_precondition);
}

TEST(Patch, move_takes_from_one_place_and_adds_at_another) {
  EXPECT_EQ(patched(R"({"a":{"x":1},"b":{}})", R"([{"op":"move","from":"/a/x","path":"/b/y"}])"),
            R"({"a":{},"b":{"y":1}})");
  EXPECT_EQ(patched("[1,2,3]", R"([{"op":"move","from":"/0","path":"/2"}])"), "[2,3,1]");
  EXPECT_EQ(patched("[1,2,3]", R"([{"op":"move","from":"/2","path":"/0"}])"), "[3,1,2]");
  EXPECT_EQ(patched(R"({"a":1})", R"([{"op":"move","from":"/a","path":"/a"}])"), R"({"a":1})");
  EXPECT_EQ(patched(R"({"a":{"b":1}})", R"([{"op":"move","from":"/a/b","path":"/a"}])"),
            R"({"a":1})");
  EXPECT_EQ(patched(R"({"a":{"b":1}})", R"([{"op":"move","from":"/a","path":""}])"), R"({"b":1})");
  EXPECT_EQ(refusal(R"({"a":{}})", R"([{"op":"move","from":"/a","path":"/a/b"}])"),
            ErrorCode::invalid_argument);
  EXPECT_EQ(refusal(R"({"a":{}})", R"([{"op":"move","from":"/x","path":"/a/b"}])"),
            ErrorCode::failed_precondition);
  EXPECT_EQ(refusal("[1,2]", R"([{"op":"move","from":"/0","path":"/2"}])"),
            ErrorCode::failed_precondition);
}

TEST(Patch, copy_makes_an_independent_value) {
  EXPECT_EQ(patched(R"({"a":{"x":1}})", R"([{"op":"copy","from":"/a","path":"/b"},
                     {"op":"add","path":"/a/y","value":2},{"op":"replace","path":"/b/x","value":9}])"),
            R"({"a":{"x":1,"y":2},"b":{"x":9}})");
  EXPECT_EQ(patched(R"({"a":{}})", R"([{"op":"copy","from":"/a","path":"/a/b"}])"),
            R"({"a":{"b":{}}})");
  EXPECT_EQ(patched(R"({"a":1})", R"([{"op":"copy","from":"","path":"/b"}])"),
            R"({"a":1,"b":{"a":1}})");
  EXPECT_EQ(refusal("{}", R"([{"op":"copy","from":"/a","path":"/b"}])"),
            ErrorCode::failed_precondition);
}

TEST(Patch, test_compares_by_value) {
  EXPECT_EQ(patched(R"({"a":{"x":1,"y":[1.0,"s"]}})",
                    R"([{"op":"test","path":"/a","value":{"y":[1,"s"],"x":1e0}}])"),
            R"({"a":{"x":1,"y":[1.0,"s"]}})");
  EXPECT_EQ(patched("{}", R"([{"op":"test","path":"","value":{}}])"), "{}");
  EXPECT_EQ(refusal(R"({"a":"1"})", R"([{"op":"test","path":"/a","value":1}])"),
            ErrorCode::failed_precondition);
  EXPECT_EQ(refusal("{}", R"([{"op":"test","path":"/a","value":null}])"),
            ErrorCode::failed_precondition);
}

TEST(Patch, operations_follow_each_other) {
  EXPECT_EQ(patched("{}", R"([{"op":"add","path":"/a","value":{}},
                     {"op":"add","path":"/a/b","value":[]},{"op":"add","path":"/a/b/-","value":1},
                     {"op":"add","path":"/a/b/0","value":0},{"op":"remove","path":"/a/b/1"},
                     {"op":"test","path":"/a/b","value":[0]}])"),
            R"({"a":{"b":[0]}})");
  EXPECT_EQ(patched(R"({"a~b":{"c/d":1}})", R"([{"op":"replace","path":"/a~0b/c~1d","value":2}])"),
            R"({"a~b":{"c/d":2}})");
  EXPECT_EQ(patched("[1]", "[]"), "[1]");
}

TEST(Patch, malformed_patches_are_told_from_failing_ones) {
  for (std::string_view patch :
       {R"({})", R"([1])", R"([{"path":"/a"}])", R"([{"op":"spam","path":"/a"}])",
        R"([{"op":1,"path":"/a"}])", R"([{"op":"add","value":1}])", R"([{"op":"add","path":"/b"}])",
        R"([{"op":"add","path":"b","value":1}])", R"([{"op":"add","path":"/~2","value":1}])",
        R"([{"op":"test","path":"/a"}])", R"([{"op":"replace","path":"/a"}])",
        R"([{"op":"copy","path":"/b"}])", R"([{"op":"move","path":"/b","from":1}])",
        R"([{"op":"test","path":"/a","value":2},{"op":"spam","path":""}])"}) {
    EXPECT_EQ(refusal(R"({"a":1})", patch), ErrorCode::invalid_argument) << patch;
  }
}

TEST(Patch, unknown_members_of_operations_are_ignored) {
  EXPECT_EQ(patched("{}", R"([{"op":"add","path":"/a","value":1,"xyz":2,"from":3}])"),
            R"({"a":1})");
}

TEST(Patch, errors_name_the_operation_and_leave_the_target_alone) {
  auto target = parse(R"({"a":1})");
  auto patch = parse(R"([{"op":"remove","path":"/a"},{"op":"test","path":"/a","value":1}])");
  auto result = apply_patch(target->root, patch->root);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().message, R"(operation 1 (test "/a"): there is no member "a")");
  EXPECT_EQ(to_text(target->root), R"({"a":1})");
}

TEST(Patch, number_of_operations_is_limited) {
  auto tests = [](int count) {
    std::string patch = "[";
    for (int i = 0; i < count; ++i) {
      patch += std::string(i > 0 ? "," : "") + R"({"op":"test","path":"/a","value":1})";
    }
    return patch + "]";
  };
  EXPECT_EQ(patched(R"({"a":1})", tests(10'000)), R"({"a":1})");
  EXPECT_EQ(refusal(R"({"a":1})", tests(10'001)), ErrorCode::too_large);
}

TEST(Patch, copy_bombs_are_refused) {
  std::string patch = "[";
  for (int i = 0; i < 60; ++i) {
    patch += std::string(i > 0 ? "," : "") + R"({"op":"copy","from":"","path":"/-"})";
  }
  EXPECT_EQ(refusal("[1,2,3]", patch + "]"), ErrorCode::too_large);
}

TEST(Patch, nesting_by_moves_is_refused_at_the_depth_limit) {
  std::string patch = "[";
  for (int i = 0; i < 2'000; ++i) {
    patch += R"({"op":"add","path":"/b","value":{}},{"op":"move","from":"/a","path":"/b/x"},)"
             R"({"op":"move","from":"/b","path":"/a"},)";
  }
  patch += R"({"op":"test","path":"/a","value":1}])";
  EXPECT_EQ(refusal(R"({"a":{}})", patch), ErrorCode::too_large);
}

TEST(Patch, work_is_limited) {
  std::string target = "[0";
  for (int i = 0; i < 20'000; ++i) {
    target += ",0";
  }
  std::string patch = "[";
  for (int i = 0; i < 5'000; ++i) {
    patch += std::string(i > 0 ? "," : "") + R"({"op":"add","path":"/0","value":1})";
  }
  EXPECT_EQ(refusal(target + "]", patch + "]"), ErrorCode::too_large);
}

}  // namespace
}  // namespace codeflare::json
