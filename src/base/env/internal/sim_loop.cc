#include "base/env/internal/sim_loop.h"

#include "base/check.h"

#include <optional>
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
  CHECK(!running_, "the loop was run from inside its own work");
  running_ = true;
  while (!done && (run_ready() || run_due_timers() || advance())) {
  }
  running_ = false;
  return done;
}

bool SimLoop::run_ready() {
  if (ready_.empty()) {
    return false;
  }
  if (std::size_t index = choose(ready_.size()); index > 0) {
    std::swap(ready_.front(), ready_[index]);
  }
  Ready next = std::move(ready_.front());
  ready_.pop_front();
  step();
  if (next.handle) {
    next.handle.resume();
  } else {
    next.work();
  }
  return true;
}

// All that are due: whom they wake becomes ready together, as on the real loop.
bool SimLoop::run_due_timers() {
  // With more timers at one instant than this the order is varied among the first.
  constexpr std::size_t kChoice = 64;
  bool any = false;
  while (std::size_t due = timers_.due(now_, shuffle_ ? kChoice : 1)) {
    any = true;
    Work work = timers_.take(choose(due));
    step();
    work();
  }
  return any;
}

bool SimLoop::advance() {
  std::optional<Instant> next = timers_.next();
  if (!next) {
    return false;
  }
  now_ = *next;
  steps_here_ = 0;
  return true;
}

std::size_t SimLoop::choose(std::size_t count) {
  if (!shuffle_ || count < 2) {
    return 0;
  }
  std::uint64_t index = random_.below(count);
  mix(index);
  return index;
}

void SimLoop::step() {
  ++steps_;
  CHECK(++steps_here_ <= steps_per_instant_max_,
        "virtual time stands still: something repeats without a wait");
  mix(static_cast<std::uint64_t>(now_.time_since_epoch().count()));
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
