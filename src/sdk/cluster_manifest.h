#pragma once

#include "json/value.h"
#include "sdk/cluster_config.h"

#include <string>

namespace codeflare::sdk {

// The objects for a configuration without faults: an AppWrapper around a RayCluster, or
// the RayCluster alone (queueing kueue and none). `automatic` is an AppWrapper here: who creates it
// unwraps it where the server has none.
json::Document cluster_manifest(const ClusterConfig& config);

// The RayCluster by itself.
json::Document ray_cluster_manifest(const ClusterConfig& config);

// The manifest as a file that people read and edit: fields in the order of their meaning, and the
// command that submits it in a comment on top.
std::string cluster_yaml(const ClusterConfig& config);

}  // namespace codeflare::sdk
