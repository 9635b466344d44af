#include "runtime/leader_elector.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/jumping_clock.h"
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

  Candidate(Env env_in, net::HttpService& service, LeaderOptions options)
      : env(env_in), client(env_in, service), elector(env_in, client, std::move(options)) {}

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
  JumpingClock first_clock{env.clock};
  JumpingClock second_clock{env.clock};
  std::vector<std::unique_ptr<Candidate>> candidates;
  TaskGroup group{env.loop};
  Candidate& candidate(const std::string& identity, LogLevel level = LogLevel::warn) {
    return candidate({.identity = identity, .logger = log.logger(env.clock, level)});
  }
  Candidate& candidate(LeaderOptions options) {
    options.ns = "default";
    options.name = "test";
    return *candidates.emplace_back(std::make_unique<Candidate>(env, service, std::move(options)));
  }
  void hold(const std::string& holder, std::int64_t seconds = 15) {
    service.put(kLeases, R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease",)"
                         R"("metadata":{"name":"test","namespace":"default"},)"
                         R"("spec":{"leaseTransitions":3,"holderIdentity":")" +
                             holder + R"(","leaseDurationSeconds":)" + std::to_string(seconds) +
                             "}}");
  }
  // Requests with this method get 403.
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
  world.hold("dead");
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
  world.hold("thief");
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

TEST(LeaderElector, a_follower_says_once_who_leads_and_again_when_that_changes) {
  World world;
  Candidate& a = world.candidate("a");
  world.group.spawn(a.run());
  world.pass(1s);
  Candidate& b = world.candidate("b", LogLevel::info);
  world.group.spawn(b.run());
  world.pass(10min);
  ASSERT_EQ(world.log.lines().size(), 1u) << "once, not once per renewal";
  const std::string& line = world.log.lines()[0];
  for (const char* part : {"INFO", "standing by", "leader=a", "lease=default/test"}) {
    EXPECT_TRUE(line.contains(part)) << part << " is missing in " << line;
  }
  a.stop.request_stop();
  world.hold("c", 3600);
  world.pass(5s);
  EXPECT_EQ(world.log.lines().size(), 2u);
  EXPECT_TRUE(world.log.has("leader=c"));
}

TEST(LeaderElector, without_standing_by_a_leader_that_renews_is_an_error) {
  World world;
  Candidate& a = world.candidate("a");
  world.group.spawn(a.run());
  world.pass(1s);
  Candidate& b = world.candidate({.identity = "b", .stand_by = false});
  world.group.spawn(b.run());
  world.pass(5s);
  ASSERT_TRUE(b.end && !b.end->has_value());
  EXPECT_EQ(b.end->error().code, ErrorCode::already_exists);
  EXPECT_TRUE(b.end->error().message.contains("'a' leads")) << b.end->error().message;
  EXPECT_EQ(b.terms, 0);
  EXPECT_TRUE(a.working);
}

TEST(LeaderElector, without_standing_by_the_lease_of_a_dead_leader_is_waited_for) {
  World world;
  world.hold("dead");
  Candidate& b = world.candidate({.identity = "b", .stand_by = false});
  world.group.spawn(b.run());
  world.pass(14s);
  EXPECT_FALSE(b.working);
  world.pass(2s);
  EXPECT_TRUE(b.working);
}

TEST(LeaderElector, without_standing_by_missing_rights_are_an_error) {
  for (const char* method : {"GET", "POST"}) {
    World world;
    world.forbid(method);
    Candidate& a = world.candidate({.identity = "a", .stand_by = false});
    world.group.spawn(a.run());
    world.pass(1min);
    ASSERT_TRUE(a.end && !a.end->has_value()) << method;
    EXPECT_EQ(a.end->error().code, ErrorCode::permission_denied);
    world.service.set_intercept({});
  }
}

TEST(LeaderElector, a_lease_that_was_taken_beforehand_is_led_at_once_or_given_back) {
  World world;
  Candidate& early = world.candidate("a");
  EXPECT_TRUE(*run(world.env.loop, early.elector.take()));
  EXPECT_EQ(world.holder(), "a");
  Candidate& late = world.candidate({.identity = "a", .stand_by = false});
  world.group.spawn(late.run());
  world.pass(1s);
  EXPECT_TRUE(late.working);
  late.stop.request_stop();
  world.pass(1s);
  Candidate& other = world.candidate("b");
  EXPECT_TRUE(*run(world.env.loop, other.elector.take()));
  EXPECT_EQ(world.holder(), "b");
  EXPECT_TRUE(run(world.env.loop, other.elector.give_back()));
  EXPECT_EQ(world.holder(), "");
}

