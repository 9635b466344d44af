#include "node/stream/channels.h"

#include "base/base64.h"

#include <initializer_list>
#include <utility>

namespace codeflare::node {

namespace {

constexpr ChannelDialect kV5{.protocol = "v5.channel.k8s.io", .statuses = true, .can_close = true};
constexpr ChannelDialect kV4{.protocol = "v4.channel.k8s.io", .statuses = true};
constexpr ChannelDialect kV4Base64{
    .protocol = "v4.base64.channel.k8s.io", .base64 = true, .statuses = true};
constexpr ChannelDialect kV1{.protocol = "channel.k8s.io"};
constexpr ChannelDialect kV1Base64{.protocol = "base64.channel.k8s.io", .base64 = true};

std::optional<ChannelDialect> choose(const std::vector<std::string>& offered,
                                     std::initializer_list<const ChannelDialect*> served) {
  if (offered.empty()) {
    return ChannelDialect{};
  }
  for (const std::string& protocol : offered) {
    for (const ChannelDialect* one : served) {
      if (one->protocol == protocol) {
        return *one;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<ChannelDialect> command_dialect(const std::vector<std::string>& offered) {
  return choose(offered, {&kV5, &kV4, &kV4Base64, &kV1, &kV1Base64});
}

std::optional<ChannelDialect> port_forward_dialect(const std::vector<std::string>& offered) {
  return choose(offered, {&kV4, &kV4Base64});
}

net::WebSocketMessage write_piece(const ChannelDialect& dialect, std::uint8_t channel,
                                  std::string_view bytes) {
  if (dialect.base64) {
    return {net::WebSocketOpcode::text, static_cast<char>('0' + channel) + to_base64(bytes)};
  }
  std::string payload;
  payload.reserve(bytes.size() + 1);
  payload.push_back(static_cast<char>(channel));
  payload.append(bytes);
  return {net::WebSocketOpcode::binary, std::move(payload)};
}

Result<ChannelPiece> read_piece(const ChannelDialect& dialect,
                                const net::WebSocketMessage& message) {
  const std::string_view payload = message.payload;
  if (payload.empty()) {
    return fail(invalid_argument("a message of no channel"));
  }
  if (!dialect.base64) {
    return ChannelPiece{static_cast<std::uint8_t>(payload[0]), std::string(payload.substr(1))};
  }
  if (payload[0] < '0' || payload[0] > '9') {
    return fail(invalid_argument("a message of no channel"));
  }
  TRY_ASSIGN(std::string bytes, from_base64(payload.substr(1)));
  return ChannelPiece{static_cast<std::uint8_t>(payload[0] - '0'), std::move(bytes)};
}

}  // namespace codeflare::node
