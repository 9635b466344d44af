#include "runtime/manager.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/sim_env.h"
#include "base/log_capture.h"
#include "base/metrics.h"
#include "kube/testing/scripted_service.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::runtime {
namespace {

using namespace std::chrono_literals;

const ResourceType kPods{"", "v1", "Pod", "pods", true};
const ResourceType kEvents{"", "v1", "Event", "events", true};
const ResourceType kLeases{"coordination.k8s.io", "v1", "Lease", "leases", true};

std::string pod(const std::string& name) {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
         R"(","namespace":"default"}})";
}

// Labels every pod, after a while, and says so in an event.
class Labeller final : public Reconciler {
 public:
  Labeller(const ControllerContext& context, Duration takes)
      : actor_(context.actor), pods_(context.subject), takes_(takes) {}

  Task<Result<Next>> reconcile(ObjectKey key) override {
    CO_TRY(co_await actor_.ready(key));
    ObjectRef pod = pods_.store().get(key);
    if (pod == nullptr || !pod->labels_json().empty()) {
      co_return Next::await_change();
    }
    CO_TRY(co_await sleep_for(takes_));
    Plan plan;
    plan.actions.push_back({.verb = Action::Verb::patch,
                            .type = kPods,
                            .key = key,
                            .body = R"({"metadata":{"labels":{"seen":"yes"}}})",
                            .why = "it has none"});
    plan.events.push_back({.reason = "Labelled", .message = "it has a label now"});
    CO_TRY(co_await actor_.act(key, std::move(plan)));
    co_return Next::await_change();
  }

 private:
  Actor& actor_;
  Informer& pods_;
  Duration takes_;
};

struct World {
  SimEnv sim;
  Env env = sim.env();
  kube::testing::ScriptedService service{env};
  kube::Client client{env, service};
  LogCapture log;
  MetricsRegistry metrics;
  Manager manager;
  std::optional<Result<void>> end;
  TaskGroup group{env.loop};

  explicit World(std::optional<LeaderOptions> leader = {}, Duration takes = 0s)
      : manager(env, client,
                {.name = "test",
                 .leader = std::move(leader),
                 .logger = log.logger(env.clock, LogLevel::info),
                 .metrics = &metrics}) {
    manager.controller("pods").reconciles(kPods).with<Labeller>(takes);
  }
  ~World() { EXPECT_TRUE(run(env.loop, group.close())); }

  Task<void> run_manager() { end = co_await manager.run(); }
  void start() {
    group.spawn(run_manager());
    settle();
  }
  void settle(Duration time = 1s) { EXPECT_TRUE(run(env.loop, sleep_for(time))); }
  bool labelled(const std::string& name) {
    return !service.find(kPods, {"default", name})->labels_json().empty();
  }
  // Somebody else leads, and renews indefinitely.
  void lead_elsewhere() {
    service.put(kLeases, R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease",)"
                         R"("metadata":{"name":"test","namespace":"default"},)"
                         R"("spec":{"holderIdentity":"other","leaseDurationSeconds":3600}})");
  }
};

LeaderOptions candidate() {
  return {.ns = "default", .name = "test", .identity = "me"};
}

TEST(Manager, runs_its_controllers_until_it_is_stopped) {
  World w;
  w.start();
  w.service.put(kPods, pod("a"));
  w.settle();
  EXPECT_TRUE(w.labelled("a"));
  EXPECT_TRUE(w.manager.leading());
  EXPECT_TRUE(run(w.env.loop, w.group.close()));
  ASSERT_TRUE(w.end);
  EXPECT_TRUE(w.end->has_value());
  EXPECT_FALSE(w.manager.leading());
}

TEST(Manager, what_a_controller_is_doing_at_a_stop_is_finished_told_and_seen) {
  World w(std::nullopt, 5s);
  w.start();
  w.service.put(kPods, pod("a"));
  w.settle();
  EXPECT_FALSE(w.labelled("a"));
  EXPECT_TRUE(run(w.env.loop, w.group.close()));
  EXPECT_TRUE(w.labelled("a"));
  EXPECT_EQ(w.service.objects(kEvents).size(), 1u);
}

TEST(Manager, a_follower_keeps_its_caches_warm_and_its_controllers_still) {
  World w(candidate());
  w.lead_elsewhere();
  w.service.put(kPods, pod("a"));
  w.start();
  w.settle(10min);
  EXPECT_FALSE(w.manager.leading());
  EXPECT_FALSE(w.labelled("a"));
  EXPECT_EQ(w.manager.why_not_ready(), "");
  EXPECT_TRUE(w.metrics.expose().contains("leader_election_master_status{name=\"test\"} 0\n"));
  w.service.erase(kLeases, {"default", "test"});
  w.settle(5s);
  EXPECT_TRUE(w.manager.leading());
  EXPECT_TRUE(w.labelled("a"));
  EXPECT_TRUE(w.metrics.expose().contains("leader_election_master_status{name=\"test\"} 1\n"));
}

