// The controller's push to a real Prometheus (2.42 of Debian): the total of the ledgers arrives.

#include "usage/testing/prometheus.h"

#include "base/async/task_group.h"
#include "controllers/usage/usage_push.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace codeflare::controllers::metering {
namespace {

kube::ObjectRef ledger(const std::string& ns, int gpu, int version) {
  return *kube::Object::from_json(
      R"({"metadata":{"name":"usage","namespace":")" + ns + R"(","uid":"u-)" + ns +
      R"(","resourceVersion":")" + std::to_string(version) +
      R"("},"status":{"totals":[{"queue":"q","resource":"nvidia.com/gpu","unitSeconds":)" +
      std::to_string(gpu) + "}]}}");
}

// Not there for the first two requests, then overloaded for one.
class Outage final : public net::HttpService {
 public:
  explicit Outage(net::HttpService& target) : target_(target) {}
  Task<Result<net::Response>> send(net::Request request) override {
    const int now = ++calls;
    if (now <= 2) {
      co_return fail(unavailable("down"));
    }
    if (now == 3) {
      co_return net::Response{.status = 429};
    }
    co_return co_await target_.send(std::move(request));
  }
  int calls = 0;

 private:
  net::HttpService& target_;
};

Task<Result<void>> story(Env env, net::HttpService& http, std::string& answer) {
  runtime::Store ledgers;
  ledgers.apply(ledger("a", 100, 1));
  ledgers.apply(ledger("b", 1000, 2));
  Outage outage(http);
  TaskGroup group(env.loop);
  group.spawn(push_usage(env, outage, ledgers,
                         {.identity = {.cluster = "c-1", .customer = "acme"},
                          .every = std::chrono::milliseconds(100)}));
  const std::string query =
      R"(sum(codeflare_usage_unit_seconds_total{cluster="c-1",customer="acme"}))";
  for (int turn = 0; turn < 300; ++turn) {
    if (turn == 10) {
      ledgers.apply(ledger("a", 345, 9));  // while the endpoint is down
    }
    CO_TRY_ASSIGN(answer, co_await usage::testing::ask(http, query));
    if (answer.contains("\"1345\"")) {
      break;
    }
    CO_TRY(co_await sleep_for(std::chrono::milliseconds(100)));
  }
  co_await group.close();
  co_return Result<void>();
}

TEST(UsagePrometheus, has_the_total_of_the_ledgers_after_an_outage) {
  RealEnv world;
  const Env env = world.env();
  std::string answer;
  usage::testing::with_prometheus(env,
                                  [&](net::HttpService& http) { return story(env, http, answer); });
  EXPECT_NE(answer.find("\"1345\""), std::string::npos) << answer;
}

}  // namespace
}  // namespace codeflare::controllers::metering
