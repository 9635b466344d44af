#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "cli/session/session.h"
#include "cli/views/up_status_view.h"

namespace codeflare::cli {

Task<Result<ClusterCounts>> count_cluster(Session& session);

}  // namespace codeflare::cli
