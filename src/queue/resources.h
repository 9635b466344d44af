#pragma once

#include "base/result.h"
#include "model/resource_list.h"
#include "sched/spec.h"

#include <cstddef>
#include <string>
#include <string_view>

// Resource lists in the core's units and back.
namespace codeflare::queue {

// Nobody needs more different resources, in one pod or in one AppWrapper.
inline constexpr std::size_t kResourcesMax = 64;
// The problems of the names in the list; empty when nothing is.
std::string names_problem(const model::ResourceList& list);
// The problem of the name of a resource that a container requests; empty when there is none.
std::string container_resource_problem(std::string_view name);

// Amounts in the core's units, rounded up: millicores, bytes, whole pieces. Fails for what does not
// fit 64 bits, for negative amounts and for fractions of a device.
Result<sched::Resources> to_resources(const model::ResourceList& list);
model::ResourceList to_resource_list(const sched::Resources& resources);

}  // namespace codeflare::queue
