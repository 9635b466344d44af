#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "base/time.h"
#include "cli/session/session.h"
#include "cli/views/explain_view.h"
#include "cli/views/kinds.h"
#include "cli/views/training_explain_view.h"
#include "queue/settings.h"

#include <map>
#include <string>

namespace codeflare::cli {

struct ExplainOptions {
  std::string name;
  std::string controller_ns;
};

// Why an AppWrapper is not running yet: its status for everyone; numbers, holders and what would
// help from the controller (view_api.h). Without its answer, with the right to list nodes, pods and
// AppWrappers, from a queue made of these.
Task<Result<Explained>> gather_explanation(Session& session, KnownKind kind,
                                           ExplainOptions options);

// When work that waits is expected to start, by its UID: of the first of the line, where running
// work declares how long it takes. Empty when the caller may not list nodes and pods.
Task<std::map<std::string, WallTime>> expected_starts(Session& session, queue::Settings settings);

// Why a TrainingJob has its size, from the same objects. The unit and the node selector of
// TrainingJobs are taken to be the defaults: the controller does not publish them.
Task<Result<ExplainedTraining>> explain_training(Session& session, ExplainOptions options);

}  // namespace codeflare::cli
