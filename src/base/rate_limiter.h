#pragma once

#include "base/check.h"
#include "base/time.h"

#include <algorithm>
#include <chrono>

namespace codeflare {

// A token bucket: `rate` events per second on average, `burst` at once after a quiet time. Pure:
// time comes in as an argument and waiting is the caller's.
//   CO_TRY(co_await sleep_for(limiter.reserve(env.clock.now())));
class RateLimiter {
 public:
  struct Options {
    double rate = 10;
    double burst = 10;
  };
  explicit RateLimiter(Options options) : options_(options), tokens_(options.burst) {
    CHECK(options.rate > 0 && options.burst >= 1);
  }

  // Takes a token if one is there.
  bool try_take(Instant now) {
    refill(now);
    if (tokens_ < 1) {
      return false;
    }
    tokens_ -= 1;
    return true;
  }

  // Takes the next token, also one that is still to come, and says how long to wait for it.
  Duration reserve(Instant now) {
    refill(now);
    tokens_ -= 1;
    if (tokens_ >= 0) {
      return Duration::zero();
    }
    std::chrono::duration<double> wait(-tokens_ / options_.rate);
    return std::chrono::ceil<Duration>(wait);
  }

 private:
  void refill(Instant now) {
    if (now > last_) {
      double elapsed = std::chrono::duration<double>(now - last_).count();
      tokens_ = std::min(options_.burst, tokens_ + elapsed * options_.rate);
      last_ = now;
    }
  }

  Options options_;
  double tokens_;
  Instant last_{};  // when tokens_ was true
};

}  // namespace codeflare
