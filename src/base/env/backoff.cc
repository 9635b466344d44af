#include "base/env/backoff.h"

#include "base/async/sleep.h"

#include <algorithm>
#include <cmath>

namespace codeflare {

Duration fraction_of(Duration duration, double part) {
  const double count = static_cast<double>(duration.count()) * part;
  return Duration(static_cast<Duration::rep>(std::floor(count)));
}

Duration full_jitter(Duration initial, Duration max, int attempt, Random& random) {
  Duration bound = initial;
  // Compared before it is doubled: no number of attempts overflows.
  for (int i = 1; i < attempt && bound < max; ++i) {
    bound = bound > max / 2 ? max : bound * 2;
  }
  return fraction_of(std::min(bound, max), random.fraction());
}

Duration Backoff::next(Instant now) {
  if (failures_ > 0 && now - ready_at_ >= options_.reset_after) {
    failures_ = 0;
  }
  ++failures_;
  const Duration wait = full_jitter(options_.initial, options_.max, failures_, random_);
  ready_at_ = after(now, wait);
  return wait;
}

}  // namespace codeflare
