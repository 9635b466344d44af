#pragma once

#include "base/human_duration.h"
#include "cli/session/session.h"

#include <string>

namespace codeflare::cli::internal {

// Progress of a wait on standard error: one live line on a terminal, else a line with its time for
// each change.
class WaitLine {
 public:
  explicit WaitLine(Session& session)
      : session_(session), line_(session.console()), began_(session.env().clock.now()) {}

  void show(const std::string& state) {
    const std::string text =
        state + " (" + human_duration(session_.env().clock.now() - began_) + ")";
    if (session_.console().err_is_terminal()) {
      line_.show(text);
    } else {
      session_.console().err(to_rfc3339(session_.now()) + " " + text + "\n");
    }
  }

  // Before something else is written.
  void clear() { line_.clear(); }

 private:
  Session& session_;
  ProgressLine line_;
  Instant began_;
};

}  // namespace codeflare::cli::internal
