#pragma once

#include "base/env/random.h"
#include "base/time.h"

namespace codeflare {

// `part` of a duration, 0 <= part < 1.
Duration fraction_of(Duration duration, double part);

// Uniform in [0, min(max, initial * 2^(attempt - 1))]: clients that failed together come back
// apart.
Duration full_jitter(Duration initial, Duration max, int attempt, Random& random);

// Waits that grow with each failure and start over after a healthy while. One per thing that can
// fail: a shared one would let the sick hold back the healthy.
class Backoff {
 public:
  struct Options {
    Duration initial = std::chrono::milliseconds(800);
    Duration max = std::chrono::seconds(30);
    Duration reset_after = std::chrono::minutes(2);
  };
  Backoff(Options options, Random& random) : options_(options), random_(random) {}

  // How long to wait after a failure at `now`.
  Duration next(Instant now);
  int failures() const { return failures_; }

 private:
  Options options_;
  Random& random_;
  int failures_ = 0;
  Instant ready_at_{};  // when the last wait was over
};

}  // namespace codeflare
