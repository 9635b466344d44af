#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "cli/session/session.h"

#include <string>

namespace codeflare::cli {

// The user of the session, as the server knows them.
Task<Result<std::string>> user_of(Session& session);

}  // namespace codeflare::cli
