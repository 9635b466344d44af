#pragma once

#include "base/env/env.h"
#include "base/result.h"
#include "cli/session/console.h"

#include <string>

namespace codeflare::cli::internal {

// The data directory of the cluster that a verb of `codeflare up` means: `given`, else that of the
// current context, else the user's usual one, with a warning when the context is another cluster's.
Result<std::string> local_directory(Env env, Console& console, const std::string& given);

}  // namespace codeflare::cli::internal
