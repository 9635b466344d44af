#pragma once

#include "app/apiserver_role.h"

namespace codeflare {

// `codeflare controller`: the queue for a cluster. Sets `chosen` when it was asked for.
void add_controller_role(CLI::App& app, Role& chosen);

}  // namespace codeflare
