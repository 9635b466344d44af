#pragma once

#include "controllers/raycluster/ray_names.h"
#include "model/container.h"
#include "model/meta.h"

#include <string>
#include <string_view>
#include <vector>

namespace codeflare::controllers::raycluster {

struct StartInput {
  NodeType type = NodeType::head;
  model::StringMap params;     // rayStartParams of the group
  model::StringMap resources;  // of the group: for Ray, not for the pod
  model::StringMap labels;     // of the group
  model::ResourceRequirements container;
  std::string head_address;  // "host:port", for workers
};

// All parameters of `ray start`: the group's own, and what follows from its resources and type.
model::StringMap start_params(const StartInput& input);

// "ray start --head  --block  --num-cpus=2 ": switches that are "true" without a value, switches
// that are "false" not at all.
std::string start_command(NodeType type, const model::StringMap& params);

// Runs a command line in a container, as KubeRay has it.
std::vector<std::string> shell();

// Ends in "gpu", or is a slice of an NVIDIA card.
bool is_gpu(std::string_view resource);

}  // namespace codeflare::controllers::raycluster
