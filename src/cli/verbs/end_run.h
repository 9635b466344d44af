#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"

#include <string>
#include <vector>

namespace codeflare::cli {

extern const Verb kCancelRun;
extern const Verb kDeleteRun;
extern const Verb kHoldRun;
extern const Verb kReleaseRun;
extern const Verb kExplainRun;

struct RunNameFlags {
  std::vector<std::string> names;
};
// `codeflare cancel run NAME...`: ends it; the Run stays, Failed for the reason Cancelled.
Task<int> run_cancel_run(Session& session, RunNameFlags flags);
// `codeflare delete run NAME...`
Task<int> run_delete_run(Session& session, RunNameFlags flags);
// `codeflare hold run NAME...` and `release`: spec.suspend.
Task<int> run_hold_run(Session& session, RunNameFlags flags);
Task<int> run_release_run(Session& session, RunNameFlags flags);
// `codeflare explain run NAME`: the origin of every value, and what the queue says.
Task<int> run_explain_run(Session& session, RunNameFlags flags);

}  // namespace codeflare::cli
