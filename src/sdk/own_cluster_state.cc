#include "sdk/own_cluster_state.h"

#include "sdk/gang_state.h"
#include "sdk/ray_submitter.h"

#include <algorithm>
#include <optional>
#include <string>

namespace codeflare::sdk {

namespace {

using model::AppWrapper;
using model::Pod;

constexpr std::string_view kClusterLabel = "ray.io/cluster";

// The end of the job that a submitter saw.
std::optional<SubmitterEnd> end_of(const std::vector<Pod>& pods) {
  for (const Pod& pod : pods) {
    const model::ContainerStatus* status = main_status(pod);
    if (status != nullptr && status->state.terminated) {
      if (auto end = submitter_end(status->state.terminated->message)) {
        return end;
      }
    }
  }
  return std::nullopt;
}

void take_end(JobInfo& job, const SubmitterEnd& end) {
  job.exit_code = end.exit_code;
  if (end.status == "SUCCEEDED") {
    job.phase = JobPhase::succeeded;
    job.exit_code = end.exit_code.value_or(0);
    job.reason.clear();
    job.message.clear();
  } else if (end.status == "STOPPED") {
    job.phase = JobPhase::stopped;
    job.reason = "Cancelled";
    job.message.clear();
  } else {
    // The AppWrapper's words stay: they end with the last lines of the log.
    job.phase = JobPhase::failed;
    job.reason = "AppFailed";
    if (end.exit_code) {
      job.message = "exit code " + std::to_string(*end.exit_code);
    }
  }
}

bool runs(const Pod& pod) {
  return pod.status.phase == "Running" && !pod.metadata.deleting();
}

}  // namespace

JobInfo own_cluster_info(const AppWrapper& wrapper, const std::vector<Pod>& pods) {
  JobInfo job = gang_info(wrapper, pods);
  job.backend = JobBackend::ray_own;
  for (const Pod& pod : pods) {
    if (const std::string_view name = model::find_or_empty(pod.metadata.labels, kClusterLabel);
        !name.empty()) {
      job.cluster.name = name;
    }
  }
  if (const std::optional<SubmitterEnd> end = end_of(pods)) {
    take_end(job, *end);
  } else if (job.phase == JobPhase::pending && job.reason.empty()) {
    job.message = "its Ray cluster starts: " + std::to_string(std::ranges::count_if(pods, runs)) +
                  " pods run";
  }
  return job;
}

JobInfo wrapped_info(const AppWrapper& wrapper, const std::vector<Pod>& pods) {
  return backend_of(wrapper) == JobBackend::ray_own ? own_cluster_info(wrapper, pods)
                                                    : gang_info(wrapper, pods);
}

}  // namespace codeflare::sdk
