#pragma once

#include "base/async/loop.h"
#include "base/clock.h"
#include "base/env/internal/timer_queue.h"

#include <boost/asio/io_context.hpp>

#include <coroutine>
#include <deque>

namespace codeflare::internal {

class RealClock final : public Clock {
 public:
  Instant now() const override;
  WallTime wall() const override;
};

// Ready coroutines and timers are kept here without locks; Asio brings socket events and the posts
// of other threads, and does the waiting.
class RealLoop final : public Loop {
 public:
  explicit RealLoop(const Clock& clock) : clock_(clock) {}

  Instant now() const override { return clock_.now(); }
  void post(std::coroutine_handle<> handle) override;
  void post(Work work) override;
  void post_from_any_thread(Work work) override;
  TimerId start_timer(Instant when, Work work) override;
  void cancel_timer(const TimerId& timer) override;
  void watch_steps(Duration limit, StepReport report) override;
  bool run_until(const bool& done) override;

  boost::asio::io_context& context() { return context_; }

 private:
  // A coroutine or a function; the handle form needs no allocation.
  struct Ready {
    std::coroutine_handle<> handle;
    Work work;
  };
  // Runs `work` as one step.
  template <typename F>
  void step(F work);
  // Handles one event as a step, after waiting for it at most so long. False: there was none.
  bool handle_event(Duration wait);
  void run_due_timers();
  void run_ready(const bool& done);
  void wait_for_events();
  Duration time_to_wait() const;

  const Clock& clock_;
  boost::asio::io_context context_{1};
  std::deque<Ready> ready_;
  TimerQueue timers_;
  bool running_ = false;
  Duration step_limit_{};
  StepReport step_report_;  // empty: steps are not watched
};

}  // namespace codeflare::internal
