#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"

#include <string>
#include <vector>

namespace codeflare::cli {

extern const Verb kCancelTraining;
extern const Verb kDeleteTraining;
extern const Verb kHoldTraining;
extern const Verb kReleaseTraining;

struct TrainingNameFlags {
  std::vector<std::string> names;
};
// `codeflare cancel tj NAME...`: as delete, and leaves jobs that have ended.
Task<int> run_cancel_training(Session& session, TrainingNameFlags flags);
// `codeflare delete tj NAME...`
Task<int> run_delete_training(Session& session, TrainingNameFlags flags);
// `codeflare hold tj NAME...` and `release`: spec.runPolicy.suspend.
Task<int> run_hold_training(Session& session, TrainingNameFlags flags);
Task<int> run_release_training(Session& session, TrainingNameFlags flags);

}  // namespace codeflare::cli
