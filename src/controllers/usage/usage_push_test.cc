#include "controllers/usage/usage_push.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/sim_env.h"
#include "base/log_capture.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace codeflare::controllers::metering {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

kube::ObjectRef ledger(const std::string& ns, std::int64_t gpu, int version) {
  return *kube::Object::from_json(
      R"({"metadata":{"name":"usage","namespace":")" + ns + R"(","uid":"u-)" + ns +
      R"(","resourceVersion":")" + std::to_string(version) +
      R"("},"status":{"totals":[{"queue":"q","resource":"nvidia.com/gpu","unitSeconds":)" +
      std::to_string(gpu) + "}]}}");
}

// Counts requests and answers as scripted.
class Receiver final : public net::HttpService {
 public:
  Task<Result<net::Response>> send(net::Request request) override {
    ++calls;
    authorization = std::string(request.headers.get("Authorization").value_or(""));
    target = request.target;
    Result<std::string> body = co_await net::read_all(std::move(request.body), 1 << 20);
    last = body.value_or("");
    if (down) {
      co_return fail(unavailable("connection refused"));
    }
    net::Response response{.status = status};
    if (status == 429) {
      response.headers.add("Retry-After", "120");
    }
    co_return response;
  }
  int calls = 0;
  bool down = false;
  int status = 204;
  std::string authorization;
  std::string target;
  std::string last;
};

struct World {
  SimEnv sim;
  Env env = sim.env();
  LogCapture log;
  MetricsRegistry metrics;
  runtime::Store ledgers;
  Receiver receiver;
  std::string password = "one";
  TaskGroup group{env.loop};

  World() {
    ledgers.apply(ledger("a", 60, 1));
    group.spawn(push_usage(env, receiver, ledgers,
                           {.identity = {.cluster = "c-1", .customer = "acme"},
                            .target = "/push",
                            .authorization = [this] { return Result<Secret>(Secret(password)); },
                            .metrics = &metrics,
                            .logger = log.logger(env.clock)}));
  }
  ~World() { CHECK(run(env.loop, group.close())); }
  static Task<void> wait(Duration time) { static_cast<void>(co_await sleep_for(time)); }
  void settle(Duration time) { CHECK(run(env.loop, wait(time))); }
};

TEST(UsagePush, has_the_totals_of_all_namespaces_with_cluster_and_customer) {
  runtime::Store ledgers;
  ledgers.apply(ledger("a", 60, 1));
  ledgers.apply(ledger("b", 7, 2));
  const auto counters = usage_counters(ledgers, {.cluster = "c-1", .customer = ""});
  ASSERT_EQ(counters.size(), 2U);
  const usage::Labels labels = {{"__name__", "codeflare_usage_unit_seconds_total"},
                                {"cluster", "c-1"},
                                {"namespace", "a"},
                                {"queue", "q"},
                                {"resource", "nvidia.com/gpu"}};
  EXPECT_EQ(counters.at(labels), 60) << "labels without a value are left out";
}

TEST(UsagePush, pushes_every_minute_with_the_password_of_the_moment) {
  World w;
  w.settle(seconds(1));
  EXPECT_EQ(w.receiver.calls, 1);
  EXPECT_EQ(w.receiver.authorization, "one");
  EXPECT_EQ(w.receiver.target, "/push");
  w.password = "two";
  w.settle(minutes(5));
  EXPECT_EQ(w.receiver.calls, 6);
  EXPECT_EQ(w.receiver.authorization, "two");
  EXPECT_NE(w.metrics.expose().find("codeflare_usage_pushed_samples_total 6"), std::string::npos);
}

TEST(UsagePush, an_endpoint_that_is_down_gets_the_newest_value_later) {
  World w;
  w.receiver.down = true;
  w.settle(minutes(2));
  const int tries = w.receiver.calls;
  EXPECT_GE(tries, 6);
  EXPECT_LE(tries, 9) << "it backs off";
  w.ledgers.apply(ledger("a", 99, 5));
  w.receiver.down = false;
  w.settle(minutes(2));
  EXPECT_GT(w.receiver.calls, tries);
  EXPECT_NE(w.metrics.expose().find("codeflare_usage_dropped_samples_total 0"), std::string::npos);
}

TEST(UsagePush, honors_retry_after) {
  World w;
  w.receiver.status = 429;
  w.settle(seconds(110));
  EXPECT_EQ(w.receiver.calls, 1);
  w.receiver.status = 204;
  w.settle(seconds(20));
  EXPECT_EQ(w.receiver.calls, 2);
}

TEST(UsagePush, a_rejected_sample_is_dropped_and_newer_ones_follow) {
  World w;
  w.receiver.status = 400;
  w.settle(seconds(1));
  EXPECT_EQ(w.receiver.calls, 1);
  EXPECT_NE(w.metrics.expose().find("codeflare_usage_dropped_samples_total 1"), std::string::npos);
  w.receiver.status = 204;
  w.settle(minutes(1));
  EXPECT_NE(w.metrics.expose().find("codeflare_usage_pushed_samples_total 1"), std::string::npos);
}

}  // namespace
}  // namespace codeflare::controllers::metering
