#pragma once

#include "base/async/task.h"
#include "base/time.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"

#include <chrono>
#include <string>

namespace codeflare::cli {

extern const Verb kCheck;

struct CheckFlags {
  std::string image;    // runs `codeflare version`
  std::string command;  // instead of the image's own program
  Duration timeout = std::chrono::minutes(2);
};

// `codeflare check`: submits a small AppWrapper, waits until it has completed, and deletes it.
Task<int> run_check(Session& session, CheckFlags flags);

}  // namespace codeflare::cli
