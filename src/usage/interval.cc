#include "usage/interval.h"

#include <algorithm>

namespace codeflare::usage {

namespace {

std::int64_t seconds_of(WallTime time) {
  return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}

struct Bounds {
  std::optional<std::int64_t> begin;
  std::optional<std::int64_t> end;
  bool running = false;

  void start(std::int64_t at) { begin = std::min(begin.value_or(at), at); }
  void finish(std::int64_t at) { end = std::max(end.value_or(at), at); }
};

void add(Bounds& bounds, const model::ContainerState& state, bool current) {
  if (state.running && state.running->started_at) {
    bounds.start(seconds_of(*state.running->started_at));
    bounds.running |= current;
  }
  if (state.terminated && state.terminated->started_at && state.terminated->finished_at) {
    bounds.start(seconds_of(*state.terminated->started_at));
    bounds.finish(seconds_of(*state.terminated->finished_at));
  }
}

}  // namespace

std::optional<Interval> interval_of(const model::Pod& pod, std::optional<WallTime> lost_at) {
  Bounds bounds;
  for (const model::ContainerStatus& container : pod.status.container_statuses) {
    add(bounds, container.last_state, false);
    add(bounds, container.state, true);
  }
  if (!bounds.begin) {
    return std::nullopt;
  }
  if (bounds.running) {
    if (!lost_at) {
      return std::nullopt;
    }
    bounds.finish(seconds_of(*lost_at));
  }
  // A node's clock may have been set back while the container ran.
  return Interval{.begin = *bounds.begin,
                  .end = std::max(*bounds.begin, bounds.end.value_or(*bounds.begin))};
}

}  // namespace codeflare::usage
