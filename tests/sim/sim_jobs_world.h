#pragma once

#include "tests/sim/sim_jobs_user.h"
#include "tests/sim/sim_main.h"

#include <optional>

namespace codeflare::sim {

struct JobsPlan {
  JobsBug bug = JobsBug::none;
  // A good network, and one user with one job, whose first program dies like this.
  std::optional<Death> only{};
};

// Users who submit, follow, stop and delete jobs on two Ray clusters in one simulated process: the
// code of the command line and the Python package, an API server with a proxy, and a dashboard for
// each cluster. Requests and replies get lost, answers are 429, 500, 502, 503 and 504 before and
// after an effect, logs break off or close early, programs die between any two requests. Each wish
// becomes one job, logs have each line once, reported ends are true; when the faults are healed,
// all wishes come true.
Outcome run_jobs(const Run& run, const JobsPlan& plan = {});

}  // namespace codeflare::sim
