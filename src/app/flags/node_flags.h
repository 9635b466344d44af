#pragma once

#include "app/flags/node_extras_flags.h"

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace codeflare {

// Options of `node` and `up` for nodes whose pods are processes, as typed.
struct NodeFlags {
  std::optional<std::string> cpus;
  std::optional<std::string> memory;
  std::string gpus = "0";
  NodeExtrasFlags extras;
  std::vector<std::string> host_paths;
  bool allow_host_network = false;
  bool allow_plain = false;
  bool egress = false;
  bool json_log = false;
  bool verbose = false;
};

// The help text of each size.
struct NodeSizeHelp {
  std::string cpus;
  std::string memory;
  std::string gpus;
  std::string label;
  std::string resource;
};

// --cpus, --memory, --gpus, --label, --resource
void add_node_size(CLI::App& role, NodeFlags& flags, const NodeSizeHelp& help);
// --allow-host-network, --allow-plain-processes, --allow-host-path
void add_node_permissions(CLI::App& role, NodeFlags& flags);
// --egress
void add_egress(CLI::App& role, NodeFlags& flags);
// --log-json, --verbose
void add_node_logging(CLI::App& role, NodeFlags& flags);

}  // namespace codeflare
