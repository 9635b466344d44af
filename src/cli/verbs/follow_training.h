#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"

#include <string>

namespace codeflare::cli {

extern const Verb kWaitTraining;

struct WaitTrainingFlags {
  std::string name;
  std::string goal = "finished";
  Duration timeout{};
};
// `codeflare wait tj NAME`: exit code 0 when the goal is reached, 1 when the job failed, 6 when
// time is up.
Task<int> run_wait_training(Session& session, WaitTrainingFlags flags);

}  // namespace codeflare::cli
