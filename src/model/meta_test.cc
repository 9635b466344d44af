#include "model/meta.h"

#include <gtest/gtest.h>

namespace codeflare::model {
namespace {

TEST(GroupVersion, splits_at_the_slash_and_puts_it_back) {
  EXPECT_EQ(parse_api_version("v1"), (GroupVersion{"", "v1"}));
  EXPECT_EQ(parse_api_version("batch/v1"), (GroupVersion{"batch", "v1"}));
  EXPECT_EQ(parse_api_version("").api_version(), "");
  EXPECT_EQ(parse_api_version("a.example/v1beta1").api_version(), "a.example/v1beta1");
}

TEST(GroupVersionKind, reads_as_people_know_it) {
  EXPECT_EQ((GroupVersionKind{"batch", "v1", "Job"}).to_string(), "batch/v1, Kind=Job");
}

TEST(ObjectMeta, the_controller_is_the_owner_that_says_so) {
  ObjectMeta meta;
  EXPECT_EQ(controller_of(meta), nullptr);
  meta.owner_references.push_back({.kind = "Node", .name = "n", .uid = "u1"});
  EXPECT_EQ(controller_of(meta), nullptr);
  meta.owner_references.push_back({.kind = "Job", .name = "j", .uid = "u2", .controller = true});
  ASSERT_NE(controller_of(meta), nullptr);
  EXPECT_EQ(controller_of(meta)->uid, "u2");
  EXPECT_TRUE(is_owned_by(meta, "u1"));
  EXPECT_FALSE(is_owned_by(meta, "u3"));
}

TEST(StringMap, find_or_empty_does_not_distinguish_absent_from_empty) {
  const StringMap map = {{"a", "1"}, {"b", ""}};
  EXPECT_EQ(find_or_empty(map, "a"), "1");
  EXPECT_EQ(find_or_empty(map, "b"), "");
  EXPECT_EQ(find_or_empty(map, "c"), "");
}

}  // namespace
}  // namespace codeflare::model
