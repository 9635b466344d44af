#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"

#include <string>

namespace codeflare::cli {

extern const Verb kTop;

struct TopFlags {
  std::string what;  // "clusters"; empty: nodes and work
};
// `codeflare top`: use of nodes and work against requests; `codeflare top clusters`: of clusters.
Task<int> run_top(Session& session, TopFlags flags);

}  // namespace codeflare::cli
