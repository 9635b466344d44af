#include "json/pointer.h"

#include "json/parse.h"
#include "json/write.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::json {
namespace {

std::string at(std::string_view document_text, std::string_view pointer_text) {
  auto document = parse(document_text);
  auto pointer = Pointer::parse(pointer_text);
  if (!document || !pointer) {
    return "malformed";
  }
  EXPECT_EQ(pointer->to_string(), pointer_text);
  const Value* found = find(document->root, *pointer);
  return found == nullptr ? "nothing" : to_text(*found);
}

TEST(Pointer, follows_members_and_indexes) {
  std::string_view text = R"({"a":{"b":[10,[20,{"c":30}]]},"":{"":1},"0":"zero"})";
  EXPECT_EQ(at(text, "/a/b/0"), "10");
  EXPECT_EQ(at(text, "/a/b/1/1/c"), "30");
  EXPECT_EQ(at(text, "/"), R"({"":1})");
  EXPECT_EQ(at(text, "//"), "1");
  EXPECT_EQ(at(text, "/0"), R"("zero")");
  EXPECT_EQ(at("[1]", ""), "[1]");
}

TEST(Pointer, unescapes_tilde_and_slash_once) {
  EXPECT_EQ(at(R"({"a/b":1})", "/a~1b"), "1");
  EXPECT_EQ(at(R"({"m~n":1})", "/m~0n"), "1");
  EXPECT_EQ(at(R"({"~1":1,"/":2})", "/~01"), "1");
  EXPECT_EQ(escape_token("~/~1"), "~0~1~01");
}

TEST(Pointer, other_characters_mean_themselves) {
  EXPECT_EQ(at(R"({"c%d":1,"e^f":2,"g|h":3,"i\\j":4,"k\"l":5," ":6})", "/c%d"), "1");
  EXPECT_EQ(at(R"({"i\\j":4})", "/i\\j"), "4");
  EXPECT_EQ(at(R"({"k\"l":5})", "/k\"l"), "5");
  EXPECT_EQ(at(R"({" ":6})", "/ "), "6");
}

TEST(Pointer, leads_nowhere_when_something_is_missing) {
  std::string_view text = R"({"a":[1,2],"s":"text"})";
  for (std::string_view pointer : {"/b", "/a/2", "/a/-", "/a/01", "/a/+1", "/a/-1", "/a/1 ", "/a/",
                                   "/a/x", "/s/0", "/a/0/0", "/a/99999999999999999999"}) {
    EXPECT_EQ(at(text, pointer), "nothing") << pointer;
  }
}

TEST(Pointer, refuses_malformed_text) {
  for (std::string_view text : {"a", "a/b", "#/a", "/~", "/a~", "/~2", "/~/0", " /a"}) {
    EXPECT_FALSE(Pointer::parse(text).has_value()) << text;
  }
}

TEST(Pointer, knows_its_parent_and_its_prefixes) {
  Pointer a = *Pointer::parse("/a");
  Pointer ab = *Pointer::parse("/a/b");
  EXPECT_EQ(ab.parent().tokens(), a.tokens());
  EXPECT_TRUE(a.is_proper_prefix_of(ab));
  EXPECT_FALSE(ab.is_proper_prefix_of(a));
  EXPECT_FALSE(a.is_proper_prefix_of(a));
  EXPECT_FALSE(a.is_proper_prefix_of(*Pointer::parse("/ab/c")));
  EXPECT_TRUE(Pointer().is_proper_prefix_of(a));
  a.append("x/y");
  EXPECT_EQ(a.to_string(), "/a/x~1y");
}

TEST(Pointer, finds_values_that_can_be_changed) {
  auto document = parse(R"({"a":[1]})");
  ASSERT_TRUE(document.has_value());
  *find(document->root, *Pointer::parse("/a/0")) = Value::boolean(true);
  EXPECT_EQ(to_text(document->root), R"({"a":[true]})");
}

}  // namespace
}  // namespace codeflare::json
