#include "node/image_table.h"

#include <gtest/gtest.h>

namespace codeflare::node {
namespace {

TEST(ImagePattern, a_star_is_any_text) {
  for (const auto& [pattern, text, expected] :
       std::initializer_list<std::tuple<const char*, const char*, bool>>{
           {"ray:*", "ray:2.9", true},
           {"*pytorch*", "docker.io/pytorch/pytorch:2", true},
           {"*pytorch*", "torch", false},
           {"a*b*c", "a-b-b-c", true},
           {"a*b*c", "a-c-b", false},
           {"x", "x", true},
           {"x", "xy", false},
           {"*", "", true},
           {"", "x", false}}) {
    EXPECT_EQ(matches_pattern(pattern, text), expected) << pattern << " " << text;
  }
}

TEST(ImageTable, the_first_match_counts) {
  const auto table = ImageTable::parse(
      R"({"images":[{"image":"a:1","workdir":"/x"},{"image":"a:*","entrypoint":["run"]}]})");
  ASSERT_TRUE(table) << table.error().to_string();
  EXPECT_EQ(table->find("a:1")->workdir, "/x");
  EXPECT_EQ(table->find("a:2")->entrypoint, (std::vector<std::string>{"run"}));
  EXPECT_EQ(table->find("b"), nullptr);
}

TEST(ImageTable, says_what_is_wrong) {
  EXPECT_FALSE(ImageTable::parse("{"));
  EXPECT_FALSE(ImageTable::parse(R"({"images":[{}]})"));
  const auto relative = ImageTable::parse(R"({"images":[{"image":"a","root":"x"}]})");
  EXPECT_EQ(relative.error().message, "image a: its directories must be absolute");
}

}  // namespace
}  // namespace codeflare::node
