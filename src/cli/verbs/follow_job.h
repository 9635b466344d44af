#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/job_flags.h"
#include "cli/verbs/verb.h"

#include <cstdint>
#include <optional>
#include <string>

namespace codeflare::cli {

extern const Verb kLogsJob;
extern const Verb kWaitJob;

struct LogsJobFlags : JobFlags {
  bool follow = false;
  std::optional<std::int64_t> replica{};  // default: all
  std::optional<std::int64_t> tail{};     // lines of each replica
};
// `codeflare logs job NAME`: with `follow` until the job has ended; then the exit code says whether
// it succeeded.
Task<int> run_logs_job(Session& session, LogsJobFlags flags);

struct WaitJobFlags : JobFlags {
  std::string goal = "finished";
};
// `codeflare wait job NAME`: the exit code says whether it succeeded.
Task<int> run_wait_job(Session& session, WaitJobFlags flags);

}  // namespace codeflare::cli
