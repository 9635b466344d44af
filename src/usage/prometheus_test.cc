// Pushes counters to a real Prometheus (2.42 of Debian) and asks for the totals.

#include "base/async/sleep.h"
#include "base/async/when.h"
#include "base/env/real_env.h"
#include "net/client.h"
#include "net/server.h"
#include "net/url.h"
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

Task<Result<std::string>> get(net::HttpService& http, std::string target) {
  net::Request request{.target = std::move(target)};
  CO_TRY_ASSIGN(net::Response response, co_await http.send(std::move(request)));
  if (response.status != 200) {
    co_return fail(unavailable("status " + std::to_string(response.status)));
  }
  net::Body body = std::move(response.body);
  co_return co_await net::read_all(std::move(body), 1u << 20);
}

Task<Result<void>> wait_until_ready(net::HttpService& http) {
  for (int turn = 0; turn < 600; ++turn) {
    if ((co_await get(http, "/-/ready")).has_value()) {
      co_return Result<void>();
    }
    CO_TRY(co_await sleep_for(std::chrono::milliseconds(100)));
  }
  co_return fail(deadline_exceeded("Prometheus is not ready within a minute"));
}

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

struct Story {
  std::vector<SendResult> sends{};
  std::string total{};
};

Task<Result<CommandResult>> push(Env env, std::uint16_t port, Story& story) {
  CO_TRY_ASSIGN(net::Url url, net::parse_url("http://127.0.0.1:" + std::to_string(port)));
  CO_TRY_ASSIGN(const std::unique_ptr<net::HttpClient> http,
                net::HttpClient::create(env, std::move(url), {}));
  CO_TRY(co_await wait_until_ready(*http));
  Flaky flaky(*http);
  RemoteWriter writer(env, flaky, {});
  const Labels a = {{"__name__", "codeflare_usage_unit_seconds_total"}, {"namespace", "a"}};
  const Labels b = {{"__name__", "codeflare_usage_unit_seconds_total"}, {"namespace", "b"}};
  // Somebody wrote the future of this series: what comes now is out of order, and Prometheus drops
  // the whole request.
  const Labels wrong = {{"__name__", "codeflare_test_of_the_future"}};
  CO_TRY(co_await write_future(env, *http, wrong));
  double seconds = 0;
  for (int turn = 0; turn < 8; ++turn) {
    seconds += 100;
    std::map<Labels, double> counters = {{a, seconds}, {b, 2 * seconds}};
    if (turn == 5) {
      counters.emplace(wrong, 1);
    }
    CO_TRY_ASSIGN(SendResult sent, co_await writer.send(std::move(counters)));
    story.sends.push_back(std::move(sent));
    CO_TRY(co_await sleep_for(std::chrono::milliseconds(20)));
  }
  const std::string query = net::percent_encode("sum(codeflare_usage_unit_seconds_total)");
  CO_TRY_ASSIGN(story.total, co_await get(*http, "/api/v1/query?query=" + query));
  co_return CommandResult{};
}

std::uint16_t free_port(Env env) {
  class Nobody final : public net::HttpService {
    Task<Result<net::Response>> send(net::Request) override { co_return net::Response{}; }
  } nobody;
  net::HttpServer server(env, nobody, {});
  const std::uint16_t port = server.listen("127.0.0.1", 0).value();
  EXPECT_TRUE(run(env.loop, server.drain(Duration::zero())));
  return port;
}

TEST(Prometheus, has_the_exact_total_after_failures_and_one_bad_series) {
  RealEnv world;
  const Env env = world.env();
  const std::string folder = join_path(testing::TempDir(), "prometheus-" + env.random.uuid());
  ASSERT_TRUE(env.files.make_directories(folder));
  ASSERT_TRUE(env.files.write(join_path(folder, "prometheus.yml"), "global: {}\n"));
  const std::uint16_t port = free_port(env);
  Command command{.program = "prometheus",
                  .arguments = {"--web.enable-remote-write-receiver",
                                "--web.listen-address=127.0.0.1:" + std::to_string(port),
                                "--storage.tsdb.path=" + join_path(folder, "data"),
                                "--config.file=" + join_path(folder, "prometheus.yml")}};
  Story story;
  std::vector<Task<Result<CommandResult>>> tasks;
  tasks.push_back(env.launcher.run(std::move(command)));
  tasks.push_back(push(env, port, story));
  const auto first = run(env.loop, when_any(std::move(tasks)));
  EXPECT_TRUE(env.files.remove_all(folder));
  ASSERT_TRUE(first.has_value());
  ASSERT_EQ(first->index, 1u) << "prometheus ended: "
                              << (first->value ? first->value->error_output
                                               : first->value.error().to_string());
  ASSERT_TRUE(first->value) << first->value.error().to_string();
  for (const std::size_t lost : {0u, 1u, 2u}) {
    EXPECT_TRUE(story.sends[lost].retry);
  }
  EXPECT_EQ(story.sends[3].sent, 2u);
  EXPECT_EQ(story.sends[5].sent, 2u) << story.sends[5].last_error;
  EXPECT_EQ(story.sends[5].dropped, 1u);
  EXPECT_EQ(story.sends[7].sent, 2u);
  EXPECT_NE(story.total.find("\"2400\""), std::string::npos) << story.total;
}

}  // namespace
}  // namespace codeflare::usage
