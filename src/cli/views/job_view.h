#pragma once

#include "base/time.h"
#include "sdk/job_info.h"

#include <string>
#include <vector>

// Jobs as text; pure.
namespace codeflare::cli {

// NAME NAMESPACE BACKEND CLUSTER STATUS CPUS MEMORY GPUS STARTED TOOK REASON
std::string render_jobs(const std::vector<sdk::JobInfo>& jobs, WallTime now);
// Status, reason, exit code, times, command.
std::string render_job_status(const sdk::JobInfo& job, WallTime now);
// The same with requests, code package and metadata.
std::string render_job_details(const sdk::JobInfo& job, WallTime now);

}  // namespace codeflare::cli
