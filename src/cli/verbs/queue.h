#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"
#include "cli/views/queue_names.h"

#include <string>

namespace codeflare::cli {

extern const Verb kQueue;

struct QueueFlags {
  bool watch = false;
  std::string controller_ns{kControllerNamespace};
};

// `codeflare queue`: who waits, in order. With `watch` it goes on until the task is cancelled.
Task<int> run_queue(Session& session, QueueFlags flags);

// `codeflare queue pause` and `resume`; makes the ConfigMap and its namespace when they are
// missing.
Task<int> run_pause(Session& session, QueueFlags flags, bool pause);

}  // namespace codeflare::cli
