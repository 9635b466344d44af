#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"

namespace codeflare::cli {

extern const Verb kTop;

struct TopFlags {};
// `codeflare top`: use of nodes and work against requests.
Task<int> run_top(Session& session, TopFlags flags);

}  // namespace codeflare::cli
