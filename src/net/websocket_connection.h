#pragma once

#include "base/async/task.h"
#include "base/env/random.h"
#include "base/result.h"
#include "net/byte_stream.h"
#include "net/serial_writer.h"
#include "net/websocket.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::net {

// A WebSocket over a connection that has left HTTP behind: answers pings, keeps messages whole.
// One reader, any number of writers. The transport outlives it.
class WebSocketConnection {
 public:
  static constexpr std::size_t kMessageBytesMax = 16u << 20;

  // The server's side.
  explicit WebSocketConnection(ByteStream& transport,
                               std::size_t message_bytes_max = kMessageBytesMax)
      : transport_(transport), reader_(message_bytes_max), writer_(transport) {}
  // The client's side; masks come from `random`, which outlives it.
  WebSocketConnection(ByteStream& transport, Random& random,
                      std::size_t message_bytes_max = kMessageBytesMax)
      : transport_(transport),
        random_(&random),
        reader_(message_bytes_max, WebSocketSide::client),
        writer_(transport) {}

  // The next text or binary message; nothing when the other side is done or gone. A wait that was
  // given up has lost nothing.
  Task<Result<std::optional<WebSocketMessage>>> read();
  Task<Result<void>> write(WebSocketOpcode opcode, std::string payload);
  // Says goodbye; nothing can be written afterwards. Fine when it was said before.
  Task<void> close(std::uint16_t code, std::string reason);

  // How the other side said goodbye; kWebSocketAbnormal when it was gone without a word, or is
  // still there.
  const WebSocketClose& peer_close() const { return peer_close_; }
  // How often bytes have arrived: whoever sends a ping sees whether anything came since.
  std::uint64_t arrivals() const { return arrivals_; }

 private:
  Task<Result<void>> answer_close(std::string payload);

  ByteStream& transport_;
  Random* random_ = nullptr;  // null: a server, which does not mask
  WebSocketReader reader_;
  SerialWriter writer_;
  bool closed_ = false;
  WebSocketClose peer_close_{.code = kWebSocketAbnormal};
  std::uint64_t arrivals_ = 0;
};

// The outcome of a request for a WebSocket.
struct WebSocketAnswer {
  // With status 101 it is for converse(); any other is the server's rejection, as it came.
  Response response;
  std::string protocol{};  // that the server chose; empty: none

  bool open() const { return response.status == 101; }
};
// Asks for a WebSocket, offering the protocols, and checks the answer.
//   CO_TRY_ASSIGN(WebSocketAnswer answer, co_await ask_for_websocket(service, request, {},
//   random)); if (answer.open()) co_await converse(std::move(answer.response), talk);
Task<Result<WebSocketAnswer>> ask_for_websocket(HttpService& service, Request request,
                                                std::vector<std::string> protocols, Random& random);

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
