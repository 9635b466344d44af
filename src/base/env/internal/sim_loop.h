#pragma once

#include "base/async/loop.h"
#include "base/env/clock.h"
#include "base/env/internal/timer_queue.h"
#include "base/env/random.h"

#include <coroutine>
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
  SimLoop(Random& random, bool shuffle, WallTime wall_start)
      : random_(random), shuffle_(shuffle), wall_start_(wall_start) {}

  Instant now() const override { return now_; }
  WallTime wall() const override { return wall_start_ + now_.time_since_epoch(); }

  void post(std::coroutine_handle<> handle) override;
  void post(Work work) override;
  void post_from_any_thread(Work work) override { post(std::move(work)); }
  TimerId start_timer(Instant when, Work work) override;
  void cancel_timer(const TimerId& timer) override;
  bool run_until(const bool& done) override;

  void trace(std::string_view what);
  std::uint64_t trace_hash() const { return hash_; }
  std::uint64_t steps() const { return steps_; }

 private:
  struct Ready {
    std::coroutine_handle<> handle;
    Work work;
  };
  Ready take_ready();
  void mix(std::uint64_t value);

  Random& random_;
  bool shuffle_;
  WallTime wall_start_;
  Instant now_{std::chrono::seconds(1)};
  std::deque<Ready> ready_;
  TimerQueue timers_;
  std::uint64_t hash_ = 0xcbf29ce484222325;
  std::uint64_t steps_ = 0;
};

}  // namespace codeflare::internal
