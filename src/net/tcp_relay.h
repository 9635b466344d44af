#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/posix.h"

#include <cstdint>
#include <string>

namespace codeflare::net {

// Brings every connection that comes to a listening socket, wherever that is from, to a host and
// port of this machine's network, and copies bytes both ways; until the task is stopped. The name
// is looked up for each. Connections that cannot be brought there meet a reset. For real loops.
Task<void> relay_connections(Env env, FileDescriptor listener, std::string host,
                             std::uint16_t port);

}  // namespace codeflare::net
