#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"

#include <string>

namespace codeflare::cli {

extern const Verb kListTraining;
extern const Verb kStatusTraining;

struct ShowTrainingFlags {
  std::string name;
  bool all_namespaces = false;
  std::string selector;
};
// `codeflare list tj`
Task<int> run_list_training(Session& session, ShowTrainingFlags flags);
// `codeflare status tj NAME`
Task<int> run_status_training(Session& session, ShowTrainingFlags flags);

}  // namespace codeflare::cli
