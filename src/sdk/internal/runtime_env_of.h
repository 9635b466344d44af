#pragma once

#include "base/result.h"
#include "sdk/jobs.h"

#include <string>

namespace codeflare::sdk::internal {

// The runtime environment of a job as JSON, local paths included: the given one with working_dir
// and the variables of the job. Fails when both name a working directory.
Result<std::string> runtime_env_of(const JobSpec& spec);

}  // namespace codeflare::sdk::internal
