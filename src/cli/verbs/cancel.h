#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"

#include <string>
#include <vector>

namespace codeflare::cli {

extern const Verb kCancel;

struct CancelFlags {
  std::string kind;
  std::vector<std::string> names;
  std::string selector;
  std::string user;
  bool mine = false;
  bool all_namespaces = false;
};
// `codeflare cancel NAME...`, or of all work with these labels or of this user. A job is stopped
// and keeps its record; any other AppWrapper is deleted. Work that has ended is left alone.
Task<int> run_cancel(Session& session, CancelFlags flags);

}  // namespace codeflare::cli
