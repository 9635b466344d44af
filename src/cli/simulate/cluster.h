#pragma once

#include "base/result.h"
#include "sched/spec.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::cli::simulate {

inline constexpr std::int64_t kNodesMax = 1'000'000;
inline constexpr const char* kGpuResource = "nvidia.com/gpu";
// The tree that the quota column of a trace names nodes of.
inline constexpr const char* kQuotaTree = "quota";

// The cluster that a trace is replayed on.
struct Cluster {
  std::vector<sched::NodeSpec> nodes;
  // Quota nodes of one tree; empty: no quota.
  std::vector<sched::QuotaNode> quota;
};

// The sum over all nodes, by resource.
std::map<std::string, sched::Amount> capacity_of(const Cluster& cluster);
// The most that one node has, by resource.
std::map<std::string, sched::Amount> largest_of(const Cluster& cluster);

struct EqualNodes {
  std::int64_t count = 1;
  std::string cpus;    // quantities; empty: none of it
  std::string memory;  // empty: not limited
  std::string gpus;
};
Result<Cluster> make_cluster(const EqualNodes& nodes);

// YAML or JSON: Nodes as `kubectl get nodes -o yaml` prints them, or
//   nodes: [{count: 4, name: big, labels: {...}, allocatable: {cpu: 96, nvidia.com/gpu: 8}}]
//   quota: [{name: team-a, parent: all, limits: {nvidia.com/gpu: 16}, hard: true}]
// Errors name file, document and field.
Result<Cluster> read_cluster(std::string_view text, const std::string& file);

}  // namespace codeflare::cli::simulate
