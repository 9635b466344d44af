#include "ray/ignore_patterns.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace codeflare::ray {
namespace {

struct Case {
  std::string patterns;
  std::string path;
  bool excluded;
};

// Each was asked of Ray 2.60's own matcher.
const std::vector<Case> kCases = {
    {"*.log", "x.log", true},
    {"*.log", "a/b/x.log", true},
    {"*.log", "x.logs", false},
    {"/x.log", "a/x.log", false},
    {"/x.log", "x.log", true},
    {"a/x.log", "b/a/x.log", false},
    {"a/x.log", "a/x.log", true},
    {"build", "build/o", true},
    {"build", "src/build/o", true},
    {"build/", "build", false},
    {"build/", "build/o", true},
    {"build/", "src/build/o", true},
    {"*.log\n!keep.log", "keep.log", false},
    {"*.log\n!keep.log\n*.log", "keep.log", true},
    {"!keep.log", "keep.log", false},
    {"build\n!build/keep", "build/keep", false},
    {"# comment", "# comment", false},
    {"\\#x", "#x", true},
    {"\\!x", "!x", true},
    {"\\*x", "abcx", true},
    {"a\\*x", "abx", false},
    {"a\\*x", "a*x", true},
    {"  spaced  ", "spaced", true},
    {"tail\\ ", "tail", true},
    {"/", "x", false},
    {"", "x", false},
    {"!", "x", false},
    {"**", "x", true},
    {"**", ".", true},
    {"*", ".", true},
    {".*", ".", true},
    {".*", ".hidden/x", true},
    {"a/**/b", "a/b", true},
    {"a/**/b", "a/x/y/b", true},
    {"a/**", "a", false},
    {"a/**", "a/x", true},
    {"**/b", "b", true},
    {"**/b", "a/b/c", true},
    {"a/*/c", "a/b/c", true},
    {"a/*/c", "a/b/b/c", false},
    {"a?c", "abc", true},
    {"a?c", "a/c", false},
    {"?", "\xc3\xa9", true},
    {"[a-c]x", "bx", true},
    {"[a-c]x", "dx", false},
    {"[!a-c]x", "dx", true},
    {"p[!a-c]x", "p/x", true},
    {"[]x]y", "]y", true},
    {"[!]x]y", "]y", false},
    {"[^a]x", "^x", true},
    {"[^a]x", "bx", false},
    {"[a-]x", "-x", true},
    {"[z-a]x", "bx", false},
    {"[x", "[x", true},
    {"a\r\nb\rc", "b", true},
    {"a\r\nb\rc", "c", true},
    {"x", "x\n", true},
    {"*.log", "a\nb.log", true},
    {"a/**", "a/x\ny", false},
};

TEST(IgnorePatterns, leave_out_what_ray_leaves_out) {
  for (const Case& each : kCases) {
    EXPECT_EQ(IgnorePatterns::parse(each.patterns).excludes(each.path), each.excluded)
        << each.patterns << " on " << each.path;
  }
}

TEST(IgnorePatterns, take_no_longer_for_patterns_that_could_be_tried_in_many_ways) {
  std::string pattern;
  for (int i = 0; i < 60; ++i) {
    pattern += "*a";
  }
  EXPECT_FALSE(IgnorePatterns::of({pattern + "b"}).excludes(std::string(2'000, 'a')));
}

TEST(IgnorePatterns, skip_bytes_that_are_no_text) {
  EXPECT_TRUE(IgnorePatterns::of({"\xff*"}).empty());
  EXPECT_FALSE(IgnorePatterns::of({"*"}).excludes("\xff"));
}

}  // namespace
}  // namespace codeflare::ray
