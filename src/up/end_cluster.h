#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "up/processes.h"
#include "up/progress.h"
#include "up/state.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace codeflare::up {

struct EndOptions {
  std::string directory;  // resolved
  Duration timeout{};     // 0: none
};

// How a cluster has ended.
struct Ended {
  // It did not end by itself, and what it had left has been ended.
  bool killed = false;
  std::optional<UpState> state{};  // of the killed one, when it had written any
  std::size_t pods = 0;            // that the killed one had left
};

// Ends the pods and their network that a killed cluster has left in its directory; says how many.
using EndLeft = std::function<Task<Result<std::size_t>>(std::string directory)>;
// The real one. Fails while another process has the directory.
Task<Result<std::size_t>> end_left_pods(Env env, std::string directory);

// Asks the cluster of the directory to end and waits until it has. Of one that was killed it ends
// what is left, and takes its context out of the kubeconfig. Not found when nothing runs there and
// nothing is left.
Task<Result<Ended>> end_cluster(Env env, Processes& processes, EndLeft end_left, EndOptions options,
                                Progress progress);

}  // namespace codeflare::up
