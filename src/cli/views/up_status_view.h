#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "base/time.h"
#include "cli/session/session.h"
#include "up/state.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace codeflare::cli {

// What a cluster has and does, counted.
struct ClusterCounts {
  struct Node {
    std::string name;
    bool ready = false;
    std::string cpus;
    std::string memory;
    std::string gpus;
    std::size_t pods = 0;  // that have not ended
  };
  std::vector<Node> nodes;
  std::map<std::string, std::size_t> pods;  // by phase
  std::size_t waiting = 0;
  std::size_t running = 0;  // AppWrappers
  bool paused = false;
};
Task<Result<ClusterCounts>> count_cluster(Session& session);

// For people, and for programs.
std::string render_up_status(const UpState& state, const std::string& directory,
                             const ClusterCounts& counts, WallTime now);
std::string up_status_json(const UpState& state, const std::string& directory,
                           const ClusterCounts& counts);

// Of a cluster that runs: asks it and prints.
Task<int> run_up_status(Session& session, UpState state, std::string directory);

// `codeflare status`: the cluster that `codeflare up` runs in the directory; empty: the usual one.
// Fails when nothing runs there. `output` is "" or "json".
struct UpStatusFlags {
  std::string directory;
  std::string output;
};
int run_up_status(const UpStatusFlags& flags);

}  // namespace codeflare::cli
