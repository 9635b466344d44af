#include "node/agent/image_table.h"

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

TEST(ImageTable, prefixes_of_registries_and_tools_make_no_difference) {
  ImageTable table;
  table.put({.image = "codeflare:0.1.0"});
  table.put({.image = "docker.io/team/tool"});
  for (const char* name :
       {"codeflare:0.1.0", "localhost/codeflare:0.1.0", "docker.io/library/codeflare:0.1.0"}) {
    EXPECT_NE(table.find(name), nullptr) << name;
  }
  EXPECT_NE(table.find("team/tool:latest"), nullptr);
  EXPECT_EQ(table.find("team/codeflare:0.1.0"), nullptr);
  EXPECT_EQ(table.find("codeflare:0.2.0"), nullptr);
}

TEST(ImageTable, the_first_match_counts) {
  const auto table = ImageTable::parse(
      R"({"images":[{"image":"a:1","workdir":"/x"},{"image":"a:*","entrypoint":["run"]}]})");
  ASSERT_TRUE(table) << table.error().to_string();
  EXPECT_EQ(table->find("a:1")->workdir, "/x");
  EXPECT_EQ(table->find("a:2")->entrypoint, (std::vector<std::string>{"run"}));
  EXPECT_EQ(table->find("b"), nullptr);
}

TEST(ImageTable, common_images_run_the_machines_programs_without_an_entry) {
  const ImageTable none;
  using Words = std::vector<std::string>;
  EXPECT_EQ(none.find("python:3.11-slim")->args, Words{"python3"});
  EXPECT_EQ(none.find("registry.example/library/busybox")->args, Words{"sh"});
  EXPECT_EQ(none.find("ubuntu@sha256:0")->args, Words{"bash"});
  EXPECT_EQ(none.find("library/debian:12")->args, Words{"bash"});
  EXPECT_TRUE(none.find("python")->root.empty());
  for (const char* other : {"python3", "me/python", "busyboxes:1", "ghcr.io/python:3", ""}) {
    EXPECT_EQ(none.find(other), nullptr) << other;
  }
  const Result<ImageTable> own =
      ImageTable::parse(R"({"images":[{"image":"python:*","entrypoint":["mine"]}]})");
  ASSERT_TRUE(own.has_value());
  EXPECT_EQ(own->find("python:3")->entrypoint, Words{"mine"});
}

TEST(ImageTable, what_is_meant_more_exactly_or_later_counts) {
  ImageTable table;
  EXPECT_FALSE(table.put({.image = "ray:*", .workdir = "/any"}));
  EXPECT_FALSE(table.put({.image = "ray:2.9", .workdir = "/one"}));
  EXPECT_FALSE(table.put({.image = "*", .workdir = "/rest"}));
  EXPECT_EQ(table.find("ray:2.9")->workdir, "/one");
  EXPECT_EQ(table.find("ray:3")->workdir, "/rest");
  EXPECT_TRUE(table.put({.image = "*", .workdir = "/new"}));
  EXPECT_EQ(table.find("ray:3")->workdir, "/new");
  EXPECT_TRUE(table.remove("*"));
  EXPECT_FALSE(table.remove("*"));
  EXPECT_EQ(table.find("ray:3")->workdir, "/any");
}

TEST(ImageTable, is_written_as_it_was_read) {
  const auto table = ImageTable::parse(
      R"({"note":"mine","images":[{"image":"a","directories":["/x"],"env":{"A":"b"},"more":1}]})");
  ASSERT_TRUE(table) << table.error().to_string();
  const std::string text = table->to_json();
  const auto again = ImageTable::parse(text);
  ASSERT_TRUE(again) << text;
  EXPECT_EQ(*again, *table);
  EXPECT_TRUE(text.contains("\"note\": \"mine\"") && text.contains("\"more\": 1")) << text;
}

TEST(ImageTable, says_what_is_wrong) {
  EXPECT_FALSE(ImageTable::parse("{"));
  EXPECT_FALSE(ImageTable::parse(R"({"images":[{}]})"));
  const auto relative = ImageTable::parse(R"({"images":[{"image":"a","root":"x"}]})");
  EXPECT_EQ(relative.error().message, "image a: its directories must be absolute");
}

}  // namespace
}  // namespace codeflare::node
