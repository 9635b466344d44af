#pragma once

#include "base/async/task.h"
#include "base/async/wait_list.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"
#include "sdk/run_job.h"

#include <optional>
#include <string>

namespace codeflare::cli {

extern const Verb kRun;

struct RunFlags {
  sdk::RunSpec spec{};
  std::optional<std::string> directory{};  // default: the working directory
  std::string venv{};
  std::string pip{};             // a file of requirements
  std::string data_directory{};  // of `codeflare up`, for the virtual environment
  bool detach = false;
  // With spec.terminal: notified when the size of this terminal changes.
  WaitList* window = nullptr;
  bool dry_run = false;
};
// `codeflare run [options] -- COMMAND...`: queues a job, shows its log and ends with its exit code.
Task<int> run_run(Session& session, RunFlags flags);

}  // namespace codeflare::cli
