#include "net/websocket_alive.h"

#include "base/async/sleep.h"
#include "base/human_duration.h"

#include <cstdint>
#include <utility>

namespace codeflare::net {

Task<Result<std::optional<WebSocketMessage>>> read_while_alive(WebSocketConnection& socket,
                                                               Duration quiet) {
  for (bool asked = false;;) {
    const std::uint64_t arrivals = socket.arrivals();
    Result<std::optional<WebSocketMessage>> message =
        co_await with_timeout(quiet, "message", socket.read());
    if (message || message.error().code != ErrorCode::deadline_exceeded) {
      co_return message;
    }
    const bool silent = socket.arrivals() == arrivals;
    if (silent && asked) {
      co_return fail(unavailable("the peer did not answer a ping within " + human_duration(quiet)));
    }
    asked = silent;
    CO_TRY(co_await socket.write(WebSocketOpcode::ping, {}));
  }
}

}  // namespace codeflare::net
