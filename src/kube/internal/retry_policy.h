#pragma once

#include "base/env/random.h"
#include "base/error.h"
#include "base/time.h"

#include <optional>

namespace codeflare::kube::internal {

// One attempt of a request that did not end well.
struct Failure {
  Error error;
  int status = 0;  // 0: no answer, or one that broke off
  // What a Retry-After header says.
  std::optional<Duration> retry_after{};
};

struct RetryLimits {
  int attempts_max = 10;
  int transport_attempts_max = 5;
};

// How long to wait before attempt number `attempt` + 1, or nothing when the caller must decide.
// Reads are repeated after a broken connection; everything is repeated when the server asks for it
// (429, or 5xx with Retry-After): then it did nothing. A write is never repeated on a guess.
std::optional<Duration> retry_delay(const Failure& failure, bool read, int attempt,
                                    const RetryLimits& limits, Random& random);

}  // namespace codeflare::kube::internal
