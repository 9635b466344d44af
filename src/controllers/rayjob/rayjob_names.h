#pragma once

#include <string_view>

// Names and status words of RayJobs that Ray users know from KubeRay 1.5.
namespace codeflare::controllers::rayjob {

inline constexpr std::string_view kFinalizer = "ray.io/rayjob-finalizer";
inline constexpr std::string_view kOriginNameLabel = "ray.io/originated-from-cr-name";

namespace mode {
inline constexpr std::string_view kKubernetesJob = "K8sJobMode";
inline constexpr std::string_view kHttp = "HTTPMode";
inline constexpr std::string_view kInteractive = "InteractiveMode";
inline constexpr std::string_view kSidecar = "SidecarMode";
}  // namespace mode

// status.jobDeploymentStatus; empty: new.
namespace deployment {
inline constexpr std::string_view kInitializing = "Initializing";
inline constexpr std::string_view kRunning = "Running";
inline constexpr std::string_view kComplete = "Complete";
inline constexpr std::string_view kFailed = "Failed";
inline constexpr std::string_view kValidationFailed = "ValidationFailed";
inline constexpr std::string_view kSuspending = "Suspending";
inline constexpr std::string_view kSuspended = "Suspended";
inline constexpr std::string_view kRetrying = "Retrying";
inline constexpr std::string_view kWaiting = "Waiting";
}  // namespace deployment

// status.reason
namespace reason {
inline constexpr std::string_view kSubmissionFailed = "SubmissionFailed";
inline constexpr std::string_view kDeadlineExceeded = "DeadlineExceeded";
inline constexpr std::string_view kAppFailed = "AppFailed";
inline constexpr std::string_view kTransitionGracePeriodExceeded =
    "JobDeploymentStatusTransitionGracePeriodExceeded";
inline constexpr std::string_view kValidationFailed = "ValidationFailed";
}  // namespace reason

}  // namespace codeflare::controllers::rayjob
