#include "usage/remote_write.h"

#include "base/async/sleep.h"
#include "base/env/sim_env.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::usage {
namespace {

// Answers in the order that the test wants, and rejects bodies that hold the bad word.
class Receiver final : public net::HttpService {
 public:
  Task<Result<net::Response>> send(net::Request request) override {
    net::Body body = std::move(request.body);
    bodies.push_back((co_await net::read_all(std::move(body), 1u << 20)).value());
    if (!bad.empty() && bodies.back().contains(bad)) {
      co_return net::make_response(400, "text/plain", Bytes::from("out of order sample"));
    }
    if (answers.empty()) {
      co_return net::Response{.status = 204};
    }
    const int status = answers.front();
    answers.pop_front();
    if (status == 0) {
      co_return fail(unavailable("connection refused"));
    }
    net::Response response{.status = status};
    if (status == 429) {
      response.headers.add("Retry-After", "7");
    }
    co_return response;
  }

  std::deque<int> answers;
  std::string bad;
  std::vector<std::string> bodies;
};

class RemoteWriteTest : public testing::Test {
 protected:
  SendResult send(std::map<Labels, double> counters) {
    return run(world.env().loop, writer.send(std::move(counters)))->value();
  }
  void pass(Duration time) { ASSERT_TRUE(run(world.env().loop, sleep_for(time))->has_value()); }
  static Labels series(const std::string& name) {
    return {{"__name__", "usage"}, {"namespace", name}};
  }

  SimEnv world;
  Receiver receiver;
  RemoteWriter writer{world.env(), receiver, {}};
};

TEST(RemoteWrite, encodes_the_protocol_by_hand) {
  const std::string body =
      write_request({{.labels = {{"__name__", "up"}}, .value = 1, .time_ms = 300}});
  // Uncompressed length, one literal with a two-byte length, then protobuf.
  using namespace std::string_literals;
  EXPECT_EQ(body,
            "\x20\xf4\x1f\x00"s
            "\x0a\x1e\x0a\x0e\x0a\x08__name__\x12\x02up"s
            "\x12\x0c\x09\x00\x00\x00\x00\x00\x00\xf0\x3f\x10\xac\x02"s);
}

TEST(RemoteWrite, splits_long_literals) {
  const std::string text(200'000, 'x');
  const std::string block = snappy_literals(text);
  EXPECT_EQ(block.size(), 3 + text.size() + 4 * 3);
}

TEST(RemoteWrite, retries_only_where_the_protocol_says_so) {
  EXPECT_EQ(verdict_of(204), Verdict::sent);
  EXPECT_EQ(verdict_of(200), Verdict::sent);
  EXPECT_EQ(verdict_of(0), Verdict::retry);
  EXPECT_EQ(verdict_of(429), Verdict::retry);
  EXPECT_EQ(verdict_of(503), Verdict::retry);
  EXPECT_EQ(verdict_of(400), Verdict::drop);
  EXPECT_EQ(verdict_of(401), Verdict::drop);
}

TEST_F(RemoteWriteTest, a_lost_value_is_replaced_by_a_newer_one) {
  for (const int status : {0, 500, 429}) {
    receiver.answers.push_back(status);
    const SendResult result = send({{series("a"), 1}});
    EXPECT_TRUE(result.retry);
    EXPECT_EQ(result.sent, 0u);
    EXPECT_EQ(result.retry_after,
              status == 429 ? Duration(std::chrono::seconds(7)) : Duration::zero());
  }
  EXPECT_EQ(send({{series("a"), 2}}).sent, 1u);
}

TEST_F(RemoteWriteTest, times_of_a_series_strictly_rise) {
  EXPECT_EQ(send({{series("a"), 1}}).sent, 1u);
  EXPECT_EQ(send({{series("a"), 1}}).sent, 0u);  // the same millisecond
  pass(std::chrono::milliseconds(1));
  EXPECT_EQ(send({{series("a"), 1}, {series("b"), 1}}).sent, 2u);
}

// A login that the server rejects is not the fault of a sample.
TEST_F(RemoteWriteTest, rejected_credentials_cost_one_request) {
  for (const int status : {401, 403, 404}) {
    receiver.bodies.clear();
    receiver.answers.push_back(status);
    const SendResult result = send({{series("a"), 1}, {series("b"), 1}, {series("c"), 1}});
    EXPECT_EQ(receiver.bodies.size(), 1U) << status;
    EXPECT_EQ(result.sent, 0U);
    EXPECT_EQ(result.dropped, 3U);
    EXPECT_FALSE(result.retry);
    EXPECT_TRUE(result.last_error.starts_with(std::to_string(status)));
    pass(std::chrono::seconds(1));
  }
}

TEST_F(RemoteWriteTest, one_bad_sample_does_not_hold_back_others) {
  receiver.bad = "bad";
  const SendResult result = send({{series("a"), 1}, {series("bad"), 1}, {series("c"), 1}});
  EXPECT_EQ(result.sent, 2u);
  EXPECT_EQ(result.dropped, 1u);
  EXPECT_FALSE(result.retry);
  EXPECT_NE(result.last_error.find("out of order"), std::string::npos);
}

}  // namespace
}  // namespace codeflare::usage
