#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "cli/console.h"
#include "cli/processes.h"

#include <string>

namespace codeflare::cli {

struct DownFlags {
  std::string directory;  // resolved
  Duration timeout{};     // 0: none
};
// `codeflare down`: asks the cluster of the directory to end and waits until it has. Fails when
// nothing runs there; what a killed one left in the kubeconfig is taken out then.
Task<int> run_down(Env env, Console& console, Processes& processes, DownFlags flags);

}  // namespace codeflare::cli
