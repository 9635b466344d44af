#pragma once

#include "sched/internal/gang_table.h"

#include <chrono>

// The order of the line: priority, then submission, then name.
namespace codeflare::sched {

inline double seconds(Time time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

// Priority as it was at the beginning of time, growing by slope from there: for equal slopes the
// order of two gangs never changes.
inline double base_priority(const Gang& gang) {
  return gang.priority - gang.slope * seconds(gang.submitted);
}

inline bool before_by_time(const Gang& a, const Gang& b) {
  if (a.submitted != b.submitted) {
    return a.submitted < b.submitted;
  }
  return a.name < b.name;
}

// Within a lane, where slopes are equal; gangs outside slope mode carry slope 0.
inline bool ahead_in_lane(const Gang& a, const Gang& b) {
  const double x = base_priority(a);
  const double y = base_priority(b);
  return x != y ? x > y : before_by_time(a, b);
}

inline bool ahead(const Gang& a, const Gang& b, Time now) {
  const double x = base_priority(a) + a.slope * seconds(now);
  const double y = base_priority(b) + b.slope * seconds(now);
  return x != y ? x > y : before_by_time(a, b);
}

}  // namespace codeflare::sched
