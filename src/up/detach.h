#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "up/progress.h"
#include "up/state.h"

#include <string>
#include <string_view>
#include <vector>

namespace codeflare::up {

struct DetachOptions {
  std::string directory;
  std::string log;
  std::vector<std::string> arguments;  // of this program, for the background
};

struct Detached {
  Result<UpState> ready;
  std::string written{};  // to the log of a cluster that did not become ready
};

// Starts this program once more, in the background, and waits until its cluster is ready.
Task<Detached> run_in_background(Env env, DetachOptions options, Progress progress);

// The arguments of /proc/self/cmdline for the one that runs in the background with that log.
std::vector<std::string> background_arguments(std::string_view cmdline, const std::string& log);

}  // namespace codeflare::up
