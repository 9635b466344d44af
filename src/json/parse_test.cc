#include "json/parse.h"

#include "json/text_position.h"
#include "json/write.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace codeflare::json {
namespace {

std::string reparsed(std::string_view text) {
  auto document = parse(text);
  return document ? to_text(document->root) : document.error().to_string();
}

std::string cause(std::string_view text, const ParseOptions& options = {}) {
  auto document = parse(text, options);
  return document ? "no error" : document.error().message;
}

std::vector<std::string> duplicates_of(std::string_view text) {
  std::vector<std::string> paths;
  ParseOptions options;
  options.duplicate_keys = &paths;
  EXPECT_TRUE(parse(text, options).has_value());
  return paths;
}

TEST(Parse, reads_every_kind_in_source_order) {
  std::string text = R"({"z":[1,"two",true,false,null,{},[]],"a":{"b":-0.5e+3},"":""})";
  EXPECT_EQ(reparsed(text), text);
  EXPECT_EQ(reparsed(" \t\r\n[ 1 , 2 ] \n"), "[1,2]");
  EXPECT_EQ(reparsed("7"), "7");
  EXPECT_EQ(reparsed(R"("alone")"), R"("alone")");
}

TEST(Parse, numbers_keep_their_text) {
  for (std::string text : {"1.0", "-0", "1e0", "12345678901234567890", "0.10", "1E+2", "1e400",
                           "123456789012345678901234567890.123456789012345678901234567890"}) {
    EXPECT_EQ(reparsed(text), text);
    EXPECT_EQ(reparsed("[" + text + ", " + text + "]"), "[" + text + "," + text + "]");
  }
  std::string huge(100'000, '9');
  EXPECT_EQ(reparsed(huge), huge);
}

TEST(Parse, refuses_what_is_no_json_number) {
  for (std::string_view text :
       {"NaN", "Infinity", "-Infinity", "-", "+1", "01", "-01", "1.", ".5", "1e", "1e+", "0x10"}) {
    EXPECT_FALSE(parse(text).has_value()) << text;
  }
}

TEST(Parse, decodes_escapes_and_surrogate_pairs) {
  auto document = parse(R"(["\"\\\/\b\f\n\r\t","\u00e4\u20ac\ud83d\ude00","a\u0000b","\n"])");
  ASSERT_TRUE(document.has_value());
  auto items = document->root.items();
  EXPECT_EQ(items[0].as_string(), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(items[1].as_string(), "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(items[2].as_string(), std::string_view("a\0b", 3));
  EXPECT_EQ(items[3].as_string(), "\n");
}

TEST(Parse, decodes_escapes_in_keys_and_in_long_strings) {
  std::string text(10'000, 'x');
  text += "\\n";
  text.append(10'000, 'y');
  auto document = parse("{\"a\\tb\":\"" + text + "\"}");
  ASSERT_TRUE(document.has_value());
  std::string_view value = document->root.string_or_empty("a\tb");
  EXPECT_EQ(value.size(), 20'001u);
  EXPECT_EQ(value[10'000], '\n');
  EXPECT_EQ(value.back(), 'y');
}

TEST(Parse, refuses_lone_surrogates_and_broken_utf8) {
  for (std::string_view text :
       {R"("\ud800")", R"("\ud800x")", R"("\udc00")", R"("\ud800\u0041 and more")", "\"\xff\"",
        "\"\xc0\xaf\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"", "\"\xe2\x82\"", "\"\xe2\x82",
        "{\"\x80\":1}", "\xef\xbb\xbf{}"}) {
    EXPECT_FALSE(parse(text).has_value()) << text;
  }
}

TEST(Parse, refuses_control_characters_comments_and_trailing_text) {
  for (std::string_view text :
       {"\"a\nb\"", "\"a\x01\"", "[1,]",   "{\"a\":1,}", "// c\n1", "1 /**/",    "1 2",
        "{}}",      "[",         "{\"a\"", "{\"a\":",    "\"abc",   "",          "  ",
        "tru",      "nulll",     "{a:1}",  "{'a':1}",    "[1 2]",   "{\"a\" 1}", "\v1"}) {
    EXPECT_FALSE(parse(text).has_value()) << text;
  }
  EXPECT_FALSE(parse(std::string_view("1\0", 2)).has_value());
}

TEST(Parse, errors_name_line_column_byte_and_cause) {
  EXPECT_EQ(cause("{\n  \"a\": x}"), "line 2, column 8 (byte 9): unexpected 'x'");
  EXPECT_EQ(cause("[1, 2"), "line 1, column 6 (byte 5): the text ends too early");
  EXPECT_EQ(cause(""), "line 1, column 1 (byte 0): the text ends too early");
  EXPECT_EQ(cause("{} {}"), "line 1, column 4 (byte 3): more text after the value");
  EXPECT_EQ(cause("[1e99999999999]"), "line 1, column 13 (byte 12): exponent out of range");
  EXPECT_EQ(cause("\"a\x02\""), "line 1, column 3 (byte 2): unexpected control character 0x02");

  auto broken = parse("[1,\n2,\nx]");
  ASSERT_FALSE(broken.has_value());
  EXPECT_EQ(broken.error().code, ErrorCode::invalid_argument);
  auto* position = dynamic_cast<const TextPosition*>(broken.error().detail.get());
  ASSERT_NE(position, nullptr);
  EXPECT_EQ(position->line, 3u);
  EXPECT_EQ(position->column, 1u);
  EXPECT_EQ(position->offset, 7u);
}

TEST(Parse, depth_is_limited_exactly) {
  auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(parse(nested(512)).has_value());
  auto too_deep = parse(nested(513));
  ASSERT_FALSE(too_deep.has_value());
  EXPECT_EQ(too_deep.error().code, ErrorCode::too_large);
  EXPECT_FALSE(parse(nested(100'000)).has_value());

  ParseOptions options;
  options.max_depth = 100'000;  // capped
  EXPECT_TRUE(parse(nested(kDepthLimit), options).has_value());
  EXPECT_FALSE(parse(nested(kDepthLimit + 1), options).has_value());
}

TEST(Parse, size_is_limited) {
  ParseOptions options;
  options.max_bytes = 10;
  EXPECT_TRUE(parse("[1,2,3,44]", options).has_value());
  auto longer = parse("[1,2,3,444]", options);
  ASSERT_FALSE(longer.has_value());
  EXPECT_EQ(longer.error().code, ErrorCode::too_large);
}

TEST(Parse, last_duplicate_wins_at_the_place_of_the_first) {
  EXPECT_EQ(reparsed(R"({"a":1,"b":2,"a":3,"c":4,"a":5})"), R"({"a":5,"b":2,"c":4})");
}

TEST(Parse, duplicates_are_reported_with_their_path) {
  EXPECT_EQ(duplicates_of(R"({"a":1,"b":{}})"), std::vector<std::string>{});
  EXPECT_EQ(duplicates_of(R"({"spec":{"foo":1,"foo":2}})"), std::vector<std::string>{"spec.foo"});
  EXPECT_EQ(duplicates_of(R"({"spec":{"containers":[{},{"name":"a","image":"","name":"b"}]}})"),
            std::vector<std::string>{"spec.containers[1].name"});
  EXPECT_EQ(duplicates_of(R"([[1,{"x":1,"x":2}],{"y":1,"y":1}])"),
            (std::vector<std::string>{"[0][1].x", "[1].y"}));
  // An escaped key is the same key.
  EXPECT_EQ(duplicates_of(R"({"a":1,"\u0061":2})"), std::vector<std::string>{"a"});
}

TEST(Parse, duplicates_in_large_objects_behave_as_in_small_ones) {
  std::string text = "{\"first\":1";
  for (int i = 0; i < 500; ++i) {
    text += ",\"k" + std::to_string(i) + "\":" + std::to_string(i);
  }
  text += ",\"k7\":\"again\",\"first\":2}";
  EXPECT_EQ(duplicates_of(text), (std::vector<std::string>{"k7", "first"}));
  auto document = parse(text);
  ASSERT_TRUE(document.has_value());
  EXPECT_EQ(document->root.size(), 501u);
  EXPECT_EQ(document->root.members()[0].key, "first");
  EXPECT_EQ(document->root.members()[0].value.to_int64(), 2);
  EXPECT_EQ(document->root.members()[8].value.as_string(), "again");
}

TEST(Parse, list_of_duplicates_is_bounded) {
  std::string text = "[";
  for (int i = 0; i < 1'000; ++i) {
    text += R"({"a":1,"a":2},)";
  }
  text += "0]";
  EXPECT_EQ(duplicates_of(text).size(), kDuplicateKeysMax);
}

TEST(Parse, copies_survive_their_source) {
  std::string text = R"({"key":["value","esc\taped",12.50]})";
  auto document = parse(text);
  text.assign(text.size(), '#');
  ASSERT_TRUE(document.has_value());
  EXPECT_EQ(to_text(document->root), R"({"key":["value","esc\taped",12.50]})");
}

TEST(Parse, in_place_points_into_the_text_except_for_escapes) {
  std::string text = R"({"key":["value","esc\taped",12.50]})";
  auto document = parse_in_place(text);
  ASSERT_TRUE(document.has_value());
  auto inside = [&](std::string_view view) {
    return view.data() >= text.data() && view.data() < text.data() + text.size();
  };
  const Member& member = document->root.members()[0];
  EXPECT_TRUE(inside(member.key));
  EXPECT_TRUE(inside(member.value.items()[0].as_string()));
  EXPECT_FALSE(inside(member.value.items()[1].as_string()));
  EXPECT_TRUE(inside(member.value.items()[2].number()));
  EXPECT_EQ(to_text(document->root), text);
}

}  // namespace
}  // namespace codeflare::json
