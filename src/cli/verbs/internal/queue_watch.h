#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/views/queue_view.h"

#include <string>

namespace codeflare::cli::internal {

// Follows the line until cancelled: redraws on a terminal, else appends what changed, with -o json
// an object on a line for each change.
Task<int> watch_queue(Session& session, std::string controller_ns, QueueOptions options);

}  // namespace codeflare::cli::internal
