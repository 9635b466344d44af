#pragma once

#include "net/byte_stream.h"
#include "net/websocket.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace codeflare::net::testing {

// A frame as clients send it, masked. For tests only.
inline std::string masked_frame(WebSocketOpcode opcode, std::string_view payload,
                                bool final = true) {
  std::string out = websocket_masked_frame(opcode, payload, 0x11223344);
  if (!final) {
    out[0] = static_cast<char>(out[0] & 0x7f);
  }
  return out;
}

// The other side of a WebSocket: reads whole messages of a server.
class WebSocketClient {
 public:
  explicit WebSocketClient(ByteStream& stream) : stream_(stream) {}

  Task<Result<void>> send(WebSocketOpcode opcode, std::string payload) {
    std::string bytes = masked_frame(opcode, payload);
    co_return co_await stream_.write(std::move(bytes));
  }

  // Nothing at the end of the connection.
  Task<Result<std::optional<WebSocketMessage>>> receive() {
    for (;;) {
      if (std::optional<WebSocketMessage> message = take()) {
        co_return message;
      }
      CO_TRY_ASSIGN(const std::string bytes, co_await stream_.read());
      if (bytes.empty()) {
        co_return std::nullopt;
      }
      pending_ += bytes;
    }
  }

 private:
  std::size_t number(std::size_t at, std::size_t size) const {
    std::size_t value = 0;
    for (char c : pending_.substr(at, size)) {
      value = value << 8 | static_cast<std::uint8_t>(c);
    }
    return value;
  }

  std::optional<WebSocketMessage> take() {
    if (pending_.size() < 2) {
      return std::nullopt;
    }
    const std::size_t length = number(1, 1) & 0x7f;
    const std::size_t more = length == 127 ? 8 : length == 126 ? 2 : 0;
    const std::size_t size = more == 0 ? length : number(2, more);
    if (pending_.size() < 2 + more + size) {
      return std::nullopt;
    }
    WebSocketMessage message{static_cast<WebSocketOpcode>(number(0, 1) & 0x0f),
                             pending_.substr(2 + more, size)};
    pending_.erase(0, 2 + more + size);
    return message;
  }

  ByteStream& stream_;
  std::string pending_;
};

}  // namespace codeflare::net::testing
