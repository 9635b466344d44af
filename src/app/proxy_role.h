#pragma once

#include "app/apiserver_role.h"

namespace codeflare {

// `codeflare proxy`: the way from this machine to the pods and services of `codeflare up`. Sets
// `chosen` when it was asked for.
void add_proxy_role(CLI::App& app, Role& chosen);

}  // namespace codeflare
