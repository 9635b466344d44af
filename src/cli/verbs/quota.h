#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"

#include <string>

namespace codeflare::cli {

extern const Verb kQuota;

struct QuotaFlags {
  std::string tree;  // empty: all
};
// `codeflare quota [TREE]`: the nodes of quota trees with limits, use, borrowing and demand.
Task<int> run_quota(Session& session, QuotaFlags flags);

}  // namespace codeflare::cli
