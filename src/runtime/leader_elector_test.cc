#include "runtime/leader_elector.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/sim_env.h"
#include "base/log_capture.h"
#include "kube/testing/scripted_service.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::runtime {
namespace {

using namespace std::chrono_literals;

const ResourceType kLeases{"coordination.k8s.io", "v1", "Lease", "leases", true};
const ObjectKey kLease{"default", "test"};

// Records when its work ran; works until stopped, then winds down for a while.
struct Candidate {
  Env env;
  kube::Client client;
  LeaderElector elector;
  Duration wind_down{0};
  bool working = false;
  int terms = 0;
  std::optional<Result<void>> end;
  StopSource stop;

  Candidate(Env env_in, net::HttpService& service, std::string identity, Logger logger)
      : env(env_in),
        client(env_in, service),
        elector(
            env_in, client,
            {.ns = "default", .name = "test", .identity = identity, .logger = std::move(logger)}) {}

  Task<void> work() {
    working = true;
    ++terms;
    (void)co_await sleep_for(1000h);
    TaskContext free{&env.loop, StopToken()};
    (void)co_await sleep_for(wind_down).under(free);
    working = false;
  }
  Task<void> run() {
    end = co_await with_stop(stop.token(), elector.lead([this](StopToken) { return work(); }));
  }
};

struct World {
  SimEnv sim;
  Env env = sim.env();
  kube::testing::ScriptedService service{env};
  LogCapture log;
  // Outlive the tasks of the group, which the destructor ends.
  std::vector<std::unique_ptr<Candidate>> candidates;
  TaskGroup group{env.loop};
  Candidate& candidate(const std::string& identity) {
    return *candidates.emplace_back(
        std::make_unique<Candidate>(env, service, identity, log.logger(env.clock, LogLevel::warn)));
  }
  // What asks with this method is answered 403.
  void forbid(std::string method) {
    service.set_intercept([method = std::move(method)](const net::Request& request) {
      return request.method == method
                 ? std::optional(kube::testing::status_answer(
                       403, "Forbidden", "leases is forbidden: no " + method + " for you"))
                 : std::nullopt;
    });
  }
  ~World() { EXPECT_TRUE(run(env.loop, group.close())); }
  void pass(Duration time) { ASSERT_TRUE(run(env.loop, sleep_for(time))); }
  std::string holder() {
    ObjectRef lease = service.find(kLeases, kLease);
    auto document = lease->parse();
    return std::string(document->root.find("spec")->string_or_empty("holderIdentity"));
  }
};

TEST(LeaderElector, one_of_two_leads_and_the_other_takes_over_soon_after_a_release) {
  World world;
  Candidate& a = world.candidate("a");
  Candidate& b = world.candidate("b");
  world.group.spawn(a.run());
  world.pass(1s);
  world.group.spawn(b.run());
  world.pass(1min);
  EXPECT_TRUE(a.working);
  EXPECT_FALSE(b.working);
  EXPECT_EQ(world.holder(), "a");
  a.stop.request_stop();
  world.pass(3s);
  ASSERT_TRUE(a.end);
  EXPECT_TRUE(a.end->has_value());
  EXPECT_TRUE(b.working) << "released, not waited out";
  EXPECT_EQ(world.holder(), "b");
}

TEST(LeaderElector, the_lease_is_kept_until_the_work_has_really_ended) {
  World world;
  Candidate& a = world.candidate("a");
  Candidate& b = world.candidate("b");
  a.wind_down = 25s;
  world.group.spawn(a.run());
  world.pass(1s);
  world.group.spawn(b.run());
  a.stop.request_stop();
  for (int i = 0; i < 24; ++i) {
    world.pass(1s);
    EXPECT_FALSE(a.working && b.working) << i;
    EXPECT_EQ(world.holder(), "a") << i;
  }
  world.pass(5s);
  EXPECT_TRUE(b.working);
}

TEST(LeaderElector, a_follower_takes_over_from_a_dead_leader_within_the_lease_and_never_before) {
  World world;
  world.service.put(kLeases, R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease",
      "metadata":{"name":"test","namespace":"default"},
      "spec":{"holderIdentity":"dead","leaseDurationSeconds":15,"leaseTransitions":3}})");
  Candidate& b = world.candidate("b");
  world.group.spawn(b.run());
  world.pass(14s);
  EXPECT_FALSE(b.working);
  world.pass(2s);
  EXPECT_TRUE(b.working);
  ObjectRef lease = world.service.find(kLeases, kLease);
  auto document = lease->parse();
  EXPECT_EQ(document->root.find("spec")->find("leaseTransitions")->to_int64(), 4);
}

TEST(LeaderElector, a_follower_does_not_poll) {
  World world;
  Candidate& a = world.candidate("a");
  Candidate& b = world.candidate("b");
  world.group.spawn(a.run());
  world.pass(1s);
  world.group.spawn(b.run());
  world.pass(5s);
  world.service.forget_requests();
  world.pass(2min);
  for (const std::string& request : world.service.requests()) {
    EXPECT_TRUE(request.starts_with("PATCH ")) << request;
  }
  EXPECT_LE(world.service.requests().size(), 62u);
}

