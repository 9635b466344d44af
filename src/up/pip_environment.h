#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"

#include <string>
#include <vector>

namespace codeflare::up {

struct PipEnvironment {
  std::vector<std::string> requirements;  // of pip: "ray[default]==2.60.0"
  std::string python = "python3";         // that makes it
};

// A Python virtual environment with these packages, in a directory of its own below `directory`
// whose name depends on the requirements: the same requirements are installed once. A run that was
// interrupted starts anew. The progress of pip goes to standard error.
Task<Result<std::string>> make_pip_environment(Env env, std::string directory,
                                               PipEnvironment wanted);

}  // namespace codeflare::up
