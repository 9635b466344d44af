#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"

#include <string>
#include <vector>

namespace codeflare::cli {

extern const Verb kPriority;

struct PriorityFlags {
  std::vector<std::string> words;  // [KIND] NAME N
};
// `codeflare priority NAME N`: spec.priority.
Task<int> run_priority(Session& session, PriorityFlags flags);

}  // namespace codeflare::cli
