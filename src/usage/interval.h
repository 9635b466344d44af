#pragma once

#include "base/time.h"
#include "model/pod.h"

#include <cstdint>
#include <optional>

namespace codeflare::usage {

// When a pod used its resources, in whole Unix seconds as its node reported them.
struct Interval {
  std::int64_t begin = 0;
  std::int64_t end = 0;  // not before begin

  std::int64_t seconds() const { return end - begin; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

// The times of a pod's containers as far as the node has reported them.
struct PodTimes {
  std::optional<std::int64_t> begin{};  // first start of a container
  std::optional<std::int64_t> end{};    // last end of a container
  bool running = false;                 // some container has no end yet
  friend bool operator==(const PodTimes&, const PodTimes&) = default;
};

PodTimes times_of(const model::Pod& pod);
std::int64_t unix_seconds(WallTime time);

// From the first start of a container to the last end. Nothing when no container started.
// `lost_at` is the last heartbeat of a node that was lost: containers without an end of their own
// ended there. Without it a pod that still runs has no interval yet.
std::optional<Interval> interval_of(const PodTimes& times, std::optional<WallTime> lost_at);
std::optional<Interval> interval_of(const model::Pod& pod, std::optional<WallTime> lost_at);

}  // namespace codeflare::usage
