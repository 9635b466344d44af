#pragma once

#include "base/result.h"
#include "model/container.h"
#include "ray/job.h"

#include <optional>
#include <string>
#include <string_view>

// The container that submits a Ray job from within the cluster and prints the job's log.
namespace codeflare::sdk {

inline constexpr std::string_view kSubmitterContainer = "ray-job-submitter";
// Set by the controller of RayJobs (KubeRay's, or ours): where the dashboard is, and the submission
// id to use.
inline constexpr std::string_view kDashboardVariable = "RAY_DASHBOARD_ADDRESS";
inline constexpr std::string_view kSubmissionVariable = "RAY_JOB_SUBMISSION_ID";

// Sets command and environment of a container with any image that has Ray. It submits the job
// unless the id is known already, prints the log, each line once, and ends well when the job has
// ended, however that was: a container that starts anew only follows. Its termination message has
// {"status", "exitCode"}. A `working_dir` of the request may be a path in the container.
// Fails when the runtime environment is not a JSON object.
Result<void> set_submitter_command(model::Container& container, const ray::JobRequest& request);

// How the job ended, by the termination message of its container.
struct SubmitterEnd {
  std::string status;  // Ray's: SUCCEEDED, FAILED, STOPPED
  std::optional<int> exit_code{};
};
// Nothing when the text is not such a message: the container did not see the job's end.
std::optional<SubmitterEnd> submitter_end(std::string_view termination_message);

}  // namespace codeflare::sdk
