#include "json/replace_text.h"

#include "json/parse.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::json {
namespace {

// The string as it was read, or why not.
std::string read(std::string_view inside) {
  const std::string text = "[\"" + std::string(inside) + "\"]";
  const std::string mended = with_replaced_text(text).value_or(text);
  const Result<Document> document = parse(mended);
  return document ? std::string(document->root.items()[0].as_string())
                  : document.error().to_string();
}

TEST(ReplaceText, leaves_text_alone) {
  for (const char* text : {R"({"a":"b"})", "\"\xc3\xa9\"", R"("\ud83d\ude00 \u0041 \" \\")", "",
                           "\"", R"("\)", R"("\u12)"}) {
    EXPECT_FALSE(with_replaced_text(text)) << text;
  }
}

TEST(ReplaceText, puts_one_for_each_byte_that_is_no_text) {
  EXPECT_EQ(read("x\xff\xc3y"), "x\xef\xbf\xbd\xef\xbf\xbdy");
  EXPECT_EQ(read("\xe2\x82"), "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(read("\xc3\xa9\xff"), "\xc3\xa9\xef\xbf\xbd");
}

TEST(ReplaceText, puts_one_for_half_a_pair) {
  EXPECT_EQ(read(R"(x\ud800y\udc00\ud800\u0041)"),
            "x\xef\xbf\xbdy\xef\xbf\xbd\xef\xbf\xbd"
            "A");
  EXPECT_EQ(read(R"(\ud800\ud83d\ude00)"), "\xef\xbf\xbd\xf0\x9f\x98\x80");
  EXPECT_EQ(read(R"(\\ud800)"), "\\ud800");
}

TEST(ReplaceText, leaves_what_is_outside_of_strings) {
  EXPECT_FALSE(with_replaced_text("[\xff]"));
  EXPECT_FALSE(with_replaced_text("[\\ud800]"));
  EXPECT_TRUE(read("\xff\x01").starts_with("invalid_argument")) << read("\xff\x01");
}

}  // namespace
}  // namespace codeflare::json
