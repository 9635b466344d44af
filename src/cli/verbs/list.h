#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"

#include <string>

namespace codeflare::cli {

extern const Verb kList;

struct ListFlags {
  std::string kind;
  bool all_namespaces = false;
  std::string selector;
};
// `codeflare list appwrapper`: of both groups, unless one is named.
Task<int> run_list(Session& session, ListFlags flags);

}  // namespace codeflare::cli
