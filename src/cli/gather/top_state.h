#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "cli/session/session.h"
#include "cli/views/top_view.h"

namespace codeflare::cli {

// Nodes, running pods and their measures (metrics.k8s.io), of all namespaces unless one was given
// or only one may be listed.
Task<Result<TopView>> look_at_use(Session& session);

}  // namespace codeflare::cli
