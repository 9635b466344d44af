#include "base/env/internal/real_loop.h"

#include "base/check.h"
#include "base/env/real_env.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

namespace codeflare {

namespace internal {

namespace {

Duration thread_cpu() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

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

void RealLoop::watch_steps(Duration limit, StepReport report) {
  step_limit_ = limit;
  step_report_ = std::move(report);
}

template <typename F>
void RealLoop::step(F work) {
  if (!step_report_) {
    work();
    return;
  }
  const Instant began = clock_.now();
  const Duration cpu = thread_cpu();
  work();
  const LoopStep step{.began = began, .took = clock_.now() - began, .cpu = thread_cpu() - cpu};
  if (step_report_ && step.took > step_limit_) {
    step_report_(step);
  }
}

bool RealLoop::run_until(const bool& done) {
  CHECK(!running_, "the loop was run from inside its own work");
  running_ = true;
  auto guard = boost::asio::make_work_guard(context_);
  context_.restart();
  while (!done) {
    run_due_timers();
    run_ready(done);
    if (!done) {
      wait_for_events();
    }
  }
  running_ = false;
  return true;
}

// Those due now, not those that they start.
void RealLoop::run_due_timers() {
  const Instant now = clock_.now();
  while (timers_.due(now, 1) > 0) {
    step(timers_.take(0));
  }
}

// Only what is ready now: work that posts more work must not starve sockets and timers.
void RealLoop::run_ready(const bool& done) {
  for (std::size_t n = ready_.size(); n > 0 && !done; --n) {
    Ready next = std::move(ready_.front());
    ready_.pop_front();
    if (next.handle) {
      step([&] { next.handle.resume(); });
    } else {
      step([&] { next.work(); });
    }
  }
}

void RealLoop::wait_for_events() {
  // One event wakes us; the others that are there already are taken along. With work at hand or a
  // timer due there is no wait, but events still get their turn.
  const Duration wait = time_to_wait();
  if (step_report_) {
    if (wait == Duration::zero() || handle_event(wait)) {
      while (handle_event(Duration::zero())) {
      }
    }
  } else if (wait == Duration::zero() || context_.run_one_for(wait) > 0) {
    context_.poll();
  }
}

bool RealLoop::handle_event(Duration wait) {
  const Duration cpu = thread_cpu();
  const bool handled =
      (wait == Duration::zero() ? context_.poll_one() : context_.run_one_for(wait)) > 0;
  // The wait is in it: only the processor's time says how long the handler took.
  const Duration took = thread_cpu() - cpu;
  if (step_report_ && took > step_limit_) {
    step_report_({.began = clock_.now() - took, .took = took, .cpu = took});
  }
  return handled;
}

Duration RealLoop::time_to_wait() const {
  constexpr Duration kLongest = std::chrono::hours(1);
  if (!ready_.empty()) {
    return Duration::zero();
  }
  std::optional<Instant> next = timers_.next();
  return next ? std::clamp(*next - now(), Duration::zero(), kLongest) : kLongest;
}

}  // namespace internal

boost::asio::io_context& io_context_of(Loop& loop) {
  auto* real = dynamic_cast<internal::RealLoop*>(&loop);
  CHECK(real != nullptr, "sockets need a real loop");
  return real->context();
}

}  // namespace codeflare
