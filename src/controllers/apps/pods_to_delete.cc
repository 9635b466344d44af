#include "controllers/apps/pods_to_delete.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <tuple>

namespace codeflare::controllers::apps {

namespace {

// How long ago, on a logarithmic scale; what has no time comes first.
int age_class(WallTime since, WallTime now) {
  if (since == WallTime()) {
    return -1;
  }
  const auto age = std::max<std::int64_t>(0, (now - since).count());
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(age)));
}

}  // namespace

std::vector<WorkloadPod> pods_to_delete(std::vector<WorkloadPod> pods, std::size_t count,
                                        const std::map<std::string, std::size_t>& pods_on_node,
                                        WallTime now) {
  const auto rank = [&](const WorkloadPod& pod) {
    const auto found = pods_on_node.find(pod.node);
    const auto crowd = found == pods_on_node.end() ? 0 : static_cast<std::int64_t>(found->second);
    return std::tuple(!pod.node.empty(), pod.running, pod.ready, pod.deletion_cost, -crowd,
                      pod.ready ? age_class(pod.ready_since, now) : 0, -pod.restarts,
                      age_class(pod.created, now), pod.uid);
  };
  std::ranges::sort(pods, {}, rank);
  pods.resize(std::min(count, pods.size()));
  return pods;
}

}  // namespace codeflare::controllers::apps
