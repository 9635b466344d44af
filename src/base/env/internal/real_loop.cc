#include "base/env/internal/real_loop.h"

#include "base/check.h"
#include "base/env/real_env.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace codeflare {

namespace internal {

Instant RealClock::now() const {
  return Instant(
      std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch()));
}

WallTime RealClock::wall() const {
  return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

void RealLoop::post(std::coroutine_handle<> handle) {
  ready_.push_back({handle, nullptr});
}

void RealLoop::post(Work work) {
  ready_.push_back({nullptr, std::move(work)});
}

void RealLoop::post_from_any_thread(Work work) {
  boost::asio::post(context_, [work = std::move(work)]() mutable { work(); });
}

TimerId RealLoop::start_timer(Instant when, Work work) {
  return timers_.add(when, std::move(work));
}

void RealLoop::cancel_timer(const TimerId& timer) {
  timers_.cancel(timer);
}

bool RealLoop::run_until(const bool& done) {
  auto guard = boost::asio::make_work_guard(context_);
  context_.restart();
  while (!done) {
    while (std::optional<Work> due = timers_.take_due(now())) {
      (*due)();
    }
    run_ready(done);
    if (!done) {
      wait_for_events();
    }
  }
  return true;
}

// Only what is ready now: work that posts more work must not starve sockets and timers.
void RealLoop::run_ready(const bool& done) {
  for (std::size_t n = ready_.size(); n > 0 && !done; --n) {
    Ready next = std::move(ready_.front());
    ready_.pop_front();
    if (next.handle) {
      next.handle.resume();
    } else {
      next.work();
    }
  }
}

void RealLoop::wait_for_events() {
  if (!ready_.empty()) {
    context_.poll();
    return;
  }
  // One event wakes us; the others that are there already are taken along.
  constexpr Duration kLongest = std::chrono::hours(1);
  Duration wait = kLongest;
  if (std::optional<Instant> next = timers_.next()) {
    wait = std::clamp(*next - now(), Duration::zero(), kLongest);
  }
  if (context_.run_one_for(wait) > 0) {
    context_.poll();
  }
}

}  // namespace internal

boost::asio::io_context& io_context_of(Loop& loop) {
  auto* real = dynamic_cast<internal::RealLoop*>(&loop);
  CHECK(real != nullptr, "sockets need a real loop");
  return real->context();
}

}  // namespace codeflare
