#include "base/env/internal/sim_loop.h"

#include <utility>

namespace codeflare::internal {

std::uint64_t SeededRandom::next() {
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

void SimLoop::post(std::coroutine_handle<> handle) {
  ready_.push_back({handle, nullptr});
}

void SimLoop::post(Work work) {
  ready_.push_back({nullptr, std::move(work)});
}

TimerId SimLoop::start_timer(Instant when, Work work) {
  return timers_.add(when, std::move(work));
}

void SimLoop::cancel_timer(const TimerId& timer) {
  timers_.cancel(timer);
}

bool SimLoop::run_until(const bool& done) {
  while (!done) {
    if (!ready_.empty()) {
      Ready next = take_ready();
      ++steps_;
      mix(static_cast<std::uint64_t>(now_.time_since_epoch().count()));
      if (next.handle) {
        next.handle.resume();
      } else {
        next.work();
      }
    } else if (std::optional<Work> due = timers_.take_due(now_)) {
      (*due)();
    } else if (std::optional<Instant> next = timers_.next()) {
      now_ = *next;
    } else {
      return false;
    }
  }
  return true;
}

SimLoop::Ready SimLoop::take_ready() {
  if (shuffle_ && ready_.size() > 1) {
    std::swap(ready_.front(), ready_[random_.below(ready_.size())]);
  }
  Ready next = std::move(ready_.front());
  ready_.pop_front();
  return next;
}

void SimLoop::mix(std::uint64_t value) {
  hash_ = (hash_ ^ value) * 0x100000001b3;
}

void SimLoop::trace(std::string_view what) {
  for (char c : what) {
    mix(static_cast<unsigned char>(c));
  }
  mix(what.size());
}

}  // namespace codeflare::internal
