#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"
#include "queue/marks.h"

#include <string>

namespace codeflare::cli {

extern const Verb kQueue;

// Where `queue pause` leaves its word for the controller, data.paused, "true" or "false", and the
// controller its own: data.settings (queue/settings.h).
using queue::kControllerNamespace;
using queue::kQueueConfigMap;

struct QueueFlags {
  bool watch = false;
  bool mine = false;
  std::string user{};
  std::string selector{};
  std::string controller_ns{kControllerNamespace};
};

// `codeflare queue`: who waits, in order. With `watch` it goes on until the task is cancelled.
Task<int> run_queue(Session& session, QueueFlags flags);

// `codeflare queue pause` and `resume`; makes the ConfigMap and its namespace when they are
// missing.
Task<int> run_pause(Session& session, QueueFlags flags, bool pause);

// `codeflare queue idle`: fails while an AppWrapper or TrainingJob of any namespace
// holds nodes, and names them.
Task<int> run_idle(Session& session, QueueFlags flags);

}  // namespace codeflare::cli
