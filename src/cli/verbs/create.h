#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"

#include <string>
#include <vector>

namespace codeflare::cli {

extern const Verb kCreate;

struct CreateFlags {
  std::vector<std::string> files;
  bool dry_run = false;  // by the server
};

// `codeflare create -f`: one object after the other; reports each failure and continues.
Task<int> run_create(Session& session, CreateFlags flags);

}  // namespace codeflare::cli
