#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"

#include <string>
#include <vector>

namespace codeflare::cli {

extern const Verb kDeleteRayCluster;

struct DeleteRayClusterFlags {
  std::vector<std::string> names;
  bool wait = true;
  bool ignore_not_found = false;
  bool dry_run = false;
  Duration timeout{};  // zero: none
};
// `codeflare delete raycluster NAME...`: with their AppWrappers; returns when they are gone.
Task<int> run_delete_raycluster(Session& session, DeleteRayClusterFlags flags);

}  // namespace codeflare::cli
