#pragma once

#include "app/apiserver_role.h"

namespace codeflare {

// `codeflare checkpointd`: the checkpoint service. Sets `chosen` when it was asked for.
void add_checkpointd_role(CLI::App& app, Role& chosen);

}  // namespace codeflare
