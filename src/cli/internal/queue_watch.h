#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "cli/session.h"
#include "model/app_wrapper.h"

#include <string>
#include <vector>

namespace codeflare::cli::internal {

// All AppWrappers that the caller may list.
struct QueueState {
  std::vector<model::AppWrapper> wrappers;
  bool legacy = false;  // those of MCAD's group are among them: there is one line
  bool paused = false;
  // Only this namespace could be listed; empty: all of them.
  std::string ns;
};

Task<Result<QueueState>> look_at_queue(Session& session, std::string controller_ns);

// Says so when only a part of the line can be seen.
void tell_scope(Session& session, const QueueState& state);

// Whether the queue is paused; not when nobody ever said so, or the caller may not know.
Task<bool> is_paused(Session& session, std::string controller_ns);

// Follows the line until cancelled: redraws on a terminal, else appends what changed.
Task<int> watch_queue(Session& session, std::string controller_ns);

}  // namespace codeflare::cli::internal
