#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/name_flags.h"
#include "cli/verbs/verb.h"

namespace codeflare::cli {

extern const Verb kHold;
extern const Verb kRelease;

// `codeflare hold appwrapper NAME...` and `release`: spec.suspend.
Task<int> run_hold(Session& session, NameFlags flags, bool hold);

}  // namespace codeflare::cli
