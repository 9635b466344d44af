#pragma once

#include "base/result.h"
#include "net/http.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The server's side of RFC 6455: the handshake and the framing, without any I/O.
namespace codeflare::net {

enum class WebSocketOpcode : std::uint8_t {
  continuation = 0,
  text = 1,
  binary = 2,
  close = 8,
  ping = 9,
  pong = 10,
};

struct WebSocketMessage {
  WebSocketOpcode opcode = WebSocketOpcode::binary;  // never a continuation
  std::string payload{};

  friend bool operator==(const WebSocketMessage&, const WebSocketMessage&) = default;
};

// Takes messages out of what a client sends, its fragments joined. Control messages come between
// the fragments of others as they arrive.
class WebSocketReader {
 public:
  explicit WebSocketReader(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  void add(std::string_view bytes) { pending_.append(bytes); }
  // Nothing until a message is complete. An error is for good: `too_large`, or invalid_argument
  // when the client breaks the protocol.
  Result<std::optional<WebSocketMessage>> next();

 private:
  struct Head {
    bool final = false;
    WebSocketOpcode opcode = WebSocketOpcode::binary;
    std::size_t size = 0;     // of the head with its mask
    std::size_t payload = 0;  // behind it
  };
  Result<std::optional<Head>> head() const;
  Result<void> check(const Head& head) const;

  std::size_t bytes_max_;
  std::string pending_;
  std::optional<WebSocketMessage> partial_;  // fragments so far
};

// A whole message as a server sends it: one frame, not masked.
std::string websocket_frame(WebSocketOpcode opcode, std::string_view payload);
// What a close message says.
std::string websocket_close_payload(std::uint16_t code, std::string_view reason);

inline constexpr std::uint16_t kWebSocketNormal = 1000;
inline constexpr std::uint16_t kWebSocketGoingAway = 1001;
inline constexpr std::uint16_t kWebSocketProtocolError = 1002;
inline constexpr std::uint16_t kWebSocketTooLarge = 1009;
inline constexpr std::uint16_t kWebSocketInternalError = 1011;

// All words of a header that is a list, over all fields of that name.
std::vector<std::string> header_words(const Headers& headers, std::string_view name);

bool asks_for_websocket(const Headers& headers);
// The protocols that the client offers, in its order; an error when the request is no valid
// handshake.
Result<std::vector<std::string>> websocket_protocols(const Request& request);
// 101 with the proof that the handshake was understood; an empty protocol is none. The request was
// found valid before.
Response websocket_response(const Request& request, std::string_view protocol);
std::string websocket_accept(std::string_view key);

}  // namespace codeflare::net
