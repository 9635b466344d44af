#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"

#include <string>
#include <vector>

namespace codeflare::cli {

struct CreateFlags {
  std::vector<std::string> files;
  bool dry_run = false;  // by the server
};

// `codeflare create -f`: one object after the other; what fails is told and the rest goes on.
Task<int> run_create(Session& session, CreateFlags flags);

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
