#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "base/time.h"

#include <chrono>
#include <string>

// How the agent runs the commands that start keepers and the holder (system/daemon.h).
namespace codeflare::node {

inline constexpr Duration kDaemonStartWithin = std::chrono::seconds(30);

// One line for people out of what a command printed.
std::string first_line(const std::string& error_output);

struct DaemonProbe {
  std::string program;    // codeflare
  std::string name;       // of its command: "pod-keeper"
  std::string directory;  // made for the probe and removed after it
  std::string what;       // for the error when it takes too long
};
// Whether the system allows what the daemon needs: `unsupported` and why when it does not. Any
// other error is a failure of the moment.
Task<Result<void>> probe_daemon(Env env, DaemonProbe probe);

}  // namespace codeflare::node
