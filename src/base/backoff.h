#pragma once

#include "base/env/random.h"
#include "base/time.h"

#include <algorithm>
#include <chrono>

namespace codeflare {

// Waits that grow with each failure in a row. A value without a clock: whoever owns it calls next()
// on failure and reset() on success.
class Backoff {
 public:
  struct Options {
    Duration initial = std::chrono::milliseconds(100);
    double factor = 2;
    Duration cap = std::chrono::seconds(30);
    // Up to this part of a wait is taken off at random, so that those who failed together do not
    // come back together: 0 none, 1 anything between no wait and the whole.
    double jitter = 0.5;
  };

  Backoff() = default;
  explicit Backoff(Options options) : options_(options) {}

  Duration next(Random& random) {
    auto cap = static_cast<double>(options_.cap.count());
    double whole =
        failures_ == 0 ? static_cast<double>(options_.initial.count()) : last_ * options_.factor;
    last_ = std::min(whole, cap);
    ++failures_;
    return Duration(static_cast<Duration::rep>(last_ * (1 - options_.jitter * random.fraction())));
  }

  void reset() { failures_ = 0; }
  // In a row.
  int failures() const { return failures_; }

 private:
  Options options_{};
  double last_ = 0;  // nanoseconds, before jitter
  int failures_ = 0;
};

}  // namespace codeflare
