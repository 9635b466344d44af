#pragma once

#include "base/async/sleep.h"
#include "base/env/backoff.h"
#include "base/env/env.h"
#include "base/time.h"

#include <algorithm>
#include <optional>

namespace codeflare::ray::internal {

// Waits between attempts of one call, which grow, until its time is up.
class Retry {
 public:
  Retry(Env env, Duration patience, Duration wait_max)
      : env_(env), end_(after(env.loop.now(), patience)), wait_max_(wait_max) {}

  // False, at once, when the next attempt would come too late.
  Task<Result<bool>> wait(std::optional<Duration> asked = std::nullopt) {
    constexpr Duration kFirst = std::chrono::milliseconds(200);
    const Duration jitter = full_jitter(kFirst, wait_max_, ++attempts_, env_.random);
    const Duration pause = std::max(asked.value_or(Duration::zero()), jitter);
    if (after(env_.loop.now(), pause) >= end_) {
      co_return false;
    }
    CO_TRY(co_await sleep_for(pause));
    co_return true;
  }

 private:
  Env env_;
  Instant end_;
  Duration wait_max_;
  int attempts_ = 0;
};

}  // namespace codeflare::ray::internal
