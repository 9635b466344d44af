#pragma once

#include "runtime/manager.h"

#include <functional>
#include <string>

namespace codeflare::runtime {

struct StandaloneOptions {
  std::string name;  // of the component, its Lease and its field manager
  // One of several copies works at a time.
  bool leader_election = true;
  std::string health_address = "127.0.0.1:0";
};

// A whole controller process in one call, for main(): the cluster that kubectl would use, or the
// one of --kubeconfig and --context; logs on standard error, an orderly end on SIGINT and SIGTERM.
// `wire` adds the controllers. Returns the exit code: 2 when the command line was wrong.
int run_standalone(int argc, const char* const* argv, const StandaloneOptions& options,
                   const std::function<void(Manager&)>& wire);

}  // namespace codeflare::runtime
