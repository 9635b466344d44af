#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "net/byte_stream.h"
#include "net/serial_writer.h"
#include "net/websocket.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace codeflare::net {

// A WebSocket over a connection that was taken over: answers pings, keeps messages whole. One
// reader, any number of writers. The transport outlives it.
class WebSocketConnection {
 public:
  static constexpr std::size_t kMessageBytesMax = 16u << 20;

  explicit WebSocketConnection(ByteStream& transport,
                               std::size_t message_bytes_max = kMessageBytesMax)
      : transport_(transport), reader_(message_bytes_max), writer_(transport) {}

  // The next text or binary message; nothing when the client is done or gone.
  Task<Result<std::optional<WebSocketMessage>>> read();
  Task<Result<void>> write(WebSocketOpcode opcode, std::string payload);
  // Says goodbye; nothing can be written afterwards. Fine when it was said before.
  Task<void> close(std::uint16_t code, std::string reason);

 private:
  ByteStream& transport_;
  WebSocketReader reader_;
  SerialWriter writer_;
  bool closed_ = false;
};

// The binary messages of a WebSocket as one stream of bytes.
class WebSocketTunnel final : public ByteStream {
 public:
  explicit WebSocketTunnel(WebSocketConnection& connection) : connection_(connection) {}

  Task<Result<std::string>> read() override;
  Task<Result<void>> write(std::string bytes) override;

 private:
  WebSocketConnection& connection_;
};

}  // namespace codeflare::net
