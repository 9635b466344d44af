#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace codeflare {

// The work of a role once the command line is understood; returns the exit code.
using Role = std::function<int()>;

// `codeflare apiserver` with its snapshot and restore. Sets `chosen` when it was asked for.
void add_apiserver_role(CLI::App& app, Role& chosen);

}  // namespace codeflare
