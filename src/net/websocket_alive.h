#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "base/time.h"
#include "net/websocket_connection.h"

#include <optional>

namespace codeflare::net {

// The next message, as WebSocketConnection::read(), with a ping whenever nothing has come for
// `quiet`. A peer that does not answer within another `quiet` is gone: `unavailable`.
Task<Result<std::optional<WebSocketMessage>>> read_while_alive(WebSocketConnection& socket,
                                                               Duration quiet);

}  // namespace codeflare::net
