#pragma once

#include "base/async/loop.h"
#include "base/clock.h"
#include "base/env/internal/timer_queue.h"
#include "base/env/random.h"

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>

namespace codeflare::internal {

// splitmix64: small, fast and good enough to choose faults.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() override;

 private:
  std::uint64_t state_;
};

// Virtual time: when nothing is ready, the clock jumps to the next timer.
class SimLoop final : public Loop, public Clock {
 public:
  SimLoop(Random& random, bool shuffle, WallTime wall_start,
          std::uint64_t steps_per_instant_max = 10'000'000)
      : random_(random),
        shuffle_(shuffle),
        wall_start_(wall_start),
        steps_per_instant_max_(steps_per_instant_max) {}

  Instant now() const override { return now_; }
  WallTime wall() const override { return wall_start_ + now_.time_since_epoch(); }

  void post(std::coroutine_handle<> handle) override;
  void post(Work work) override;
  void post_from_any_thread(Work work) override { post(std::move(work)); }
  TimerId start_timer(Instant when, Work work) override;
  void cancel_timer(const TimerId& timer) override;
  void watch_steps(Duration /*limit*/, StepReport /*report*/) override {}
  bool run_until(const bool& done) override;

  void trace(std::string_view what);
  std::uint64_t trace_hash() const { return hash_; }
  std::uint64_t steps() const { return steps_; }

 private:
  struct Ready {
    std::coroutine_handle<> handle;
    Work work;
  };
  // Each says whether there was anything to do.
  bool run_ready();
  bool run_due_timers();
  bool advance();

  // Which of `count` things that may happen now happens first.
  std::size_t choose(std::size_t count);
  void step();
  void mix(std::uint64_t value);

  Random& random_;
  const bool shuffle_;
  const WallTime wall_start_;
  const std::uint64_t steps_per_instant_max_;
  Instant now_{std::chrono::seconds(1)};
  std::deque<Ready> ready_;
  TimerQueue timers_;
  std::uint64_t hash_ = 0xcbf29ce484222325;
  std::uint64_t steps_ = 0;
  std::uint64_t steps_here_ = 0;  // since the clock moved
  bool running_ = false;
};

}  // namespace codeflare::internal
