#include "net/gzip.h"

#include "base/env/sim_env.h"
#include "net/testing/loopback.h"

#include <gtest/gtest.h>

namespace codeflare::net {
namespace {

Result<std::string> decode(const std::string& bytes, std::size_t step) {
  std::vector<std::string> pieces;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    pieces.push_back(bytes.substr(at, step));
  }
  SimEnv sim;
  return *run(sim.env().loop,
              read_all(gunzip(std::make_unique<testing::ListBody>(std::move(pieces))), 1u << 30));
}

std::string words(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += "word" + std::to_string(i * 7919 % 1000);
  }
  return text;
}

TEST(Gunzip, decodes_however_the_bytes_are_cut) {
  std::string text = words(5000);
  std::string bytes = gzip(text);
  for (std::size_t step : {std::size_t{1}, std::size_t{7}, std::size_t{1000}, bytes.size()}) {
    EXPECT_EQ(*decode(bytes, step), text);
  }
  EXPECT_EQ(*decode(bytes + gzip("second member"), 100), text + "second member");
  EXPECT_EQ(*decode("", 1), "");
}

TEST(Gunzip, brings_out_everything_that_little_input_expands_to) {
  std::string zeros(10u << 20, '0');
  std::string bytes = gzip(zeros);
  EXPECT_LT(bytes.size(), 20000u);
  Result<std::string> decoded = decode(bytes, bytes.size());
  ASSERT_TRUE(decoded) << decoded.error().to_string();
  EXPECT_TRUE(*decoded == zeros);
}

TEST(Gunzip, bounds_what_one_read_returns) {
  SimEnv sim;
  Body body = gunzip(body_of(gzip(std::string(10u << 20, '0'))));
  Result<Bytes> piece = *run(sim.env().loop, body->read());
  EXPECT_LE(piece->size(), 64u << 10);
}

TEST(Gunzip, refuses_damaged_and_broken_off_data) {
  std::string bytes = gzip(words(100));
  EXPECT_EQ(decode(bytes.substr(0, bytes.size() - 1), 50).error().code, ErrorCode::data_loss);
  EXPECT_EQ(decode("plain text", 50).error().code, ErrorCode::data_loss);
  std::string damaged = bytes;
  damaged[damaged.size() - 5] ^= 1;  // of the checksum
  EXPECT_EQ(decode(damaged, 50).error().code, ErrorCode::data_loss);
}

Task<Result<Response>> compressed(Request request) {
  std::string asked(request.headers.get("Accept-Encoding").value_or("nothing"));
  Response response = make_response(200, "text/plain", Bytes::from(gzip("asked for " + asked)));
  response.headers.add("Content-Encoding", "gzip");
  co_return response;
}

TEST(Gunzip, the_client_decodes_what_it_asked_for_itself) {
  testing::Loopback asks(compressed, {}, {.accept_gzip = true});
  Result<Response> response = asks.send({});
  EXPECT_FALSE(response->headers.has("Content-Encoding"));
  EXPECT_FALSE(response->body_size);
  EXPECT_EQ(*asks.read(*response), "asked for gzip");

  testing::Loopback silent(compressed);
  Result<Response> unasked = silent.send({});
  EXPECT_EQ(*silent.read(*unasked), "asked for nothing");
  Result<Response> raw = silent.send({.headers = {{"Accept-Encoding", "gzip"}}});
  EXPECT_TRUE(raw->headers.has("Content-Encoding"));
  EXPECT_EQ(*silent.read(*raw), gzip("asked for gzip"));
}

}  // namespace
}  // namespace codeflare::net
