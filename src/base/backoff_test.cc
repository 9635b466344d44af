#include "base/backoff.h"

#include "base/env/sim_env.h"
#include "base/rate_limiter.h"

#include <gtest/gtest.h>

#include <set>

namespace codeflare {
namespace {

using namespace std::chrono_literals;

TEST(Backoff, grows_to_the_cap_and_starts_over_after_a_reset) {
  SimEnv world;
  Random& random = world.env().random;
  Backoff backoff({.initial = 100ms, .factor = 3, .cap = 1s, .jitter = 0});
  EXPECT_EQ(backoff.next(random), 100ms);
  EXPECT_EQ(backoff.next(random), 300ms);
  EXPECT_EQ(backoff.next(random), 900ms);
  EXPECT_EQ(backoff.next(random), 1s);
  EXPECT_EQ(backoff.next(random), 1s);
  EXPECT_EQ(backoff.failures(), 5);
  backoff.reset();
  EXPECT_EQ(backoff.failures(), 0);
  EXPECT_EQ(backoff.next(random), 100ms);
}

TEST(Backoff, jitter_takes_off_up_to_its_part) {
  SimEnv world;
  std::set<Duration> waits;
  for (int i = 0; i < 1000; ++i) {
    Backoff backoff({.initial = 100ms, .jitter = 0.5});
    Duration wait = backoff.next(world.env().random);
    EXPECT_LE(wait, 100ms);
    EXPECT_GE(wait, 50ms);
    waits.insert(wait);
  }
  EXPECT_GT(waits.size(), 990u);
  EXPECT_LT(*waits.begin(), 55ms);
  EXPECT_GT(*waits.rbegin(), 95ms);
}

TEST(Backoff, does_not_overflow_after_many_failures) {
  SimEnv world;
  Backoff backoff({.initial = 1ms, .factor = 10, .cap = 24h * 365, .jitter = 0});
  Duration wait{};
  for (int i = 0; i < 10'000; ++i) {
    wait = backoff.next(world.env().random);
  }
  EXPECT_EQ(wait, 24h * 365);
}

TEST(Backoff, an_initial_wait_above_the_cap_is_cut) {
  SimEnv world;
  Backoff backoff({.initial = 10s, .cap = 2s, .jitter = 0});
  EXPECT_EQ(backoff.next(world.env().random), 2s);
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
