#pragma once

#include "base/async/task.h"
#include "base/time.h"
#include "cli/session/session.h"
#include "cli/views/explain_view.h"
#include "model/event.h"

#include <string>
#include <vector>

namespace codeflare::cli {

// When it happened last. The events library counts repetitions; others write the last time.
WallTime time_of(const model::Event& event);

// The Events of all AppWrappers that had this name in the session's namespace, oldest first. They
// outlive the AppWrapper: Kubernetes keeps Events for an hour. Empty: none, or the user may not
// list Events.
Task<std::vector<PastEvent>> wrapper_events(Session& session, std::string name);

}  // namespace codeflare::cli
