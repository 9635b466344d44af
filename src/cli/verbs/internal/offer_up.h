#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "cli/session/console.h"

namespace codeflare::cli::internal {

// Where no cluster is configured and a person sits at a terminal: asks whether to start one on this
// machine, and does. False: no, or nobody to ask.
Task<Result<bool>> offer_up(Env env, Console& console, bool may_ask);

}  // namespace codeflare::cli::internal
