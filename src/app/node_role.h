#pragma once

#include "app/apiserver_role.h"

namespace codeflare {

// `codeflare node --join`: a node whose pods are processes of this machine, on any Kubernetes API
// server. Sets `chosen` when it was asked for.
void add_node_role(CLI::App& app, Role& chosen);

}  // namespace codeflare
