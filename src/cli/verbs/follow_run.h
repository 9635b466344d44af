#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"

#include <cstdint>
#include <optional>
#include <string>

namespace codeflare::cli {

extern const Verb kLogsRun;
extern const Verb kWaitRun;

struct LogsRunFlags {
  std::string name;
  bool follow = false;
  std::optional<std::int64_t> tail{};
};
// `codeflare logs run NAME`: of all its pods; with `follow` of its head until the Run has ended,
// and then the exit code says how.
Task<int> run_logs_run(Session& session, LogsRunFlags flags);

struct WaitRunFlags {
  std::string name;
  std::string goal = "finished";
  Duration timeout{};
};
// `codeflare wait run NAME`: exit code 0 when it completed, 1 when it failed, 6 when time is up.
Task<int> run_wait_run(Session& session, WaitRunFlags flags);

}  // namespace codeflare::cli
