#pragma once

#include "app/apiserver_role.h"

namespace codeflare {

// `codeflare up`: a whole cluster in this process. Sets `chosen` when it was asked for.
void add_up_role(CLI::App& app, Role& chosen);

}  // namespace codeflare
