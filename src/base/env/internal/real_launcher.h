#pragma once

#include "base/async/loop.h"
#include "base/env/launcher.h"

namespace codeflare::internal {

// Pipes and the end of the process are events of the loop: no thread, no SIGCHLD handler.
class RealLauncher final : public Launcher {
 public:
  explicit RealLauncher(Loop& loop) : loop_(loop) {}
  Task<Result<CommandResult>> run(Command command) override;

 private:
  Loop& loop_;
};

}  // namespace codeflare::internal
