#include "net/internal/chunk_decoder.h"

#include "net/internal/body_reader.h"

#include <gtest/gtest.h>

namespace codeflare::net::internal {
namespace {

struct Decoded {
  std::string data;
  bool done = false;
  std::size_t left = 0;  // bytes after the body
  std::string error;
};

// Offers the input in slices of `step` bytes.
Decoded decode(const std::string& input, std::size_t step) {
  ChunkDecoder decoder;
  Decoded result;
  std::size_t begin = 0;
  std::size_t end = 0;
  while (!result.done) {
    Wire<ChunkDecoder::Step> next =
        decoder.decode(std::string_view(input).substr(begin, end - begin));
    if (!next) {
      result.error = next.error().what;
      return result;
    }
    result.data += next->data;
    begin += next->consumed;
    result.done = next->done;
    if (next->data.empty() && !next->done) {
      EXPECT_EQ(begin, end) << "everything is consumed before more is asked for";
      if (end == input.size()) {
        break;
      }
      end = std::min(input.size(), end + step);
    }
  }
  result.left = input.size() - begin;
  return result;
}

TEST(ChunkDecoder, joins_chunks_however_the_bytes_are_cut) {
  const std::string input =
      "4\r\nWiki\r\n06;ext=\"a b\"\r\npedia \r\nE\r\nin \r\n\r\nchunks.\r\n000\r\nX: y\r\n\r\nrest";
  for (std::size_t step = 1; step <= input.size(); ++step) {
    Decoded result = decode(input, step);
    EXPECT_EQ(result.error, "");
    EXPECT_TRUE(result.done);
    EXPECT_EQ(result.data, "Wikipedia in \r\n\r\nchunks.");
    EXPECT_EQ(result.left, 4u);
  }
}

TEST(ChunkDecoder, wants_more_until_the_last_empty_line) {
  const std::string input = "1\r\na\r\n0\r\n\r\n";
  for (std::size_t size = 0; size < input.size(); ++size) {
    EXPECT_FALSE(decode(input.substr(0, size), 3).done);
  }
}

TEST(ChunkDecoder, refuses_bad_sizes_and_line_ends) {
  for (const char* input :
       {"\r\n", "g\r\n", "-1\r\n", "+1\r\n", "0x1\r\n", " 1\r\n", "1 \r\n", ";\r\n", "1\n", "1\ra",
        "1\r\nab", "1\r\na\n", "1\r\na\rx", "1000000000000000\r\n", "FFFFFFFFFFFFFFFFF\r\n",
        "1;\x01\r\n", "0\r\nX: y\n\r\n", "0\r\n\rx", "0\r\n\n"}) {
    EXPECT_NE(decode(input, 1).error, "") << input;
    EXPECT_NE(decode(input, 100).error, "") << input;
  }
}

TEST(ChunkDecoder, bounds_extensions_and_trailers) {
  EXPECT_NE(decode("1;" + std::string(20000, 'x') + "\r\n", 1000).error, "");
  EXPECT_NE(decode("0\r\n" + std::string(20000, 'x') + "\r\n", 1000).error, "");
}

TEST(BodyReader, takes_a_sized_body_and_leaves_the_rest) {
  InputBuffer input;
  input.append("abcdef");
  BodyReader reader({Framing::Kind::sized, 4});
  EXPECT_EQ((**reader.take(input)).view(), "abcd");
  EXPECT_TRUE(reader.done());
  EXPECT_EQ(input.view(), "ef");
  EXPECT_FALSE(*reader.take(input));
}

TEST(BodyReader, knows_a_proper_end_of_input) {
  BodyReader sized({Framing::Kind::sized, 4});
  EXPECT_FALSE(sized.end_of_input());
  BodyReader open({Framing::Kind::until_close});
  InputBuffer input;
  EXPECT_EQ((**open.take("abc", input)).view(), "abc");
  EXPECT_FALSE(open.done());
  EXPECT_TRUE(open.end_of_input());
  EXPECT_TRUE(BodyReader().done());
}

}  // namespace
}  // namespace codeflare::net::internal
