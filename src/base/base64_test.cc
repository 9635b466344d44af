#include "base/base64.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare {
namespace {

TEST(Base64, the_vectors_of_rfc_4648_go_both_ways) {
  const std::pair<std::string, std::string> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, encoded] : vectors) {
    EXPECT_EQ(to_base64(plain), encoded);
    EXPECT_EQ(from_base64(encoded).value(), plain);
  }
}

TEST(Base64, every_byte_value_survives) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) {
    bytes.push_back(static_cast<char>(i));
    EXPECT_EQ(from_base64(to_base64(bytes)).value(), bytes);
  }
}

TEST(Base64, line_breaks_are_skipped) {
  EXPECT_EQ(from_base64("Zm9v\r\nYg\n==\n").value(), "foob");
}

TEST(Base64, broken_text_is_refused_without_being_repeated) {
  for (std::string text : {"Zm9", "Zg", "Zg=", "Z", "Z===", "====", "Zm 9v", "Zm9v!",
                           "Zg==Zg==", "Zg=v", "Zm9v=", "Zg===", "\xff\xff\xff\xff"}) {
    Result<std::string> bytes = from_base64(text);
    ASSERT_FALSE(bytes) << text;
    EXPECT_EQ(bytes.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(bytes.error().message.find(text), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace codeflare
