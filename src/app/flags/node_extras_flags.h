#pragma once

#include "base/result.h"
#include "model/node_extras.h"

#include <string>
#include <vector>

namespace codeflare {

// As they are typed: "KEY=VALUE" of --label, "NAME=AMOUNT" of --resource, each as often as wanted.
struct NodeExtrasFlags {
  std::vector<std::string> labels;
  std::vector<std::string> resources;
};

// The extras of the flags; an error names the flag. Of a key that comes twice the last counts.
Result<model::NodeExtras> parse_node_extras(const NodeExtrasFlags& flags);

}  // namespace codeflare
