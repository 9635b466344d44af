#pragma once

#include "base/async/loop.h"
#include "base/async/sleep.h"

#include <optional>
#include <utility>

namespace codeflare::net::internal {

// A deadline that moves often and is rarely reached: moving it costs no timer.
class Watchdog {
 public:
  Watchdog(Loop& loop, Work on_expiry) : loop_(loop), on_expiry_(std::move(on_expiry)) {}
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog() {
    if (timer_) {
      loop_.cancel_timer(*timer_);
    }
  }

  // Zero means no deadline.
  void set(Duration timeout) {
    if (timeout <= Duration::zero()) {
      clear();
      return;
    }
    deadline_ = after(loop_.now(), timeout);
    if (timer_ && timer_->when > *deadline_) {
      loop_.cancel_timer(*timer_);
      timer_.reset();
    }
    if (!timer_) {
      start();
    }
  }
  void clear() { deadline_.reset(); }

 private:
  void start() {
    timer_ = loop_.start_timer(*deadline_, [this] { fire(); });
  }
  void fire() {
    timer_.reset();
    if (!deadline_) {
      return;
    }
    if (loop_.now() < *deadline_) {
      start();
      return;
    }
    deadline_.reset();
    on_expiry_();
  }

  Loop& loop_;
  Work on_expiry_;
  std::optional<Instant> deadline_;
  std::optional<TimerId> timer_;
};

}  // namespace codeflare::net::internal
