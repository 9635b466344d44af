#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "cli/session/session.h"
#include "cli/views/work_view.h"
#include "cli/views/wrapper_view.h"
#include "model/pod.h"

#include <vector>

namespace codeflare::cli {

// The pods of an AppWrapper.
Task<Result<std::vector<model::Pod>>> list_pods(Session& session, GroupedWrapper wrapper);

// How an AppWrapper fares that was dispatched.
Task<Result<Work>> gather_work(Session& session, GroupedWrapper wrapper);

}  // namespace codeflare::cli
