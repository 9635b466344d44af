#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "cli/session/session.h"
#include "cli/views/wrapper_view.h"

#include <string>
#include <vector>

namespace codeflare::cli {

// The pods of an AppWrapper that is being deleted, by name: it waits for them.
// "pod a on n1 (finalizers example.com/x)".
Task<Result<std::vector<std::string>>> leaving_pods(Session& session, GroupedWrapper wrapper);

// The first few of them in a line; empty without any.
std::string leaving_text(const std::vector<std::string>& pods);

}  // namespace codeflare::cli