TEST(Manager, a_lost_leadership_ends_it_with_an_error_and_without_another_write) {
  World w(candidate(), 1min);
  w.start();
  w.service.put(kPods, pod("a"));
  w.settle();
  ASSERT_TRUE(w.manager.leading());
  w.lead_elsewhere();
  w.settle(5s);
  ASSERT_TRUE(w.end);
  ASSERT_FALSE(w.end->has_value());
  EXPECT_EQ(w.end->error().code, ErrorCode::failed_precondition);
  w.settle(5min);
  EXPECT_FALSE(w.labelled("a"));
}

TEST(Manager, without_rights_to_the_lease_it_is_not_ready_and_says_why) {
  World w(candidate());
  w.service.set_intercept([](const net::Request& request) {
    return request.target.contains("/leases")
               ? std::optional(kube::testing::status_answer(403, "Forbidden", "no leases for you"))
               : std::nullopt;
  });
  w.start();
  w.settle(1h);
  EXPECT_TRUE(w.manager.why_not_ready().contains("lease default/test"));
  EXPECT_TRUE(w.manager.why_not_ready().contains("no leases for you"));
  EXPECT_TRUE(w.log.has("WARN  the leader's Lease cannot be taken"));
  EXPECT_TRUE(w.metrics.expose().contains("leader_election_master_status{name=\"test\"} 0\n"));
  w.service.set_intercept({});
  w.settle(1min);
  EXPECT_EQ(w.manager.why_not_ready(), "");
  EXPECT_TRUE(w.manager.leading());
}

TEST(Manager, says_which_cache_is_not_there_yet) {
  World w;
  w.service.set_intercept([](const net::Request&) {
    return std::optional(kube::testing::status_answer(503, "ServiceUnavailable", "closed today"));
  });
  w.start();
  EXPECT_TRUE(w.manager.why_not_ready().starts_with("pods: ")) << w.manager.why_not_ready();
  w.service.set_intercept({});
  w.settle(1min);
  EXPECT_EQ(w.manager.why_not_ready(), "");
}

TEST(Manager, a_health_address_that_is_none_is_refused_before_anything_runs) {
  World w;
  for (const char* address : {"8081", "localhost:", "localhost:http", ":99999"}) {
    Manager manager(w.env, w.client, {.name = "test", .health_address = address});
    const std::optional<Result<void>> end = run(w.env.loop, manager.run());
    ASSERT_TRUE(end);
    ASSERT_FALSE(*end) << address;
    EXPECT_EQ(end->error().code, ErrorCode::invalid_argument);
    EXPECT_TRUE(end->error().message.contains(address)) << end->error().message;
  }
}

Task<void> count_and_wait(int* begun) {
  ++*begun;
  (void)co_await sleep_for(1000h);
  --*begun;
}

TEST(Manager, work_beside_the_controllers_begins_when_we_lead_and_ends_with_them) {
  World w(candidate());
  int at_work = 0;
  w.manager.add_work([&at_work] { return count_and_wait(&at_work); });
  w.lead_elsewhere();
  w.start();
  EXPECT_EQ(at_work, 0);
  w.service.erase(kLeases, {"default", "test"});
  w.settle(5s);
  EXPECT_EQ(at_work, 1);
  EXPECT_TRUE(run(w.env.loop, w.group.close()));
  EXPECT_EQ(at_work, 0);
}

TEST(Manager, what_needs_no_leadership_works_whoever_leads_and_ends_with_the_rest) {
  World w(candidate());
  int unled = 0;
  int led = 0;
  w.manager.add_work([&led] { return count_and_wait(&led); });
  w.manager.only_while_leading(false);
  w.manager.add_work([&unled] { return count_and_wait(&unled); });
  w.manager.controller("others").reconciles(kPods).with<Labeller>(0s);
  w.service.put(kPods, pod("a"));
  w.lead_elsewhere();
  w.start();
  EXPECT_EQ(unled, 1);
  EXPECT_EQ(led, 0);
  EXPECT_TRUE(w.labelled("a"));
  w.service.erase(kLeases, {"default", "test"});
  w.settle(5s);
  EXPECT_EQ(led, 1);
  w.lead_elsewhere();
  w.settle(5s);
  ASSERT_TRUE(w.end && !w.end->has_value());
  EXPECT_EQ(unled, 0);
  EXPECT_EQ(led, 0);
}

}  // namespace
}  // namespace codeflare::runtime
