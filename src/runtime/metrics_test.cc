// A scrape of a controller process: names, labels and numbers.

#include "base/metrics.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/sim_env.h"
#include "kube/testing/scripted_service.h"
#include "runtime/manager.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace codeflare::runtime {
namespace {

using namespace std::chrono_literals;

const ResourceType kPods{"", "v1", "Pod", "pods", true};

std::string pod(const std::string& name) {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
         R"(","namespace":"default"}})";
}

// Does what the name of the object says: "fails", "again", anything else goes well.
class ByName final : public Reconciler {
 public:
  explicit ByName(const ControllerContext&) {}

  Task<Result<Next>> reconcile(ObjectKey key) override {
    if (key.name == "fails" && !std::exchange(failed_, true)) {
      co_return fail(internal_error("no luck"));
    }
    if (key.name == "again" && !std::exchange(again_, true)) {
      co_return Next::after(1s);
    }
    if (key.name == "hangs") {
      CO_TRY(co_await sleep_for(1000h));
    }
    co_return Next::await_change();
  }

 private:
  bool failed_ = false;
  bool again_ = false;
};

struct World {
  SimEnv sim;
  Env env = sim.env();
  MetricsRegistry metrics;
  kube::testing::ScriptedService service{env};
  kube::Client client{env, service, {.host = "10.0.0.1:6443", .metrics = &metrics}};
  Manager manager{env,
                  client,
                  {.name = "test",
                   .leader = LeaderOptions{.ns = "default", .name = "test", .identity = "me"},
                   .metrics = &metrics}};
  TaskGroup group{env.loop};

  World() { manager.controller("pods").reconciles(kPods).workers(2).with<ByName>(); }
  ~World() { EXPECT_TRUE(run(env.loop, group.close())); }

  Task<void> run_manager() { EXPECT_TRUE(co_await manager.run()); }
  void start() {
    group.spawn(run_manager());
    settle();
  }
  void settle(Duration time = 1s) { EXPECT_TRUE(run(env.loop, sleep_for(time))); }
};

// Of "a_total{code="200",le="5"} 7": {code}
std::string labels_of(std::string_view sample) {
  std::string names;
  const std::size_t open = sample.find('{');
  std::string_view rest = open == std::string_view::npos ? "" : sample.substr(open + 1);
  while (!rest.empty() && rest[0] != '}') {
    const std::string_view name = rest.substr(0, rest.find('='));
    rest.remove_prefix(rest.find('"') + 1);
    rest.remove_prefix(rest.find('"') + 1);
    rest.remove_prefix(rest.starts_with(',') ? 1 : 0);
    if (name != "le") {
      names += (names.empty() ? "" : ",") + std::string(name);
    }
  }
  return "{" + names + "}";
}

// "gauge workqueue_depth{name,controller}" of every family that has samples.
std::set<std::string> families_of(const std::string& exposition) {
  std::set<std::string> families;
  std::string family;
  for (std::string_view rest = exposition; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() + 1);
    constexpr std::string_view kType = "# TYPE ";
    if (line.starts_with(kType)) {
      const std::string_view what = line.substr(kType.size());
      const std::size_t space = what.find(' ');
      family = std::string(what.substr(space + 1)) + " " + std::string(what.substr(0, space));
    } else if (!line.starts_with('#')) {
      families.insert(family + labels_of(line));
    }
  }
  return families;
}

TEST(Metrics, names_and_labels_are_those_that_dashboards_of_go_controllers_know) {
  bool busy = true;
  World w;
  w.service.set_intercept([&busy](const net::Request&) -> std::optional<net::Response> {
    if (!std::exchange(busy, false)) {
      return std::nullopt;
    }
    net::Response answer = kube::testing::status_answer(429, "TooManyRequests", "not so fast");
    answer.headers.set("Retry-After", "1");
    return answer;
  });
  w.start();
  w.settle(5s);
  const std::set<std::string> expected{
      "counter controller_runtime_reconcile_errors_total{controller}",
      "counter controller_runtime_reconcile_panics_total{controller}",
      "counter controller_runtime_reconcile_timeouts_total{controller}",
      "counter controller_runtime_reconcile_total{controller,result}",
      "counter controller_runtime_terminal_reconcile_errors_total{controller}",
      "counter rest_client_request_retries_total{code,verb,host}",
      "counter rest_client_requests_total{code,method,host}",
      "counter workqueue_adds_total{name,controller}",
      "counter workqueue_retries_total{name,controller}",
      "gauge controller_runtime_active_workers{controller}",
      "gauge controller_runtime_max_concurrent_reconciles{controller}",
      "gauge leader_election_master_status{name}",
      "gauge workqueue_depth{name,controller}",
      "gauge workqueue_longest_running_processor_seconds{name,controller}",
      "gauge workqueue_unfinished_work_seconds{name,controller}",
      "histogram controller_runtime_reconcile_time_seconds{controller}",
      "histogram rest_client_request_duration_seconds{verb,host}",
      "histogram workqueue_queue_duration_seconds{name,controller}",
      "histogram workqueue_work_duration_seconds{name,controller}",
  };
  EXPECT_EQ(families_of(w.metrics.expose()), expected);
}

TEST(Metrics, count_what_the_workers_do) {
  World w;
  w.start();
  for (const char* name : {"fails", "again", "good", "hangs"}) {
    w.service.put(kPods, pod(name));
  }
  w.settle(10s);
  const std::string text = w.metrics.expose();
  for (const char* line : {
           R"(controller_runtime_reconcile_total{controller="pods",result="error"} 1)",
           R"(controller_runtime_reconcile_total{controller="pods",result="requeue_after"} 1)",
           R"(controller_runtime_reconcile_total{controller="pods",result="success"} 3)",
           R"(controller_runtime_reconcile_errors_total{controller="pods"} 1)",
           R"(controller_runtime_terminal_reconcile_errors_total{controller="pods"} 0)",
           R"(controller_runtime_reconcile_panics_total{controller="pods"} 0)",
           R"(controller_runtime_reconcile_time_seconds_count{controller="pods"} 5)",
           R"(controller_runtime_active_workers{controller="pods"} 1)",
           R"(controller_runtime_max_concurrent_reconciles{controller="pods"} 2)",
           R"(workqueue_adds_total{name="pods",controller="pods"} 6)",
           R"(workqueue_retries_total{name="pods",controller="pods"} 1)",
           R"(workqueue_depth{name="pods",controller="pods"} 0)",
           R"(workqueue_queue_duration_seconds_count{name="pods",controller="pods"} 6)",
           R"(workqueue_work_duration_seconds_count{name="pods",controller="pods"} 5)",
           R"(workqueue_longest_running_processor_seconds{name="pods",controller="pods"} 10)",
           R"(leader_election_master_status{name="test"} 1)",
           R"(rest_client_requests_total{code="201",method="POST",host="10.0.0.1:6443"} 1)",
       }) {
    EXPECT_TRUE(text.contains(std::string(line) + "\n")) << line << " is missing in\n" << text;
  }
}

}  // namespace
}  // namespace codeflare::runtime
