#include "kube/internal/retry_policy.h"

#include "base/env/backoff.h"

#include <algorithm>
#include <chrono>

namespace codeflare::kube::internal {

namespace {

// Short: whoever can wait longer (a watcher, a controller) has a backoff of its own, and a person
// at a terminal wants to know soon that nobody answers.
constexpr Duration kTransportDelay = std::chrono::milliseconds(50);
constexpr Duration kTransportDelayMax = std::chrono::seconds(2);
// For a read that met 429 without Retry-After, as from a proxy.
constexpr Duration kThrottledDelay = std::chrono::seconds(1);
// "Retry-After: 0" must not make us retry without a pause.
constexpr Duration kAskedDelayMin = std::chrono::milliseconds(100);

Duration with_jitter(Duration wait, Random& random) {
  return wait + fraction_of(wait / 10, random.fraction());
}

}  // namespace

std::optional<Duration> retry_delay(const Failure& failure, bool read, int attempt,
                                    const RetryLimits& limits, Random& random) {
  if (attempt >= limits.attempts_max) {
    return std::nullopt;
  }
  if (failure.status == 0) {
    const bool broken = failure.error.code == ErrorCode::unavailable ||
                        failure.error.code == ErrorCode::deadline_exceeded;
    if (!read || !broken || attempt >= limits.transport_attempts_max) {
      return std::nullopt;
    }
    return full_jitter(kTransportDelay, kTransportDelayMax, attempt, random);
  }
  if (failure.status != 429 && failure.status < 500) {
    return std::nullopt;
  }
  if (failure.retry_after) {
    return with_jitter(std::max<Duration>(*failure.retry_after, kAskedDelayMin), random);
  }
  // Without the header 429 may be a verdict rather than a delay, such as an eviction that a
  // disruption budget forbids: the caller of a write has to look at it.
  if (failure.status == 429 && read) {
    return with_jitter(kThrottledDelay, random);
  }
  return std::nullopt;
}

}  // namespace codeflare::kube::internal
