#pragma once

#include "base/time.h"
#include "json/value.h"
#include "model/managed_cluster.h"
#include "model/resource_list.h"

#include <cstdint>
#include <string>
#include <vector>

// Worker clusters as text; pure.
namespace codeflare::cli {

// The condition Connected.
struct Connection {
  bool connected = false;
  std::string word;     // "yes", or the reason why not
  std::string message;  // the server's own words
};
Connection connection_of(const model::ManagedCluster& cluster);

// A line for each, by name; `wide` adds labels, cost, server, version and the message.
std::string render_clusters(std::vector<model::ManagedCluster> clusters, bool wide, WallTime now);

// The size and use of a cluster, for `top clusters`.
struct ClusterUse {
  std::string name;
  std::string connected;  // "-" for this one
  std::int64_t nodes = 0;
  model::ResourceList capacity{};
  model::ResourceList free{};
  std::int64_t dispatched = 0;
  std::int64_t waiting = 0;
};
ClusterUse use_of(const model::ManagedCluster& cluster);
// CPU, memory and whatever else some cluster has, as "taken/all".
std::string render_cluster_use(const std::vector<ClusterUse>& clusters);
json::Value cluster_use_value(const std::vector<ClusterUse>& clusters, json::Arena& arena);

}  // namespace codeflare::cli