TEST(LeaderElector, a_leader_cut_off_from_the_server_stops_working_before_another_may_start) {
  World world;
  Candidate& a = world.candidate("a");
  world.group.spawn(a.run());
  world.pass(5s);
  ASSERT_TRUE(a.working);
  world.service.set_intercept([](const net::Request&) {
    return std::optional(kube::testing::status_answer(503, "ServiceUnavailable", "down"));
  });
  world.pass(9s);
  EXPECT_TRUE(a.working);
  world.pass(5s);
  EXPECT_FALSE(a.working) << "the lease of 15 s is not over yet";
  ASSERT_TRUE(a.end);
  ASSERT_FALSE(a.end->has_value());
  EXPECT_EQ(a.end->error().code, ErrorCode::failed_precondition);
  world.service.set_intercept({});
}

TEST(LeaderElector, a_leader_whose_lease_was_taken_stops_at_once) {
  World world;
  Candidate& a = world.candidate("a");
  world.group.spawn(a.run());
  world.pass(5s);
  world.service.put(kLeases, R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease",
      "metadata":{"name":"test","namespace":"default"},
      "spec":{"holderIdentity":"thief","leaseDurationSeconds":15}})");
  world.pass(3s);
  EXPECT_FALSE(a.working);
  ASSERT_TRUE(a.end && !a.end->has_value());
  EXPECT_EQ(world.holder(), "thief") << "what belongs to another is not released";
}

TEST(LeaderElector, a_deleted_lease_is_made_again_by_its_leader) {
  World world;
  Candidate& a = world.candidate("a");
  world.group.spawn(a.run());
  world.pass(5s);
  world.service.erase(kLeases, kLease);
  world.pass(5s);
  EXPECT_TRUE(a.working);
  EXPECT_EQ(world.holder(), "a");
}

TEST(LeaderElector, without_the_right_to_read_the_lease_it_says_once_what_to_do) {
  World world;
  world.forbid("GET");
  Candidate& a = world.candidate("a");
  world.group.spawn(a.run());
  world.pass(10min);
  EXPECT_FALSE(a.working);
  ASSERT_EQ(world.log.lines().size(), 1u) << "once, not once per try";
  const std::string& line = world.log.lines()[0];
  for (const char* part :
       {"WARN", "lease=default/test", "identity=a", "no GET for you", "watch, create and patch"}) {
    EXPECT_TRUE(line.contains(part)) << part << " is missing in " << line;
  }
  EXPECT_TRUE(a.elector.trouble().contains("no GET for you")) << a.elector.trouble();
  world.service.set_intercept({});
  world.pass(1min);
  EXPECT_TRUE(a.working);
  EXPECT_EQ(a.elector.trouble(), "");
  EXPECT_EQ(world.log.lines().size(), 1u);
}

TEST(LeaderElector, each_thing_that_is_missing_is_told_once) {
  World world;
  world.forbid("POST");
  Candidate& a = world.candidate("a");
  world.group.spawn(a.run());
  world.pass(10min);
  ASSERT_EQ(world.log.lines().size(), 1u);
  EXPECT_TRUE(world.log.has("no POST for you"));
  world.service.set_intercept([](const net::Request& request) {
    return request.method == "POST" ? std::optional(kube::testing::status_answer(
                                          404, "NotFound", "namespaces \"default\" not found"))
                                    : std::nullopt;
  });
  world.pass(10min);
  ASSERT_EQ(world.log.lines().size(), 2u);
  EXPECT_TRUE(world.log.has("create namespace default"));
  EXPECT_TRUE(a.elector.trouble().contains("not found"));
  world.service.set_intercept({});
}

TEST(LeaderElector, a_leader_that_may_no_longer_renew_says_so_before_it_stops) {
  World world;
  Candidate& a = world.candidate("a");
  world.group.spawn(a.run());
  world.pass(5s);
  ASSERT_TRUE(a.working);
  world.forbid("PATCH");
  world.pass(8s);
  EXPECT_TRUE(a.working);
  ASSERT_EQ(world.log.lines().size(), 1u);
  EXPECT_TRUE(world.log.has("cannot be renewed"));
  EXPECT_TRUE(world.log.has("no PATCH for you"));
  world.pass(10s);
  EXPECT_FALSE(a.working);
  EXPECT_EQ(world.log.lines().size(), 1u);
  ASSERT_TRUE(a.end && !a.end->has_value());
  EXPECT_TRUE(a.end->error().message.contains("no PATCH for you")) << a.end->error().message;
  world.service.set_intercept({});
}

TEST(LeaderElector, a_failure_that_comes_back_after_all_went_well_is_told_again) {
  World world;
  Candidate& a = world.candidate("a");
  world.group.spawn(a.run());
  world.pass(5s);
  for (std::size_t round = 1; round <= 2; ++round) {
    world.forbid("PATCH");
    world.pass(5s);
    EXPECT_EQ(world.log.lines().size(), round);
    world.service.set_intercept({});
    world.pass(1min);
    EXPECT_TRUE(a.working);
  }
}

TEST(LeaderElector, candidates_that_lose_a_race_say_nothing) {
  World world;
  for (const char* identity : {"a", "b", "c"}) {
    world.group.spawn(world.candidate(identity).run());
  }
  world.pass(1min);
  world.service.erase(kLeases, kLease);
  world.pass(1min);
  EXPECT_TRUE(world.log.lines().empty()) << world.log.lines()[0];
}

}  // namespace
}  // namespace codeflare::runtime
