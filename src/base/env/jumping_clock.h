#pragma once

#include "base/env/env.h"

namespace codeflare {

// Another clock whose time of day a person, or a time server, sets while everything runs. For
// tests:
//   JumpingClock clock(sim.env().clock);
//   Env env = with_clock(sim.env(), clock);
//   clock.jump(-std::chrono::hours(24));
class JumpingClock final : public Clock {
 public:
  explicit JumpingClock(Clock& steady) : steady_(steady) {}
  Instant now() const override { return steady_.now(); }
  WallTime wall() const override { return steady_.wall() + offset_; }
  void jump(Duration by) { offset_ += by; }

 private:
  Clock& steady_;
  Duration offset_{};
};

inline Env with_clock(const Env& env, Clock& clock) {
  return {env.loop, clock, env.random, env.files, env.launcher, env.variables, env.blocking};
}

}  // namespace codeflare
