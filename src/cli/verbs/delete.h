#pragma once

#include "base/async/task.h"
#include "base/time.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"

#include <string>
#include <vector>

namespace codeflare::cli {

extern const Verb kDelete;

struct DeleteFlags {
  std::vector<std::string> files;
  std::string kind;  // or these
  std::vector<std::string> names;
  bool dry_run = false;
  bool wait = true;
  Duration timeout{};  // zero: none
  bool ignore_not_found = false;
};

// `codeflare delete -f` and `delete KIND NAME...`: asks for all of them, then waits until they are
// gone.
Task<int> run_delete(Session& session, DeleteFlags flags);

}  // namespace codeflare::cli
