#pragma once

#include "sdk/cluster_config.h"

#include <vector>

namespace codeflare::sdk::internal {

// The fields in Kubernetes' own shape (volumes, tolerations, pod overrides) that no pod can have.
// Other fields must be without faults.
std::vector<Fault> shape_faults(const ClusterConfig& config);

}  // namespace codeflare::sdk::internal
