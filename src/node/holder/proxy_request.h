#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace codeflare::node {

// The first request on a connection to an HTTP proxy.
struct ProxyRequest {
  bool tunnel = false;  // CONNECT: bytes both ways from now on
  std::string host{};
  std::uint16_t port = 0;
  // For the server when it is not a tunnel: the head as the server wants it, which ends the
  // connection after one answer, because the next request may be for somebody else.
  std::string head{};
  std::size_t used = 0;  // bytes of the input that were the head
};

inline constexpr std::size_t kProxyHeadBytesMax = 32u << 10;

// Nothing when the head is not complete. Pure.
Result<std::optional<ProxyRequest>> parse_proxy_request(std::string_view bytes);

}  // namespace codeflare::node
