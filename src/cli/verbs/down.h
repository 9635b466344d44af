#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "cli/session/console.h"
#include "up/processes.h"

#include <cstddef>
#include <functional>
#include <string>

namespace codeflare::cli {

struct DownFlags {
  std::string directory;  // resolved
  Duration timeout{};     // 0: none
};
// Ends the pods and their network that a killed cluster has left in its directory; says how many.
using EndLeft = std::function<Task<Result<std::size_t>>(std::string directory)>;

// `codeflare down`: asks the cluster of the directory to end and waits until it has. Of one that
// was killed it ends what is left, and takes its context out of the kubeconfig. Fails when nothing
// runs there and nothing is left.
Task<int> run_down(Env env, Console& console, Processes& processes, EndLeft end_left,
                   DownFlags flags);

}  // namespace codeflare::cli
