#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/name_flags.h"
#include "cli/verbs/verb.h"
#include "up/state.h"

#include <string>

namespace codeflare::cli {

extern const Verb kStatus;

// `codeflare status appwrapper NAME`
Task<int> run_status(Session& session, NameFlags flags);

// `codeflare status`: the cluster that `codeflare up` runs in the directory; empty: the usual one.
// Fails when nothing runs there. `output` is "" or "json".
struct UpStatusFlags {
  std::string directory;
  std::string output;
};
int run_up_status(const UpStatusFlags& flags);

// Of a cluster that runs: asks it and prints.
Task<int> run_up_status(Session& session, up::UpState state, std::string directory);

}  // namespace codeflare::cli
