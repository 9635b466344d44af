// Pushes counters to a real Prometheus (2.42 of Debian) and asks for the totals.

#include "usage/testing/prometheus.h"

#include "usage/remote_write.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace codeflare::usage {
namespace {

// Rejects what Prometheus must not get to see: first nothing arrives, then 500 and 429.
class Flaky final : public net::HttpService {
 public:
  explicit Flaky(net::HttpService& target) : target_(target) {}
  Task<Result<net::Response>> send(net::Request request) override {
    const int now = ++calls_;
    if (now == 1) {
      co_return fail(unavailable("cut"));
    }
    if (now == 2 || now == 3) {
      co_return net::Response{.status = now == 2 ? 500 : 429};
    }
    co_return co_await target_.send(std::move(request));
  }

 private:
  net::HttpService& target_;
  int calls_ = 0;
};

Task<Result<void>> write_future(Env env, net::HttpService& http, Labels labels) {
  const auto now = std::chrono::floor<std::chrono::milliseconds>(env.clock.wall());
  const std::int64_t time_ms = now.time_since_epoch().count() + 60'000;
  std::string body = write_request({{.labels = std::move(labels), .value = 1, .time_ms = time_ms}});
  const std::size_t size = body.size();
  net::Request request{.method = "POST",
                       .target = "/api/v1/write",
                       .headers = {{"Content-Encoding", "snappy"}},
                       .body = net::body_of(std::move(body)),
                       .body_size = size};
  CO_TRY(co_await http.send(std::move(request)));
  co_return Result<void>();
}

struct Seen {
  std::vector<SendResult> sends{};
  std::string total{};
};

Task<Result<void>> push(Env env, net::HttpService& http, Seen& seen) {
  Flaky flaky(http);
  RemoteWriter writer(env, flaky, {});
  const Labels a = {{"__name__", "codeflare_usage_unit_seconds_total"}, {"namespace", "a"}};
  const Labels b = {{"__name__", "codeflare_usage_unit_seconds_total"}, {"namespace", "b"}};
  // Somebody wrote the future of this series: what comes now is out of order, and Prometheus drops
  // the whole request.
  const Labels wrong = {{"__name__", "codeflare_test_of_the_future"}};
  CO_TRY(co_await write_future(env, http, wrong));
  double seconds = 0;
  for (int turn = 0; turn < 8; ++turn) {
    seconds += 100;
    std::map<Labels, double> counters = {{a, seconds}, {b, 2 * seconds}};
    if (turn == 5) {
      counters.emplace(wrong, 1);
    }
    CO_TRY_ASSIGN(SendResult sent, co_await writer.send(std::move(counters)));
    seen.sends.push_back(std::move(sent));
    CO_TRY(co_await sleep_for(std::chrono::milliseconds(20)));
  }
  CO_TRY_ASSIGN(seen.total, co_await testing::ask(http, "sum(codeflare_usage_unit_seconds_total)"));
  co_return Result<void>();
}

TEST(Prometheus, has_the_exact_total_after_failures_and_one_bad_series) {
  RealEnv world;
  const Env env = world.env();
  Seen seen;
  testing::with_prometheus(env, [&](net::HttpService& http) { return push(env, http, seen); });
  ASSERT_EQ(seen.sends.size(), 8u);
  for (const std::size_t lost : {0u, 1u, 2u}) {
    EXPECT_TRUE(seen.sends[lost].retry);
  }
  EXPECT_EQ(seen.sends[3].sent, 2u);
  EXPECT_EQ(seen.sends[5].sent, 2u) << seen.sends[5].last_error;
  EXPECT_EQ(seen.sends[5].dropped, 1u);
  EXPECT_EQ(seen.sends[7].sent, 2u);
  EXPECT_NE(seen.total.find("\"2400\""), std::string::npos) << seen.total;
}

}  // namespace
}  // namespace codeflare::usage
