#pragma once

#include "base/async/task.h"
#include "net/internal/real_socket.h"

#include <cstddef>
#include <functional>

namespace codeflare::net::internal {

// Accepts connections until the task is stopped and runs `serve` for each; the newest beyond
// `connections_max` meet a reset. Every `serve` has ended when this returns.
Task<void> accept_all(Loop& loop, Socket& listener, std::size_t connections_max,
                      std::function<Task<void>(Socket client)> serve);

}  // namespace codeflare::net::internal
