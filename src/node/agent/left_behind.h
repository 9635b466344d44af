#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/log.h"
#include "base/result.h"

#include <cstddef>
#include <string>

namespace codeflare::node {

// Ends what a node has left whose program was killed: its pods, with their grace, and then their
// network. The node's directory must be nobody else's meanwhile. Says how many pods there were; an
// error names those that did not end, and their network stays.
Task<Result<std::size_t>> end_left_behind(Env env, std::string directory, Logger logger);

}  // namespace codeflare::node
