#include "net/http.h"

#include "base/env/sim_env.h"
#include "net/testing/scripted_service.h"

#include <gtest/gtest.h>

namespace codeflare::net {
namespace {

TEST(Headers, compare_names_without_regard_to_case) {
  Headers headers{{"Content-Type", "a"}, {"Accept", "b"}};
  headers.add("ACCEPT", "c");
  EXPECT_EQ(headers.get("content-type"), "a");
  EXPECT_EQ(headers.get("accept"), "b");
  EXPECT_FALSE(headers.has("content"));
  headers.set("aCCept", "d");
  EXPECT_EQ(headers.get("Accept"), "d");
  EXPECT_EQ(headers.fields().size(), 2u);
  headers.remove("CONTENT-TYPE");
  EXPECT_FALSE(headers.has("Content-Type"));
}

TEST(Body, of_no_bytes_is_no_stream) {
  EXPECT_EQ(body_of(Bytes()), nullptr);
  Body body = body_of(std::string("abc"));
  EXPECT_EQ(body->ready()->view(), "abc");
  EXPECT_TRUE(body->ready()->empty());
}

std::optional<Result<std::string>> read_pieces(std::vector<std::string> pieces, std::size_t max) {
  SimEnv sim;
  return run(sim.env().loop, read_all(std::make_unique<testing::ListBody>(std::move(pieces)), max));
}

TEST(ReadAll, joins_pieces_up_to_exactly_the_limit) {
  EXPECT_EQ(**read_pieces({"ab", "c", "def"}, 6), "abcdef");
  EXPECT_EQ((*read_pieces({"ab", "c", "def"}, 5)).error().code, ErrorCode::too_large);
  SimEnv sim;
  EXPECT_EQ(**run(sim.env().loop, read_all(nullptr, 0)), "");
}

TEST(MakeResponse, knows_its_size) {
  Response response = make_response(404, "text/plain", Bytes::from("gone"));
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.body_size, 4u);
  EXPECT_EQ(response.headers.get("content-type"), "text/plain");
  EXPECT_EQ(make_response(204, "text/plain", Bytes()).body, nullptr);
}

}  // namespace
}  // namespace codeflare::net
