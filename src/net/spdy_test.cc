#include "net/spdy.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>
#include <zlib.h>

namespace codeflare::net {
namespace {

std::string bytes_of(SpdyEncoder& encoder, const SpdyFrame& frame) {
  const auto bytes = encoder.encode(frame);
  EXPECT_TRUE(bytes) << bytes.error().to_string();
  return bytes.value_or("");
}

SpdyFrame take(SpdyDecoder& decoder) {
  const auto frame = decoder.next();
  EXPECT_TRUE(frame && *frame);
  return frame && *frame ? **frame : SpdyFrame{};
}

TEST(SpdyDictionary, is_the_one_of_the_protocol) {
  const std::string& words = spdy_dictionary();
  EXPECT_EQ(words.size(), 1423u);
  EXPECT_EQ(
      adler32(1, reinterpret_cast<const Bytef*>(words.data()), static_cast<uInt>(words.size())),
      0xe3c6a7c2u);
}

TEST(SpdyFrames, come_out_as_they_went_in_byte_by_byte) {
  const std::vector<SpdyFrame> frames = {
      {.type = SpdyType::syn_stream,
       .stream = 1,
       .headers = {{"streamtype", "error"}, {"port", "80"}, {"requestid", "0"}}},
      {.type = SpdyType::syn_reply, .stream = 1},
      {.type = SpdyType::syn_stream,
       .fin = true,
       .stream = 3,
       .headers = {{"streamtype", "data"}, {"port", "80"}, {"requestid", "0"}}},
      {.fin = false, .stream = 3, .data = "hello"},
      {.fin = true, .stream = 3},
      {.type = SpdyType::headers, .stream = 3, .headers = {{"x", std::string(20000, 'y')}}},
      {.type = SpdyType::rst_stream, .stream = 3, .value = kSpdyCancel},
      {.type = SpdyType::settings},
      {.type = SpdyType::ping, .value = 7},
      {.type = SpdyType::window_update, .stream = 3, .value = 1000},
      {.type = SpdyType::goaway, .stream = 3, .value = 0},
  };
  SpdyEncoder encoder;
  SpdyDecoder decoder;
  for (const SpdyFrame& frame : frames) {
    std::optional<SpdyFrame> found;
    for (char c : bytes_of(encoder, frame)) {
      ASSERT_FALSE(found);
      decoder.add({&c, 1});
      auto next = decoder.next();
      ASSERT_TRUE(next) << next.error().to_string();
      found = *std::move(next);
    }
    ASSERT_TRUE(found);
    EXPECT_EQ(found->type, frame.type);
    EXPECT_EQ(found->fin, frame.fin);
    EXPECT_EQ(found->stream, frame.stream);
    EXPECT_EQ(found->value, frame.value);
    EXPECT_EQ(found->data, frame.data);
    ASSERT_EQ(found->headers.fields().size(), frame.headers.fields().size());
    for (const Headers::Field& field : frame.headers.fields()) {
      EXPECT_EQ(found->headers.get(field.name), field.value);
    }
  }
}

TEST(SpdyFrames, have_names_in_lower_case) {
  SpdyEncoder encoder;
  SpdyDecoder decoder;
  decoder.add(bytes_of(
      encoder, {.type = SpdyType::syn_stream, .stream = 1, .headers = {{"streamType", "Data"}}}));
  const SpdyFrame frame = take(decoder);
  EXPECT_EQ(frame.headers.fields()[0].name, "streamtype");
  EXPECT_EQ(frame.headers.fields()[0].value, "Data");
}

TEST(SpdyFrames, of_unknown_types_are_passed_over) {
  SpdyEncoder encoder;
  SpdyDecoder decoder;
  decoder.add(std::string("\x80\x03\x00\x05\x00\x00\x00\x02??", 10));
  decoder.add(bytes_of(encoder, {.type = SpdyType::ping, .value = 9}));
  EXPECT_EQ(take(decoder).value, 9u);
}

TEST(SpdyFrames, that_are_none_are_refused) {
  const std::vector<std::string> broken = {
      std::string("\x80\x02\x00\x06\x00\x00\x00\x04\x00\x00\x00\x01", 12),  // version 2
      std::string("\x80\x03\x00\x06\x00\x00\x00\x02\x00\x01", 10),          // half a ping
      std::string("\x80\x03\x00\x03\x00\x00\x00\x04\x00\x00\x00\x01", 12),  // half a reset
      std::string("\x80\x03\x00\x02\x00\x00\x00\x08\x00\x00\x00\x01rubb", 16),
      std::string("\x00\x00\x00\x01\x00\xff\xff\xff", 8),  // too long
  };
  for (const std::string& bytes : broken) {
    SpdyDecoder decoder;
    decoder.add(bytes);
    EXPECT_FALSE(decoder.next());
  }
}

TEST(SpdyFrames, with_headers_that_swell_are_refused) {
  SpdyEncoder encoder;
  SpdyDecoder decoder;
  const std::string bytes =
      bytes_of(encoder, {.type = SpdyType::syn_stream,
                         .stream = 1,
                         .headers = {{"x", std::string(10 * kSpdyHeaderBytesMax, 'y')}}});
  EXPECT_LT(bytes.size(), kSpdyHeaderBytesMax / 10);
  decoder.add(bytes);
  EXPECT_EQ(decoder.next().error().code, ErrorCode::too_large);
}

}  // namespace
}  // namespace codeflare::net
