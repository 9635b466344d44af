#pragma once

#include "base/result.h"
#include "model/resource_list.h"
#include "sched/spec.h"

// The requests of one pod, in the core's units.
namespace codeflare::queue {

// On its node: the requests and one of the node's "pods".
Result<sched::Resources> reserved_by_pod(const model::ResourceList& requests);

// To quota: the same, and for ResourceQuotas what it may use at most, as "limits.cpu" and so on.
Result<sched::Resources> charged_by_pod(const model::ResourceList& requests,
                                        const model::ResourceList& limits);

}  // namespace codeflare::queue
