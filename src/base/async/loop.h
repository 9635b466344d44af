#pragma once

#include "base/time.h"

#include <coroutine>
#include <cstdint>
#include <functional>

namespace codeflare {

using Work = std::move_only_function<void()>;

// Names a timer that has not fired; ordered by time, then by start.
struct TimerId {
  Instant when;
  std::uint64_t sequence = 0;
  friend auto operator<=>(const TimerId&, const TimerId&) = default;
};

// One step of the loop; everything else waits meanwhile: a coroutine until it waits, a timer, an
// event of a socket.
struct LoopStep {
  Instant began;
  Duration took;
  Duration cpu;  // of the loop's thread
};
using StepReport = std::function<void(const LoopStep&)>;

// Where coroutines run: one thread, first posted first run. base/env has a real one and a simulated
// one with virtual time; nothing else in the program starts work by itself.
class Loop {
 public:
  virtual ~Loop() = default;

  virtual Instant now() const = 0;
  // Runs later, never inside this call. Only from the loop's own thread.
  virtual void post(std::coroutine_handle<> handle) = 0;
  virtual void post(Work work) = 0;
  // The one call that other threads may make.
  virtual void post_from_any_thread(Work work) = 0;

  virtual TimerId start_timer(Instant when, Work work) = 0;
  // Harmless when the timer has fired already.
  virtual void cancel_timer(const TimerId& timer) = 0;

  // Reports every step that took longer than `limit` when it has ended, until called again; an
  // empty report turns it off. Costs nothing when off. In simulation no step takes any time.
  virtual void watch_steps(Duration limit, StepReport report) = 0;

  // Runs work until `done` is true; not from inside the loop's own work. Returns false when nothing
  // is left that could make it so: a deadlock in simulation (the real loop then waits for its
  // sockets instead).
  virtual bool run_until(const bool& done) = 0;
};

}  // namespace codeflare
