#include "queue/kinds/reported_end.h"

#include <algorithm>
#include <string_view>

namespace codeflare::queue {
namespace {

const json::Value& status_of(const json::Value& object) {
  static const json::Value kNone = json::Value::object();
  const json::Value* status = object.find("status");
  return status == nullptr ? kNone : *status;
}

// "Reason: message" as the object has it, else what is said here.
std::string explained(const json::Value& from, std::string otherwise) {
  const std::string reason(from.string_or_empty("reason"));
  const std::string message(from.string_or_empty("message"));
  std::string text = reason + (reason.empty() || message.empty() ? "" : ": ") + message;
  return text.empty() ? otherwise : text;
}

}  // namespace

std::span<const json::Value> conditions_of(const json::Value& object) {
  const json::Value* conditions = object.get({"status", "conditions"});
  return conditions == nullptr ? std::span<const json::Value>() : conditions->items();
}

bool is_true(const json::Value& condition) {
  return condition.string_or_empty("status") == "True";
}

std::string condition_failure(const json::Value& object) {
  for (const json::Value& condition : conditions_of(object)) {
    if (condition.string_or_empty("type") == "Failed" && is_true(condition)) {
      return explained(condition, "its condition Failed is True");
    }
  }
  return {};
}

bool condition_success(const json::Value& object) {
  return std::ranges::any_of(conditions_of(object), [](const json::Value& condition) {
    const std::string_view type = condition.string_or_empty("type");
    return is_true(condition) && (type == "Complete" || type == "Completed" || type == "Succeeded");
  });
}

std::string phase_failure(const json::Value& object) {
  const json::Value& status = status_of(object);
  return status.string_or_empty("phase") == "Failed" ? explained(status, "its phase is Failed")
                                                     : std::string();
}

bool phase_success(const json::Value& object) {
  return status_of(object).string_or_empty("phase") == "Succeeded";
}

std::string job_status_failure(const json::Value& object) {
  const json::Value& status = status_of(object);
  const std::string_view deployment = status.string_or_empty("jobDeploymentStatus");
  const std::string_view job = status.string_or_empty("jobStatus");
  // A RayJob with a backoffLimit that is not used up begins again. KubeRay counts failures since it
  // retries, and decides when the submitter has ended too: until then the deployment is Running.
  const bool undecided =
      deployment == "Retrying" || (deployment == "Running" && status.find("failed") != nullptr);
  const bool ended = (job == "FAILED" || job == "STOPPED") && !undecided;
  if (ended || deployment == "Failed" || deployment == "ValidationFailed") {
    return explained(status, "its job is " + std::string(job.empty() ? deployment : job));
  }
  return {};
}

bool job_status_success(const json::Value& object) {
  return status_of(object).string_or_empty("jobStatus") == "SUCCEEDED";
}

std::string any_failure(const json::Value& object) {
  for (const auto failure : {condition_failure, phase_failure, job_status_failure}) {
    if (std::string why = failure(object); !why.empty()) {
      return why;
    }
  }
  return {};
}

bool any_success(const json::Value& object) {
  return condition_success(object) || phase_success(object) || job_status_success(object);
}

}  // namespace codeflare::queue
