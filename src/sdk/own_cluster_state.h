#pragma once

#include "model/app_wrapper.h"
#include "model/pod.h"
#include "sdk/job_info.h"

#include <vector>

namespace codeflare::sdk {

// Jobs with a Ray cluster of their own, as their AppWrapper and pods show them; pure. The pod that
// submits the job has the container of jobs and says at its end how the job ended; the others are
// those of the cluster. `pods` may be empty where they cannot be seen.
JobInfo own_cluster_info(const model::AppWrapper& wrapper, const std::vector<model::Pod>& pods);

// That of the AppWrapper's back end: own_cluster_info() or gang_info().
JobInfo wrapped_info(const model::AppWrapper& wrapper, const std::vector<model::Pod>& pods);

}  // namespace codeflare::sdk
