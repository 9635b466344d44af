#pragma once

#include "base/result.h"
#include "model/pod.h"
#include "node/agent/expansion.h"
#include "node/agent/pod_inputs.h"

#include <string>

namespace codeflare::node {

// The variables of a container as a kubelet makes them: services first, then envFrom, then env in
// order, each of which may refer to those before it. Fails with the sentence that a kubelet shows
// with CreateContainerConfigError.
Result<VariableMap> container_variables(const model::Pod& pod, const model::Container& container,
                                        const PodInputs& inputs);

// FOO_BAR_SERVICE_HOST and the rest, for every service with an address of its own.
VariableMap service_variables(const std::vector<model::Service>& services);

}  // namespace codeflare::node
