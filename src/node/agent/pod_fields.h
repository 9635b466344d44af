#pragma once

#include "base/result.h"
#include "model/container.h"
#include "model/pod.h"
#include "model/resource_list.h"

#include <string>
#include <string_view>

// The fields that the downward API shows a pod.
namespace codeflare::node {

// The status of the pod has its addresses already. invalid_argument for a field that is not
// offered.
Result<std::string> pod_field(const model::Pod& pod, std::string_view path);

// "limits.cpu" and the like of a container, divided as asked; what has no limit has the node's.
Result<std::string> resource_field(const model::Pod& pod, const model::Container& container,
                                   const model::ResourceFieldSelector& selector,
                                   const model::ResourceList& allocatable);

}  // namespace codeflare::node
