#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "cli/session/console.h"
#include "cli/verbs/verb.h"
#include "up/end_cluster.h"
#include "up/processes.h"

namespace codeflare::cli {

extern const Verb kDown;

// `codeflare down`: ends the cluster of the directory (up/end_cluster.h) and says how that went.
// Fails when nothing runs there and nothing is left.
Task<int> run_down(Env env, Console& console, up::Processes& processes, up::EndLeft end_left,
                   up::EndOptions options);

}  // namespace codeflare::cli
