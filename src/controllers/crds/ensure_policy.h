#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "kube/client.h"

#include <cstdint>

namespace codeflare::controllers {

enum class PolicyReport : std::uint8_t {
  applied,
  left_alone,   // what is there will do: there is no right to change it
  built_in,     // the server is our own: it has the rule, and asks no policies
  not_served,   // Kubernetes before 1.30
  not_allowed,  // it is not there, and there is no right to create it
};

// Puts the admission policy in place that says what of an AppWrapper cannot be changed, where the
// server asks such policies. The queue works without it. The client outlives the task.
Task<Result<PolicyReport>> ensure_policy(kube::Client& client);

}  // namespace codeflare::controllers
