#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/commands.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

#include <functional>
#include <string>

namespace codeflare::cli::internal {

// --timeout SECONDS.
CLI::Option* add_timeout(CLI::App& verb, Duration& timeout, std::string about);

// -n, --kubeconfig, --context, -o and --timeout.
void add_session_flags(CLI::App& verb, SessionFlags& flags);

// Opens a session on this process's streams and runs the verb to its end.
int run_session(const SessionFlags& flags, const std::function<Task<int>(Session&)>& verb);

}  // namespace codeflare::cli::internal
