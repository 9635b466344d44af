#pragma once

#include "base/result.h"
#include "net/websocket.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Several streams in one WebSocket as Kubernetes has them: the first byte of a message says which
// one it belongs to.
namespace codeflare::node {

// How a subprotocol writes messages.
struct ChannelDialect {
  std::string_view protocol{};  // as agreed on; empty: none
  bool base64 = false;          // text messages: a digit for the channel, then base64
  bool statuses = false;        // v4 and later: the end is sent as a Status, not as plain text
  bool can_close = false;       // v5: channel 255 ends another one
};

// The first of the client's protocols that is served; none offered is the oldest one. Nothing when
// the client wants something else.
std::optional<ChannelDialect> command_dialect(const std::vector<std::string>& offered);
std::optional<ChannelDialect> port_forward_dialect(const std::vector<std::string>& offered);

struct ChannelPiece {
  std::uint8_t channel = 0;
  std::string bytes{};
};

inline constexpr std::uint8_t kCloseChannel = 255;

net::WebSocketMessage write_piece(const ChannelDialect& dialect, std::uint8_t channel,
                                  std::string_view bytes);
// Fails when the message is none of the dialect.
Result<ChannelPiece> read_piece(const ChannelDialect& dialect,
                                const net::WebSocketMessage& message);

}  // namespace codeflare::node
