#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"

#include <cstdint>
#include <optional>
#include <string>

namespace codeflare::cli {

extern const Verb kLogsTraining;

struct LogsTrainingFlags {
  std::string name;
  bool follow = false;
  std::optional<std::int64_t> worker{};  // empty: all of them
  std::optional<std::int64_t> tail{};    // lines of each worker
};
// `codeflare logs tj NAME`: of all its workers. With `follow` also of those that come later, until
// the job has ended: then the exit code says whether it succeeded.
Task<int> run_logs_training(Session& session, LogsTrainingFlags flags);

}  // namespace codeflare::cli
