#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "cli/session/session.h"
#include "model/training_job.h"

#include <string>
#include <vector>

namespace codeflare::cli {

// TrainingJobs in no AppWrapper; all namespaces when `ns` is empty. Jobs that cannot be understood
// are left out. A server without the kind has none.
Task<Result<std::vector<model::TrainingJob>>> list_standalone_jobs(Session& session,
                                                                   std::string ns);

}  // namespace codeflare::cli
