#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"

#include <cstdint>
#include <string>

namespace codeflare::net {

// Whether somebody accepts connections there: connects and closes. The deadline is the caller's.
// For real loops.
Task<Result<void>> tcp_connect(Env env, std::string host, std::uint16_t port);

}  // namespace codeflare::net
