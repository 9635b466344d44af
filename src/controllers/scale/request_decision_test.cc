#include "controllers/scale/request_decision.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace codeflare::controllers::scale {
namespace {

using std::chrono::seconds;

constexpr WallTime kNow = WallTime(seconds(1'700'000'000));
constexpr Patience kPatience{.timeout = seconds(60), .down_after = seconds(10)};
using Positions = std::vector<std::size_t>;

SeenMachine machine(const std::string& name, bool ready) {
  return {.name = name, .type = "big", .there = ready, .ready = ready};
}

SeenMachine idle(const std::string& name, Duration since) {
  SeenMachine seen = machine(name, true);
  seen.used = false;
  seen.idle_since = kNow - since;
  return seen;
}

SeenRequest request(std::string phase, std::vector<SeenMachine> machines, Duration age = {}) {
  SeenRequest seen;
  seen.request.status.phase = std::move(phase);
  seen.request.metadata.creation_timestamp = kNow - age;
  seen.machines = std::move(machines);
  return seen;
}

TEST(RequestDecision, asks_until_all_are_ready) {
  RequestDecision decision =
      decide(request("", {machine("a", true), machine("b", false)}), kNow, kPatience);
  EXPECT_TRUE(decision.ask);
  EXPECT_EQ(decision.status.phase, kPending);
  EXPECT_EQ(decision.status.ready, "1/2");
  decision = decide(request("Pending", {machine("a", true), machine("b", true)}), kNow, kPatience);
  EXPECT_FALSE(decision.ask);
  EXPECT_EQ(decision.status.phase, kReady);
  EXPECT_EQ(decision.status.ready_time, kNow);
}

TEST(RequestDecision, machines_that_nobody_waits_for_are_no_longer_asked_for) {
  SeenRequest seen = request("Pending", {machine("a", true), machine("b", false)}, seconds(30));
  seen.unwanted_since = kNow - seconds(9);
  EXPECT_TRUE(decide(seen, kNow, kPatience).ask);
  seen.unwanted_since = kNow - seconds(10);
  const RequestDecision decision = decide(seen, kNow, kPatience);
  EXPECT_FALSE(decision.ask);
  EXPECT_TRUE(decision.remove);
}

TEST(RequestDecision, what_is_not_complete_in_time_goes_back_cordoned_first) {
  SeenMachine came = idle("a", seconds(1));
  RequestDecision decision =
      decide(request("Pending", {came, machine("b", false)}, seconds(60)), kNow, kPatience);
  EXPECT_EQ(decision.status.phase, kFailed);
  EXPECT_EQ(decision.status.message, "1/2 machines ready after 60 s");
  EXPECT_EQ(decision.status.retry_time, kNow + seconds(60));
  SeenRequest failed = request("Failed", {came, machine("b", false)}, seconds(60));
  failed.request.status = decision.status;
  decision = decide(failed, kNow, kPatience);
  EXPECT_EQ(decision.cordon, Positions{0});
  EXPECT_EQ(decision.give_back, Positions{1});
  failed.machines[0].cordoned = true;
  decision = decide(failed, kNow, kPatience);
  EXPECT_EQ(decision.give_back, (Positions{0, 1}));
  mark_gone(decision, 0);
  mark_gone(decision, 1);
  failed.request.status = decision.status;
  EXPECT_FALSE(decide(failed, kNow, kPatience).remove);
  EXPECT_TRUE(decide(failed, kNow + seconds(60), kPatience).remove);
}

TEST(RequestDecision, the_providers_words_end_it_at_once) {
  SeenRequest seen = request("Pending", {machine("a", false)});
  seen.machines[0].problem = "no capacity in zone a";
  const RequestDecision decision = decide(seen, kNow, kPatience);
  EXPECT_FALSE(decision.ask);
  EXPECT_EQ(decision.status.phase, kFailed);
  EXPECT_EQ(decision.status.message, "no capacity in zone a");
}

TEST(RequestDecision, idle_machines_go_and_used_ones_stay) {
  SeenRequest seen =
      request("Ready", {idle("a", seconds(10)), idle("b", seconds(9)), machine("c", true)});
  RequestDecision decision = decide(seen, kNow, kPatience);
  EXPECT_EQ(decision.cordon, Positions{0});
  EXPECT_TRUE(decision.give_back.empty());
  seen.machines[0].cordoned = seen.machines[0].ours = true;
  decision = decide(seen, kNow, kPatience);
  EXPECT_TRUE(decision.cordon.empty());
  EXPECT_EQ(decision.give_back, Positions{0});
  // Somebody was faster.
  seen.machines[0].used = true;
  seen.machines[0].idle_since.reset();
  decision = decide(seen, kNow, kPatience);
  EXPECT_TRUE(decision.give_back.empty());
  EXPECT_EQ(decision.uncordon, Positions{0});
}

TEST(RequestDecision, a_deleted_request_keeps_machines_that_are_used) {
  SeenRequest seen = request("Ready", {idle("a", {}), machine("b", true)});
  seen.request.metadata.deletion_timestamp = kNow;
  seen.machines[0].cordoned = true;
  RequestDecision decision = decide(seen, kNow, kPatience);
  EXPECT_EQ(decision.give_back, Positions{0});
  EXPECT_FALSE(decision.drop_finalizer);
  mark_gone(decision, 0);
  mark_gone(decision, 1);
  seen.request.status = decision.status;
  EXPECT_TRUE(decide(seen, kNow, kPatience).drop_finalizer);
}

TEST(RequestDecision, the_taint_goes_after_ready) {
  SeenRequest seen = request("Ready", {machine("a", true)});
  seen.machines[0].pending = true;
  EXPECT_EQ(decide(seen, kNow, kPatience).untaint, Positions{0});
}

}  // namespace
}  // namespace codeflare::controllers::scale
