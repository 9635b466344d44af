#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// Labels, names and status words of TrainingJobs.
namespace codeflare::controllers::trainingjob {

inline constexpr std::string_view kJobLabel = "breezeml.ai/job";
inline constexpr std::string_view kIndexLabel = "breezeml.ai/index";
// "true": the image has the agent; the job gets what an agent needs.
inline constexpr std::string_view kAgentAnnotation = "breezeml.ai/agent";

// From a notice to SIGKILL, for jobs with agents that name no time.
inline constexpr std::int64_t kGraceSeconds = 120;

namespace stage {
inline constexpr std::string_view kWaiting = "Waiting";
inline constexpr std::string_view kRunning = "Running";
inline constexpr std::string_view kSuspended = "Suspended";
inline constexpr std::string_view kWrongConfiguration = "WrongConfiguration";
inline constexpr std::string_view kRequeueCooldown = "RequeueCooldown";
inline constexpr std::string_view kCompleted = "Completed";
}  // namespace stage

// status.membership.reason
namespace change {
inline constexpr std::string_view kStart = "Start";
inline constexpr std::string_view kGrow = "Grow";
inline constexpr std::string_view kShrink = "Shrink";
inline constexpr std::string_view kReplace = "Replace";
inline constexpr std::string_view kPause = "Pause";
inline constexpr std::string_view kFinish = "Finish";
}  // namespace change

inline std::string worker_name(std::string_view job, std::int64_t index) {
  return std::string(job) + "-worker-" + std::to_string(index);
}

}  // namespace codeflare::controllers::trainingjob
