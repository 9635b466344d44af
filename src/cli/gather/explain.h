#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "base/time.h"
#include "cli/session/session.h"
#include "cli/views/explain_view.h"
#include "cli/views/kinds.h"
#include "queue/settings.h"

#include <map>
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

// When work that waits is expected to start, by its UID: of the first of the line, where running
// work declares how long it takes. Empty when the caller may not list nodes and pods.
Task<std::map<std::string, WallTime>> expected_starts(Session& session, queue::Settings settings);

}  // namespace codeflare::cli
