#pragma once

#include "json/value.h"

#include <array>
#include <span>
#include <string>
#include <string_view>

// How objects report their own end in their status. Failures are "Reason: message" as the object
// has them, else which field says so; empty when the object has not failed.
namespace codeflare::queue {

// The fields of a status that say how an object ended: caches of items keep no others.
inline constexpr std::array<std::string_view, 7> kReportedEndFields = {
    "conditions", "phase", "jobStatus", "jobDeploymentStatus", "reason", "message", "failed"};

// The entries of status.conditions, whether they are True or not.
std::span<const json::Value> conditions_of(const json::Value& object);
bool is_true(const json::Value& condition);

// A condition Failed that is True; Complete, Completed or Succeeded.
std::string condition_failure(const json::Value& object);
bool condition_success(const json::Value& object);

// The phase Failed, Succeeded.
std::string phase_failure(const json::Value& object);
bool phase_success(const json::Value& object);

// The job status FAILED or STOPPED of a job that is not tried again, SUCCEEDED.
std::string job_status_failure(const json::Value& object);
bool job_status_success(const json::Value& object);

// Any of these: for kinds that are not known, and those that have no end of their own.
std::string any_failure(const json::Value& object);
bool any_success(const json::Value& object);

}  // namespace codeflare::queue
