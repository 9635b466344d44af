#include "base/env/backoff.h"

#include "base/env/sim_env.h"
#include "base/rate_limiter.h"

#include <gtest/gtest.h>

#include <chrono>

namespace codeflare {
namespace {

using namespace std::chrono_literals;

TEST(Backoff, waits_stay_below_a_bound_that_doubles_up_to_the_limit) {
  SimEnv sim;
  Random& random = sim.env().random;
  for (int attempt = 1; attempt < 100; ++attempt) {
    const auto bound = attempt > 6 ? Duration(30s) : 800ms * (1 << (attempt - 1));
    for (int i = 0; i < 50; ++i) {
      const Duration wait = full_jitter(800ms, 30s, attempt, random);
      EXPECT_GE(wait, Duration::zero());
      EXPECT_LE(wait, bound) << attempt;
    }
  }
}

TEST(Backoff, an_initial_wait_above_the_limit_is_cut) {
  SimEnv sim;
  for (int i = 0; i < 50; ++i) {
    EXPECT_LE(full_jitter(10s, 2s, 1, sim.env().random), 2s);
  }
}

TEST(Backoff, the_jitter_spreads_over_the_whole_range) {
  SimEnv sim;
  int low = 0;
  for (int i = 0; i < 1'000; ++i) {
    low += full_jitter(1s, 1s, 1, sim.env().random) < 250ms ? 1 : 0;
  }
  EXPECT_GT(low, 150);
  EXPECT_LT(low, 350);
}

TEST(Backoff, starts_over_after_a_healthy_while_only) {
  SimEnv sim;
  Backoff backoff({}, sim.env().random);
  Instant now{1'000s};
  for (int i = 1; i <= 5; ++i) {
    now += backoff.next(now) + 1s;
    EXPECT_EQ(backoff.failures(), i);
  }
  now += 90s;
  now += backoff.next(now);
  EXPECT_EQ(backoff.failures(), 6);
  now += 120s;
  backoff.next(now);
  EXPECT_EQ(backoff.failures(), 1);
}

TEST(RateLimiter, lets_a_burst_through_and_then_the_rate) {
  RateLimiter limiter({.rate = 10, .burst = 3});
  Instant now(1h);
  EXPECT_TRUE(limiter.try_take(now));
  EXPECT_TRUE(limiter.try_take(now));
  EXPECT_TRUE(limiter.try_take(now));
  EXPECT_FALSE(limiter.try_take(now));
  EXPECT_FALSE(limiter.try_take(now + 99ms));
  EXPECT_TRUE(limiter.try_take(now + 101ms));
  EXPECT_FALSE(limiter.try_take(now + 102ms));
  // A long quiet time gives no more than a burst.
  now += 24h;
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(limiter.try_take(now));
  }
  EXPECT_FALSE(limiter.try_take(now));
}

TEST(RateLimiter, reservations_queue_up) {
  RateLimiter limiter({.rate = 10, .burst = 1});
  Instant now(1h);
  EXPECT_EQ(limiter.reserve(now), 0s);
  EXPECT_EQ(limiter.reserve(now), 100ms);
  EXPECT_EQ(limiter.reserve(now), 200ms);
  EXPECT_FALSE(limiter.try_take(now + 250ms));
  EXPECT_TRUE(limiter.try_take(now + 301ms));
}

TEST(RateLimiter, time_that_stands_still_or_goes_back_gives_nothing) {
  RateLimiter limiter({.rate = 1, .burst = 1});
  Instant now(1h);
  EXPECT_TRUE(limiter.try_take(now));
  EXPECT_FALSE(limiter.try_take(now - 10s));
  EXPECT_FALSE(limiter.try_take(now));
  EXPECT_TRUE(limiter.try_take(now + 1s));
}

}  // namespace
}  // namespace codeflare
