#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"

#include <cstdint>
#include <string>

namespace codeflare::cli {

extern const Verb kPriorityTraining;

struct PriorityTrainingFlags {
  std::string name;
  std::int32_t priority = 0;
};
// `codeflare priority tj NAME N`: spec.priority.
Task<int> run_priority_training(Session& session, PriorityTrainingFlags flags);

}  // namespace codeflare::cli
