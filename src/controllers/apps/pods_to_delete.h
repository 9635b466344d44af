#pragma once

#include "controllers/apps/workload_pods.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace codeflare::controllers::apps {

// The `count` of `pods` whose loss hurts least, in Kubernetes' order: not yet on a node, not
// running, not ready, cheap by their annotation, on a node with many of them, ready for a
// short time, often restarted, young. Moments that differ by less than a power of two count as
// equal, and then the UID decides, so that the youngest is not always the one.
std::vector<WorkloadPod> pods_to_delete(std::vector<WorkloadPod> pods, std::size_t count,
                                        const std::map<std::string, std::size_t>& pods_on_node,
                                        WallTime now);

}  // namespace codeflare::controllers::apps
