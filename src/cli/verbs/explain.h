#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"

#include <string>

namespace codeflare::cli {

extern const Verb kExplain;

struct ExplainFlags {
  std::string kind;
  std::string name;
  std::string controller_ns;
};

// `codeflare explain appwrapper NAME` (gather/explain.h).
Task<int> run_explain(Session& session, ExplainFlags flags);

}  // namespace codeflare::cli
