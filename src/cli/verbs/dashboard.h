#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"

#include <cstdint>
#include <string>

namespace codeflare::cli {

extern const Verb kDashboard;

struct DashboardFlags {
  std::string name;
  std::uint16_t port = 0;  // 0: any
};
// `codeflare dashboard NAME`: Ray's dashboard on loopback until Ctrl-C.
Task<int> run_dashboard(Session& session, DashboardFlags flags);

}  // namespace codeflare::cli
