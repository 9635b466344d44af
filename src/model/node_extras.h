#pragma once

#include "model/meta.h"
#include "model/node.h"
#include "model/resource_list.h"

#include <string_view>

namespace codeflare::model {

inline constexpr std::string_view kGpuResource = "nvidia.com/gpu";

// What a node is given by whoever starts it, beside what the machine has: labels, and resources
// that only the queue counts.
struct NodeExtras {
  StringMap labels;
  ResourceList resources;
};

// At its registration. Annotations name them, so that a later start knows which were not others'.
void add_extras(Node& node, const NodeExtras& extras);

// Labels and size of a node that is known from an earlier start, as it is wanted now. What it was
// given then and is not any more goes; labels and extended resources that others added stay. GPUs
// are the node's own: it numbers them.
void renew_extras(Node& known, const Node& wanted);

}  // namespace codeflare::model
