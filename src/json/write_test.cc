#include "json/write.h"

#include "json/parse.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace codeflare::json {
namespace {

std::string json_of(std::string_view text) {
  std::string out;
  append_quoted(out, text);
  return out;
}

TEST(Write, escapes_what_json_requires_and_nothing_else) {
  EXPECT_EQ(json_of("plain / <text> & 'more'"), R"("plain / <text> & 'more'")");
  EXPECT_EQ(json_of("\"\\\b\f\n\r\t"), R"("\"\\\b\f\n\r\t")");
  EXPECT_EQ(json_of(std::string_view("\0\x1f\x7f", 3)), "\"\\u0000\\u001f\x7f\"");
  EXPECT_EQ(json_of("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"),
            "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
}

TEST(Write, sees_what_must_be_escaped_wherever_it_stands) {
  for (const auto& [bad, written] : std::vector<std::pair<std::string, std::string>>{
           {"\"", "\\\""}, {"\\", "\\\\"}, {"\x1f", "\\u001f"}, {"\x80", "\xef\xbf\xbd"}}) {
    for (std::size_t at = 0; at < 20; ++at) {
      const std::string before(at, '~');
      const std::string behind(20 - at, ' ');
      EXPECT_EQ(json_of(before + bad + behind), "\"" + before + written + behind + "\"");
    }
  }
}

TEST(Write, replaces_bytes_that_are_no_utf8) {
  EXPECT_EQ(json_of("a\xff"
                    "b"),
            "\"a\xef\xbf\xbd"
            "b\"");
  EXPECT_EQ(json_of("\xe2\x82"), "\"\xef\xbf\xbd\xef\xbf\xbd\"");
  EXPECT_EQ(json_of("\xed\xa0\x80").size(), 2 + 3 * 3u);
  for (int lead = 0; lead < 256; ++lead) {
    for (int next = 0; next < 256; ++next) {
      std::string text = {static_cast<char>(lead), static_cast<char>(next), '\x80'};
      EXPECT_TRUE(parse(json_of(text)).has_value()) << lead << ' ' << next;
    }
  }
}

TEST(Write, pretty_form_indents_and_keeps_empty_containers_short) {
  auto document = parse(R"({"a":[1,{"b":null}],"c":{},"d":[]})");
  ASSERT_TRUE(document.has_value());
  EXPECT_EQ(to_pretty_text(document->root), R"({
  "a": [
    1,
    {
      "b": null
    }
  ],
  "c": {},
  "d": []
})");
  EXPECT_EQ(to_pretty_text(Value()), "null");
  EXPECT_NE(to_pretty_text(document->root, 4).find("\n    \"a\""), std::string::npos);
}

TEST(Writer, places_commas_and_colons) {
  std::string out;
  Writer writer(out);
  writer.begin_object().member("name", "a\"b").key("n").integer(-3).key("list").begin_array();
  writer.string("x").null().boolean(true).number(0.5).begin_object().end_object();
  writer.begin_array().end_array().raw("{\"raw\":1}").number_text("1.00").end_array();
  EXPECT_FALSE(writer.complete());
  writer.member_if_set("unset", "").member_if_set("set", "y").end_object();
  EXPECT_TRUE(writer.complete());
  EXPECT_EQ(out,
            R"({"name":"a\"b","n":-3,"list":["x",null,true,0.5,{},[],{"raw":1},1.00],"set":"y"})");
}

TEST(Writer, writes_whole_values) {
  auto document = parse(R"({"a":[1.0]})");
  ASSERT_TRUE(document.has_value());
  std::string out = "prefix ";
  Writer(out).begin_array().value(document->root).value(Value()).end_array();
  EXPECT_EQ(out, R"(prefix [{"a":[1.0]},null])");
}

}  // namespace
}  // namespace codeflare::json
