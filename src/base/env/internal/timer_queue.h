#pragma once

#include "base/async/loop.h"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace codeflare::internal {

// Timers of one loop in the order in which they fire.
class TimerQueue {
 public:
  TimerId add(Instant when, Work work) {
    TimerId id{when, ++sequence_};
    timers_.emplace(id, std::move(work));
    return id;
  }
  void cancel(const TimerId& id) { timers_.erase(id); }
  bool empty() const { return timers_.empty(); }
  std::optional<Instant> next() const {
    return timers_.empty() ? std::nullopt : std::optional(timers_.begin()->first.when);
  }
  // The first timer due at `now`, taken out.
  std::optional<Work> take_due(Instant now) {
    if (timers_.empty() || timers_.begin()->first.when > now) {
      return std::nullopt;
    }
    std::optional<Work> work(std::move(timers_.begin()->second));
    timers_.erase(timers_.begin());
    return work;
  }

 private:
  std::map<TimerId, Work> timers_;
  std::uint64_t sequence_ = 0;
};

}  // namespace codeflare::internal
