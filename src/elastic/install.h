#pragma once

#include "base/env/env.h"
#include "base/result.h"

#include <string>

namespace codeflare::elastic {

// Writes the agent and the library into a directory, for containers of other images:
// DIR/codeflare-agent and DIR/python/codeflare_elastic. The agent is the program
// `codeflare-agent` beside this one, or this one itself; the library is part of the program.
Result<void> install_agent(Env env, const std::string& directory);

}  // namespace codeflare::elastic
