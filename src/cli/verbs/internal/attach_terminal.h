#pragma once

#include "base/async/task.h"
#include "base/async/wait_list.h"
#include "cli/session/session.h"
#include "sdk/job_info.h"

#include <string>

namespace codeflare::cli::internal {

// Waits until the job of `run --pty` has its allocation, then connects this terminal to its program
// until that ends. The job as it ended; `cancelled` when this program is asked to end first.
// `window` is notified when the size of the terminal changes.
Task<Result<sdk::JobInfo>> attach_terminal(Session& session, std::string name, WaitList& window);

}  // namespace codeflare::cli::internal
