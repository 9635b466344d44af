#pragma once

#include "base/result.h"
#include "model/pod.h"
#include "sched/spec.h"

namespace codeflare::queue {

// Selector, required node affinity, tolerations and node name of a pod. Errors begin with the path
// below the pod's spec: "affinity.nodeAffinity...".
Result<void> add_constraints(const model::PodSpec& spec, sched::PodSet& pods);

}  // namespace codeflare::queue
