#pragma once

#include "base/result.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace codeflare {

using Duration = std::chrono::nanoseconds;

// Monotonic time of one process (or of one simulation). It says nothing about the calendar.
struct MonotonicClock {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = Duration;
  using time_point = std::chrono::time_point<MonotonicClock, Duration>;
  static constexpr bool is_steady = true;
};
using Instant = MonotonicClock::time_point;

// Calendar time in UTC. May jump: never measure a wait with it.
using WallTime = std::chrono::sys_time<Duration>;

// 2026-11-16T00:14:39Z, as metav1.Time; with fraction digits (0, 3, 6 or 9) as metav1.MicroTime.
std::string to_rfc3339(WallTime time, int fraction_digits = 0);
// Accepts any fraction length and numeric offsets ("+02:00").
Result<WallTime> parse_rfc3339(std::string_view text);

// As Go prints and metav1.Duration carries it: 1h0m0s, 1.5s, 250ms, 10µs, 0s.
std::string to_text(Duration duration);

}  // namespace codeflare
