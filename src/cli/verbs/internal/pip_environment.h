#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "cli/session/console.h"

#include <string>
#include <string_view>
#include <vector>

// The Python packages of `run --pip FILE`.
namespace codeflare::cli::internal {

// Where the kept environment of these requirements is: below XDG_CACHE_HOME or ~/.cache.
Result<std::string> pip_directory(const Variables& variables, std::string_view requirements);

// A virtual environment of this machine with the packages of the file, made at the first use and
// kept. Returns its directory.
Task<Result<std::string>> kept_environment(Env env, Console& console, std::string file);

// The command with the packages installed before it starts, for pods on other machines. The
// requirements come as a variable of the environment.
struct PipCommand {
  std::vector<std::string> command;
  std::string variable;  // "NAME=VALUE"
};
PipCommand with_packages(const std::vector<std::string>& command, const std::string& requirements);

}  // namespace codeflare::cli::internal
