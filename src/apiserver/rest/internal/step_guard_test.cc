#include "apiserver/rest/internal/step_guard.h"

#include "base/async/task.h"
#include "base/env/real_env.h"
#include "base/env/sim_env.h"
#include "base/log_capture.h"

#include <gtest/gtest.h>

namespace codeflare::apiserver::internal {
namespace {

constexpr Duration kAnything{1};

Task<void> work_for(StepGuard& guard) {
  guard.enter({.method = "PUT", .target = "/api/v1/x", .type = "application/json", .bytes = 7});
  co_await yield();
}

TEST(StepGuard, names_the_request_of_a_slow_step) {
  RealEnv world;
  LogCapture log;
  StepGuard guard(world.env(), log.logger(world.env().clock), kAnything);
  ASSERT_TRUE(run(world.env().loop, work_for(guard)));
  EXPECT_TRUE(log.has("slow step request=\"PUT /api/v1/x application/json\" body_bytes=7"));
  EXPECT_TRUE(log.has("slow step request=none"));  // after the wait nobody entered
}

TEST(StepGuard, says_nothing_when_off_gone_or_simulated) {
  RealEnv world;
  LogCapture log;
  StepGuard off(world.env(), log.logger(world.env().clock), Duration::zero());
  ASSERT_TRUE(run(world.env().loop, work_for(off)));
  {
    StepGuard gone(world.env(), log.logger(world.env().clock), kAnything);
  }
  ASSERT_TRUE(run(world.env().loop, work_for(off)));
  SimEnv sim;
  StepGuard simulated(sim.env(), log.logger(sim.env().clock), kAnything);
  ASSERT_TRUE(run(sim.env().loop, work_for(simulated)));
  EXPECT_TRUE(log.lines().empty());
}

}  // namespace
}  // namespace codeflare::apiserver::internal
