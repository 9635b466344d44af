#pragma once

#include "base/time.h"

#include <cstdint>
#include <vector>

namespace codeflare::cli::simulate {

// A job as the original rule sees it: in order of priority and queueing.
struct OriginalJob {
  std::int64_t min = 1;
  std::int64_t max = 1;
  std::int32_t priority = 0;
};

// The sizes that the system which TrainingJobs come from gives them, 0 for those that wait. `jobs`
// are in order of priority, then of queueing time; nodes do not matter to it, only their sum.
//   1. In order: the maximum if it is free, else what is free if that is the minimum at least; else
//      this job and all behind it wait.
//   2. While something is idle and a job waits, the first of them takes what it lacks of its
//      minimum from running jobs of no higher priority, from the end of the order.
std::vector<std::int64_t> original_sizes(const std::vector<OriginalJob>& jobs, std::int64_t units);

}  // namespace codeflare::cli::simulate
