#include "net/websocket_connection.h"

#include <utility>

namespace codeflare::net {

Task<Result<std::optional<WebSocketMessage>>> WebSocketConnection::read() {
  for (;;) {
    Result<std::optional<WebSocketMessage>> next = reader_.next();
    if (!next) {
      const std::uint16_t code =
          next.error().code == ErrorCode::too_large ? kWebSocketTooLarge : kWebSocketProtocolError;
      co_await close(code, next.error().message);
      co_return fail(std::move(next).error());
    }
    if (!*next) {
      CO_TRY_ASSIGN(const std::string bytes, co_await transport_.read());
      if (bytes.empty()) {
        co_return std::nullopt;
      }
      reader_.add(bytes);
      continue;
    }
    WebSocketMessage& message = **next;
    if (message.opcode == WebSocketOpcode::close) {
      co_await close(kWebSocketNormal, {});
      co_return std::nullopt;
    }
    if (message.opcode == WebSocketOpcode::ping) {
      CO_TRY(co_await write(WebSocketOpcode::pong, std::move(message.payload)));
    } else if (message.opcode != WebSocketOpcode::pong) {
      co_return next;
    }
  }
}

Task<Result<void>> WebSocketConnection::write(WebSocketOpcode opcode, std::string payload) {
  std::string bytes = websocket_frame(opcode, payload);
  co_return co_await writer_.write(std::move(bytes));
}

Task<void> WebSocketConnection::close(std::uint16_t code, std::string reason) {
  if (std::exchange(closed_, true)) {
    co_return;
  }
  std::string payload = websocket_close_payload(code, reason);
  static_cast<void>(co_await write(WebSocketOpcode::close, std::move(payload)));
  writer_.close();
}

Task<Result<std::string>> WebSocketTunnel::read() {
  for (;;) {
    CO_TRY_ASSIGN(std::optional<WebSocketMessage> message, co_await connection_.read());
    if (!message) {
      co_return std::string();
    }
    if (message->opcode != WebSocketOpcode::binary) {
      co_return fail(invalid_argument("a text message in a tunnel of bytes"));
    }
    if (!message->payload.empty()) {
      co_return std::move(message->payload);
    }
  }
}

Task<Result<void>> WebSocketTunnel::write(std::string bytes) {
  co_return co_await connection_.write(WebSocketOpcode::binary, std::move(bytes));
}

}  // namespace codeflare::net
