#include "node/wire/frame.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace codeflare::node {
namespace {

TEST(Frames, frames_are_found_however_the_bytes_are_cut) {
  const std::string bytes = frame("one") + frame("") + frame(std::string(70'000, 'x'));
  for (std::size_t step : {1u, 3u, 4096u}) {
    FrameReader reader;
    std::vector<std::string> found;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      reader.add(std::string_view(bytes).substr(at, step));
      for (auto next = reader.next(); next && *next; next = reader.next()) {
        found.push_back(**next);
      }
    }
    ASSERT_EQ(found.size(), 3u) << step;
    EXPECT_EQ(found[0], "one");
    EXPECT_EQ(found[1], "");
    EXPECT_EQ(found[2].size(), 70'000u);
  }
}

TEST(Frames, an_absurd_length_is_an_error) {
  FrameReader reader;
  reader.add("\xff\xff\xff\x7f");
  EXPECT_EQ(reader.next().error().code, ErrorCode::too_large);
}

}  // namespace
}  // namespace codeflare::node
