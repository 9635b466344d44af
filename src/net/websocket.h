#pragma once

#include "base/env/random.h"
#include "base/result.h"
#include "net/http.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// RFC 6455 without any I/O: the handshake and the framing, of both sides.
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

// Which end of a connection this is: a client masks its frames, a server does not.
enum class WebSocketSide : std::uint8_t { server, client };

// Takes messages out of what the other side sends, its fragments joined. Control messages come
// between the fragments of others as they arrive.
class WebSocketReader {
 public:
  explicit WebSocketReader(std::size_t bytes_max, WebSocketSide side = WebSocketSide::server)
      : bytes_max_(bytes_max), side_(side) {}

  void add(std::string_view bytes) { pending_.append(bytes); }
  // Nothing until a message is complete. An error is for good: `too_large`, or invalid_argument
  // when the other side breaks the protocol.
  Result<std::optional<WebSocketMessage>> next();

 private:
  struct Head {
    bool final = false;
    WebSocketOpcode opcode = WebSocketOpcode::binary;
    std::size_t size = 0;  // of the head with its mask, if it has one
    bool masked = false;
    std::size_t payload = 0;  // behind it
  };
  Result<std::optional<Head>> head() const;
  Result<void> check(const Head& head) const;

  std::size_t bytes_max_;
  WebSocketSide side_;
  std::string pending_;
  std::optional<WebSocketMessage> partial_;  // fragments so far
};

// A whole message as a server sends it: one frame, not masked.
std::string websocket_frame(WebSocketOpcode opcode, std::string_view payload);
// A whole message as a client sends it: one frame, masked. The mask must not be predictable, or a
// page in a browser could write bytes of its choice to a server that does not expect WebSocket.
std::string websocket_masked_frame(WebSocketOpcode opcode, std::string_view payload,
                                   std::uint32_t mask);

struct WebSocketClose {
  std::uint16_t code = 0;
  std::string reason{};

  friend bool operator==(const WebSocketClose&, const WebSocketClose&) = default;
};
// The payload of a close message.
std::string websocket_close_payload(std::uint16_t code, std::string_view reason);
// The reverse: kWebSocketNoStatus for an empty payload, invalid_argument for half a code or one
// that must not be sent.
Result<WebSocketClose> parse_websocket_close(std::string_view payload);

inline constexpr std::uint16_t kWebSocketNormal = 1000;
inline constexpr std::uint16_t kWebSocketGoingAway = 1001;
inline constexpr std::uint16_t kWebSocketProtocolError = 1002;
inline constexpr std::uint16_t kWebSocketNoStatus = 1005;  // never sent
inline constexpr std::uint16_t kWebSocketAbnormal = 1006;  // never sent: no close message came
inline constexpr std::uint16_t kWebSocketTooLarge = 1009;
inline constexpr std::uint16_t kWebSocketInternalError = 1011;

// All words of a header that is a list, over all fields of that name.
std::vector<std::string> header_words(const Headers& headers, std::string_view name);

bool asks_for_websocket(const Headers& headers);
// The protocols that the client offers, in its order; an error when the request is not a valid
// handshake.
Result<std::vector<std::string>> websocket_protocols(const Request& request);
// 101 with the proof that the handshake was understood; an empty protocol is none. The request was
// found valid before.
Response websocket_response(const Request& request, std::string_view protocol);
std::string websocket_accept(std::string_view key);

// The client's side of the handshake. A key is 16 random bytes in base64.
std::string websocket_key(Random& random);
// Adds to the request what makes it a handshake; no protocols are none.
void add_websocket_handshake(Request& request, std::string_view key,
                             const std::vector<std::string>& protocols);
// The protocol that a response with status 101 chose among the offered, empty for none. `internal`
// when the response does not answer that key.
Result<std::string> websocket_chosen_protocol(const Response& response, std::string_view key,
                                              const std::vector<std::string>& offered);

}  // namespace codeflare::net
