#pragma once

#include "base/async/loop.h"
#include "base/human_duration.h"
#include "cli/session/session.h"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace codeflare::cli::internal {

// Progress of a wait on standard error. A terminal has one live line, which turns and counts each
// second; elsewhere each change is a line with its time.
class WaitLine {
 public:
  explicit WaitLine(Session& session)
      : session_(session), line_(session.console()), began_(session.env().clock.now()) {}
  ~WaitLine() { stop(); }
  WaitLine(const WaitLine&) = delete;
  WaitLine& operator=(const WaitLine&) = delete;

  void show(const std::string& state) {
    if (session_.quiet()) {
      return;
    }
    if (session_.console().err_is_terminal()) {
      state_ = state;
      draw();
      return;
    }
    session_.console().err(to_rfc3339(session_.now()) + " " + state + " (" + elapsed() + ")\n");
  }

  // Before something else is written.
  void clear() {
    stop();
    line_.clear();
  }

 private:
  static constexpr std::string_view kTurns = "|/-\\";

  std::string elapsed() const { return human_duration(session_.env().clock.now() - began_); }

  // The time comes first: the end of a long line is cut.
  void draw() {
    stop();
    line_.show(std::string(1, kTurns[turn_++ % kTurns.size()]) + " " + elapsed() + " " + state_);
    Loop& loop = session_.env().loop;
    timer_ = loop.start_timer(loop.now() + std::chrono::seconds(1), [this] { draw(); });
  }
  void stop() {
    if (timer_) {
      session_.env().loop.cancel_timer(*timer_);
      timer_.reset();
    }
  }

  Session& session_;
  ProgressLine line_;
  Instant began_;
  std::string state_;
  std::size_t turn_ = 0;
  std::optional<TimerId> timer_;
};

}  // namespace codeflare::cli::internal