TEST(LeaderElector, an_exclusive_lease_is_taken_from_anybody_and_work_begins_when_it_may) {
  World world;
  world.hold("other");
  Candidate& early = world.candidate({.identity = "me", .exclusive = true});
  EXPECT_TRUE(*run(world.env.loop, early.elector.take()));
  EXPECT_EQ(world.holder(), "me");
  Candidate& late = world.candidate(
      {.identity = "me", .exclusive = true, .not_before = after(world.env.loop.now(), 15s)});
  world.group.spawn(late.run());
  world.pass(14s);
  EXPECT_FALSE(late.working);
  EXPECT_EQ(world.holder(), "me");
  world.pass(2s);
  EXPECT_TRUE(late.working);
}

TEST(LeaderElector, an_exclusive_lease_outlives_failed_renewals_and_ends_when_another_holds_it) {
  World world;
  Candidate& a = world.candidate({.identity = "a", .exclusive = true});
  world.group.spawn(a.run());
  world.pass(5s);
  world.service.set_intercept([](const net::Request&) {
    return std::optional(kube::testing::status_answer(503, "ServiceUnavailable", "disk full"));
  });
  world.pass(10min);
  EXPECT_TRUE(a.working);
  world.service.set_intercept({});
  world.pass(10s);
  EXPECT_TRUE(a.working);
  EXPECT_EQ(a.terms, 1);
  world.hold("thief");
  world.pass(3s);
  EXPECT_FALSE(a.working);
  ASSERT_TRUE(a.end && !a.end->has_value());
  EXPECT_EQ(a.end->error().code, ErrorCode::failed_precondition);
}

TEST(LeaderElector, a_missing_namespace_is_made_where_that_is_wanted) {
  World world;
  bool made = false;
  world.service.set_intercept([&made](const net::Request& request) {
    if (request.method == "POST" && request.target.starts_with("/api/v1/namespaces?")) {
      made = true;
    }
    return request.method == "POST" && request.target.contains("/leases") && !made
               ? std::optional(kube::testing::status_answer(404, "NotFound",
                                                            "namespaces \"default\" not found"))
               : std::nullopt;
  });
  Candidate& a = world.candidate({.identity = "a", .create_namespace = true});
  world.group.spawn(a.run());
  world.pass(1s);
  EXPECT_TRUE(made);
  EXPECT_TRUE(a.working);
  world.service.set_intercept({});
}

TEST(LeaderElector, a_clock_that_is_set_neither_ends_a_term_nor_begins_a_second_one) {
  World world;
  const auto clocks = {&world.first_clock, &world.second_clock};
  for (JumpingClock* clock : clocks) {
    LeaderOptions options{.identity = clock == &world.first_clock ? "first" : "second",
                          .logger = world.log.logger(*clock, LogLevel::warn)};
    options.ns = "default";
    options.name = "test";
    world.candidates.push_back(std::make_unique<Candidate>(with_clock(world.env, *clock),
                                                           world.service, std::move(options)));
    world.group.spawn(world.candidates.back()->run());
    world.pass(1min);
  }
  const Candidate& first = *world.candidates[0];
  const Candidate& second = *world.candidates[1];
  ASSERT_TRUE(first.working);
  for (const Duration by : {Duration(24h), Duration(-48h), Duration(20s), Duration(-8760h)}) {
    for (JumpingClock* clock : clocks) {
      clock->jump(by);
      for (int i = 0; i < 60; ++i) {
        world.pass(1s);
        ASSERT_TRUE(first.working && !second.working) << by.count();
      }
    }
  }
  EXPECT_EQ(first.terms, 1);
  EXPECT_EQ(world.holder(), "first");
  // The one that stands by takes over as soon as ever.
  world.candidates[0]->stop.request_stop();
  world.pass(1min);
  EXPECT_TRUE(second.working);
  world.candidates[1]->stop.request_stop();
  world.pass(1min);
}

}  // namespace
}  // namespace codeflare::runtime
