#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "node/agent/pod_runtime.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

// How pods end with their node.
namespace codeflare::node {

// Of a pod that does not say.
inline constexpr std::int64_t kUsualGraceSeconds = 30;

struct PodEnding {
  std::string uid;
  Duration grace{};
  std::vector<std::string> sidecars{};  // in the order of their start
  // Begins the preStop hook of a container, for so long at most; false when it has none. Empty:
  // nobody runs hooks.
  std::function<bool(const std::string& container, Duration left)> begin_hook{};
  std::function<bool()> hooks_pending{};
  std::function<bool()> grace_skipped{};  // the pod has had grace enough
};

// Asks what runs in the pod to end, sidecars after all others and the last of them first, and kills
// what is left after the grace. Containers that were asked count as cut off, whatever their exit
// code. Sidecars whose turn did not come are asked when the grace is over, with two seconds left.
Task<Result<void>> end_with_node(Env env, PodRuntime& pods, PodEnding ending);

// The same with all pods that `pods` finds, of a node that is not there any more; nobody runs
// hooks. Says how many there were. An error names those that did not end, or may not have.
Task<Result<std::size_t>> end_left_pods(Env env, PodRuntime& pods);

}  // namespace codeflare::node
