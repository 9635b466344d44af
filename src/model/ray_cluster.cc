#include "model/ray_cluster.h"

#include <algorithm>
#include <limits>

namespace codeflare::model {

std::int64_t desired_replicas(const RayWorkerGroup& group) {
  if (group.suspend.value_or(false)) {
    return 0;
  }
  const std::int64_t least = group.min_replicas.value_or(0);
  const std::int64_t most = group.max_replicas.value_or(std::numeric_limits<std::int32_t>::max());
  return std::min(std::max<std::int64_t>(group.replicas.value_or(0), least), most);
}

std::int64_t desired_pods(const RayWorkerGroup& group) {
  return desired_replicas(group) * group.num_of_hosts.value_or(1);
}

}  // namespace codeflare::model
