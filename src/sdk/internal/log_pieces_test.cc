#include "sdk/internal/log_pieces.h"

#include <gtest/gtest.h>

#include <vector>

namespace codeflare::sdk::internal {
namespace {

std::vector<std::string> pieces_of(const std::vector<std::string>& arrivals) {
  std::vector<std::string> given;
  LogPieces pieces([&](std::string_view text) { given.emplace_back(text); });
  for (const std::string& arrival : arrivals) {
    pieces.add(arrival);
  }
  pieces.finish();
  return given;
}

using Pieces = std::vector<std::string>;

TEST(LogPieces, never_cut_a_character) {
  EXPECT_EQ(pieces_of({"abc\n", "d"}), (Pieces{"abc\n", "d"}));
  EXPECT_EQ(pieces_of({"a\xC3",
                       "\xA4"
                       "b"}),
            (Pieces{"a",
                    "\xC3\xA4"
                    "b"}));
  EXPECT_EQ(pieces_of({"\xF0\x9F", "\x9A", "\x80!"}), (Pieces{"\xF0\x9F\x9A\x80!"}));
  EXPECT_EQ(pieces_of({"\xE2\x82\xAC"}), (Pieces{"\xE2\x82\xAC"}));
}

TEST(LogPieces, lose_nothing_that_is_no_text) {
  EXPECT_EQ(pieces_of({"a\xC3"}), (Pieces{"a", "\xC3"}));
  EXPECT_EQ(pieces_of({"\x80\x80\x80\x80"}), (Pieces{"\x80\x80\x80\x80"}));
}

}  // namespace
}  // namespace codeflare::sdk::internal
