#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "cli/session/console.h"
#include "up/detach.h"

namespace codeflare::cli {

// `codeflare up --detach`: starts the cluster in the background and says when it is ready. When it
// ends before that, says what it wrote.
Task<int> run_detached(Env env, Console& console, up::DetachOptions options);

}  // namespace codeflare::cli
