#include "kube/backoff.h"

#include "base/env/sim_env.h"
#include "kube/retry.h"

#include <gtest/gtest.h>

#include <chrono>

namespace codeflare::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Backoff, waits_stay_below_a_bound_that_doubles_up_to_the_limit) {
  SimEnv sim;
  Random& random = sim.env().random;
  for (int attempt = 1; attempt < 100; ++attempt) {
    const auto bound =
        attempt > 6 ? Duration(seconds(30)) : milliseconds(800) * (1 << (attempt - 1));
    for (int i = 0; i < 50; ++i) {
      const Duration wait = full_jitter(milliseconds(800), seconds(30), attempt, random);
      EXPECT_GE(wait, Duration::zero());
      EXPECT_LE(wait, bound) << attempt;
    }
  }
}

TEST(Backoff, the_jitter_spreads_over_the_whole_range) {
  SimEnv sim;
  int low = 0;
  for (int i = 0; i < 1'000; ++i) {
    low += full_jitter(seconds(1), seconds(1), 1, sim.env().random) < milliseconds(250) ? 1 : 0;
  }
  EXPECT_GT(low, 150);
  EXPECT_LT(low, 350);
}

TEST(Backoff, starts_over_after_a_healthy_while_only) {
  SimEnv sim;
  Backoff backoff({}, sim.env().random);
  Instant now{seconds(1'000)};
  for (int i = 1; i <= 5; ++i) {
    now += backoff.next(now) + seconds(1);
    EXPECT_EQ(backoff.failures(), i);
  }
  now += seconds(90);
  now += backoff.next(now);
  EXPECT_EQ(backoff.failures(), 6);
  now += seconds(120);
  backoff.next(now);
  EXPECT_EQ(backoff.failures(), 1);
}

Task<Result<int>> fails_with_conflict(int* calls, int times) {
  if (++*calls <= times) {
    co_return fail(conflict("changed"));
  }
  co_return 7;
}

TEST(RetryOnConflict, repeats_until_the_write_goes_through) {
  SimEnv sim;
  int calls = 0;
  const Result<int> result = *run(
      sim.env().loop, retry_on_conflict(sim.env(), [&] { return fails_with_conflict(&calls, 4); }));
  EXPECT_EQ(result.value(), 7);
  EXPECT_EQ(calls, 5);
}

TEST(RetryOnConflict, gives_up_after_five_attempts_and_repeats_nothing_else) {
  SimEnv sim;
  int calls = 0;
  Result<int> result = *run(
      sim.env().loop, retry_on_conflict(sim.env(), [&] { return fails_with_conflict(&calls, 9); }));
  EXPECT_EQ(result.error().code, ErrorCode::conflict);
  EXPECT_EQ(calls, 5);

  calls = 0;
  auto broken = [&]() -> Task<Result<int>> {
    ++calls;
    co_return fail(unavailable("gone"));
  };
  result = *run(sim.env().loop, retry_on_conflict(sim.env(), broken));
  EXPECT_EQ(result.error().code, ErrorCode::unavailable);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace codeflare::kube
