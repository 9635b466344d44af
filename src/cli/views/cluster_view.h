#pragma once

#include "base/time.h"
#include "sdk/clusters.h"

#include <string>
#include <vector>

// Ray clusters as text; pure.
namespace codeflare::cli {

// NAME NAMESPACE STATUS WORKERS CPUS MEMORY GPUS AGE REASON
std::string render_clusters(const std::vector<sdk::ClusterInfo>& infos, WallTime now);

// Status, reason, workers.
std::string render_cluster_status(const sdk::ClusterInfo& info, WallTime now);
// The same with sizes, image, pods with their nodes, addresses.
std::string render_cluster_details(const sdk::ClusterInfo& info, WallTime now);

// "1 head (1 CPU, 5G), 2 workers (1 CPU, 3G each)"
std::string sizes_line(const sdk::ClusterConfig& config);

}  // namespace codeflare::cli
