#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "cli/session/console.h"

#include <string>
#include <string_view>
#include <vector>

namespace codeflare::cli {

struct DetachFlags {
  std::string directory;
  std::string log;
  std::vector<std::string> arguments;  // of this program, for the background
};
// `codeflare up --detach`: starts this program once more, in the background, and waits until its
// cluster is ready. When it ends before that, says what it wrote.
Task<int> run_detached(Env env, Console& console, DetachFlags flags);

// The arguments of /proc/self/cmdline for the one that runs in the background with that log.
std::vector<std::string> background_arguments(std::string_view cmdline, const std::string& log);

}  // namespace codeflare::cli
