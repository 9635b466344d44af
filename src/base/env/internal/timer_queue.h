#pragma once

#include "base/async/loop.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
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
  // How many are due at `now`; counts no further than `limit`.
  std::size_t due(Instant now, std::size_t limit) const {
    std::size_t count = 0;
    for (auto it = timers_.begin(); count < limit && it != timers_.end() && it->first.when <= now;
         ++it) {
      ++count;
    }
    return count;
  }
  // Takes out the timer that `index` others precede.
  Work take(std::size_t index) {
    auto it = std::next(timers_.begin(), static_cast<std::ptrdiff_t>(index));
    Work work = std::move(it->second);
    timers_.erase(it);
    return work;
  }

 private:
  std::map<TimerId, Work> timers_;
  std::uint64_t sequence_ = 0;
};

}  // namespace codeflare::internal
