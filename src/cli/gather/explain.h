#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "cli/session/session.h"
#include "cli/views/explain_view.h"
#include "cli/views/kinds.h"

#include <string>

namespace codeflare::cli {

struct ExplainOptions {
  std::string name;
  std::string controller_ns;
};

// Why an AppWrapper is not running yet: its status for everyone; with the right to list nodes, pods
// and AppWrappers also what a queue of its own makes of them: numbers, holders, what would help.
Task<Result<Explained>> gather_explanation(Session& session, KnownKind kind,
                                           ExplainOptions options);

}  // namespace codeflare::cli
