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
      ++arrivals_;
      reader_.add(bytes);
      continue;
    }
    WebSocketMessage& message = **next;
    if (message.opcode == WebSocketOpcode::close) {
      CO_TRY(co_await answer_close(std::move(message.payload)));
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
  std::string bytes =
      random_ == nullptr
          ? websocket_frame(opcode, payload)
          : websocket_masked_frame(opcode, payload, static_cast<std::uint32_t>(random_->next()));
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

// With the code that the other side gave.
Task<Result<void>> WebSocketConnection::answer_close(std::string payload) {
  Result<WebSocketClose> said = parse_websocket_close(payload);
  if (!said) {
    co_await close(kWebSocketProtocolError, said.error().message);
    co_return fail(std::move(said).error());
  }
  peer_close_ = *std::move(said);
  co_await close(peer_close_.code == kWebSocketNoStatus ? kWebSocketNormal : peer_close_.code, {});
  co_return Result<void>();
}

Task<Result<WebSocketAnswer>> ask_for_websocket(HttpService& service, Request request,
                                                std::vector<std::string> protocols,
                                                Random& random) {
  const std::string key = websocket_key(random);
  add_websocket_handshake(request, key, protocols);
  CO_TRY_ASSIGN(Response response, co_await service.send(std::move(request)));
  WebSocketAnswer answer{.response = std::move(response)};
  if (answer.open()) {
    CO_TRY_ASSIGN(answer.protocol, websocket_chosen_protocol(answer.response, key, protocols));
  }
  co_return answer;
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
