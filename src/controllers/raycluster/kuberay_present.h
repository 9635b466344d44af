#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "kube/client.h"

#include <functional>
#include <optional>
#include <string>

namespace codeflare::controllers::raycluster {

// Whether the KubeRay operator works on this cluster: where it was found ("deployment
// ray-system/kuberay-operator"), or nothing. Two controllers must not run the same RayClusters.
Task<Result<std::optional<std::string>>> kuberay_present(kube::Client& client);

// Looks again every minute until it is there: then tells where, and ends.
Task<void> watch_for_kuberay(kube::Client& client, std::function<void(const std::string&)> found);

}  // namespace codeflare::controllers::raycluster
