#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"

namespace codeflare::cli {

extern const Verb kCrds;
// For tools/access.py, which writes the roles of the chart.
extern const Verb kAccess;

struct CrdsFlags {
  bool legacy_group = false;
  bool ray = false;
};

// `codeflare crds apply`: adds and changes definitions, never removes one.
Task<int> run_crds_apply(Session& session, CrdsFlags flags);

}  // namespace codeflare::cli
