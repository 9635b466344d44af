#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"

#include <cstdint>
#include <string>

namespace codeflare::cli {

extern const Verb kDashboard;
extern const Verb kSession;

struct DashboardFlags {
  std::string name;
  std::uint16_t port = 0;         // of the dashboard; 0: any
  std::uint16_t client_port = 0;  // of Ray's client server; 0: any
  bool no_browser = false;
};
// `codeflare dashboard NAME`: Ray's dashboard on loopback until Ctrl-C.
Task<int> run_dashboard(Session& session, DashboardFlags flags);
// `codeflare session NAME`: the dashboard and the port of Ray clients on loopback until Ctrl-C.
Task<int> run_session_with(Session& session, DashboardFlags flags);

}  // namespace codeflare::cli
