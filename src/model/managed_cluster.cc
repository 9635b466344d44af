#include "model/managed_cluster.h"

#include "base/go_duration.h"

#include <algorithm>
#include <chrono>

namespace codeflare::model::managed_cluster {

std::string secret_name(const ManagedCluster& cluster) {
  return cluster.spec.kubeconfig_secret.empty() ? "cluster-" + cluster.metadata.name
                                                : cluster.spec.kubeconfig_secret;
}

Duration lost_after(const ManagedClusterSpec& spec) {
  constexpr Duration kDefault = std::chrono::minutes(15);
  constexpr Duration kLeast = std::chrono::minutes(1);
  constexpr Duration kMost = std::chrono::hours(24 * 365);
  const std::optional<Duration> asked = go_duration(spec.lost_after);
  return asked ? std::clamp(*asked, kLeast, kMost) : kDefault;
}

std::string_view cluster_of_node(std::string_view planned_node) {
  const std::size_t slash = planned_node.find('/');
  return slash == std::string_view::npos ? kLocal : planned_node.substr(0, slash);
}

}  // namespace codeflare::model::managed_cluster
