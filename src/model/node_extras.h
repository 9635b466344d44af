#pragma once

#include "model/meta.h"
#include "model/node.h"
#include "model/resource_list.h"

#include <string_view>

namespace codeflare::model {

inline constexpr std::string_view kGpuResource = "nvidia.com/gpu";

// Annotation of pods, "true": on nodes of `codeflare up` a container with a command waits for a
// mapping of its image too, instead of running this machine's programs.
inline constexpr std::string_view kImageRequiredAnnotation = "node.codeflare.dev/image-required";

// Extras that a node gets at its start, beside what the machine has: labels, and resources that
// only the queue counts.
struct NodeExtras {
  StringMap labels;
  ResourceList resources;
};

// At its registration. Annotations name them, so that a later start knows which were not others'.
void add_extras(Node& node, const NodeExtras& extras);

// Labels and size of a node that is known from an earlier start, as it is wanted now. Extras that
// it was given then and not now are removed; labels and extended resources that others added stay.
// GPUs are the node's own: it numbers them.
void renew_extras(Node& known, const Node& wanted);

}  // namespace codeflare::model
