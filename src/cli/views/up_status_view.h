#pragma once

#include "base/time.h"
#include "up/state.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

// The cluster of `codeflare up` as text; pure.
namespace codeflare::cli {

// The size and activity of a cluster, counted.
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

// For people, and for programs.
std::string render_up_status(const up::UpState& state, const std::string& directory,
                             const ClusterCounts& counts, WallTime now);
std::string up_status_json(const up::UpState& state, const std::string& directory,
                           const ClusterCounts& counts);

}  // namespace codeflare::cli
