#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "kube/client.h"

#include <optional>
#include <string>

namespace codeflare::controllers::raycluster {

// Whether the KubeRay operator works on this cluster: where it was found ("deployment
// ray-system/kuberay-operator"), or nothing. Two controllers must not run the same RayClusters.
Task<Result<std::optional<std::string>>> kuberay_present(kube::Client& client);

}  // namespace codeflare::controllers::raycluster
