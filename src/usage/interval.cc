#include "usage/interval.h"

#include <algorithm>

namespace codeflare::usage {

namespace {

void start(PodTimes& times, WallTime at) {
  const std::int64_t seconds = unix_seconds(at);
  times.begin = std::min(times.begin.value_or(seconds), seconds);
}

void finish(PodTimes& times, WallTime at) {
  const std::int64_t seconds = unix_seconds(at);
  times.end = std::max(times.end.value_or(seconds), seconds);
}

void add(PodTimes& times, const model::ContainerState& state, bool current) {
  if (state.running && state.running->started_at) {
    start(times, *state.running->started_at);
    times.running |= current;
  }
  if (state.terminated && state.terminated->started_at && state.terminated->finished_at) {
    start(times, *state.terminated->started_at);
    finish(times, *state.terminated->finished_at);
  }
}

}  // namespace

std::int64_t unix_seconds(WallTime time) {
  return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}

PodTimes times_of(const model::Pod& pod) {
  PodTimes times;
  for (const model::ContainerStatus& container : pod.status.container_statuses) {
    add(times, container.last_state, false);
    add(times, container.state, true);
  }
  return times;
}

std::optional<Interval> interval_of(const PodTimes& times, std::optional<WallTime> lost_at) {
  if (!times.begin || (times.running && !lost_at)) {
    return std::nullopt;
  }
  std::int64_t end = times.end.value_or(*times.begin);
  if (times.running) {
    end = std::max(end, unix_seconds(*lost_at));
  }
  // A node's clock may have been set back while the container ran.
  return Interval{.begin = *times.begin, .end = std::max(*times.begin, end)};
}

std::optional<Interval> interval_of(const model::Pod& pod, std::optional<WallTime> lost_at) {
  return interval_of(times_of(pod), lost_at);
}

}  // namespace codeflare::usage
