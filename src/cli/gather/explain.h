#pragma once

#include "base/async/task.h"
#include "cli/gather/wrappers.h"
#include "cli/session/session.h"

#include <string>

namespace codeflare::cli {

struct ExplainFlags {
  std::string kind;
  std::string name;
  std::string controller_ns;
};

// `codeflare explain appwrapper NAME`: the status for everyone; with the right to list nodes, pods
// and AppWrappers also what a queue of its own makes of them: numbers, holders, what would help.
Task<int> run_explain(Session& session, ExplainFlags flags);

}  // namespace codeflare::cli
