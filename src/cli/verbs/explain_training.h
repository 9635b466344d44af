#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"

#include <string>

namespace codeflare::cli {

extern const Verb kExplainTraining;

struct ExplainTrainingFlags {
  std::string name;
  std::string controller_ns;
};
// `codeflare explain tj NAME`: its size, why it is not larger, who has growth.
Task<int> run_explain_training(Session& session, ExplainTrainingFlags flags);

}  // namespace codeflare::cli
