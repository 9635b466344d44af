#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "base/time.h"
#include "kube/client.h"
#include "sdk/clusters.h"

#include <cstddef>
#include <string>
#include <vector>

namespace codeflare::sdk {

// An Event about a Ray cluster.
struct ClusterEvent {
  WallTime last{};     // when it happened last
  std::string type;    // "Normal", "Warning"
  std::string object;  // "pod demo-head", "RayCluster demo"
  std::string reason;
  std::string message;
};

// The last Events about a cluster's AppWrapper, RayCluster and pods, oldest first. One request,
// which needs the right to list events.
Task<Result<std::vector<ClusterEvent>>> last_events(kube::Client& client, ClusterInfo cluster,
                                                    std::size_t count);

}  // namespace codeflare::sdk
