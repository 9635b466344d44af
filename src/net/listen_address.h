#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>

namespace codeflare::net {

struct ListenAddress {
  std::string host;
  std::uint16_t port = 0;

  // "127.0.0.1:6443", "[::1]:6443"
  std::string text() const { return text(port); }
  std::string text(std::uint16_t with_port) const;
};

// "127.0.0.1:6443", "[::1]:0"; the error names the flag.
Result<ListenAddress> parse_listen(const std::string& flag, const std::string& text);

}  // namespace codeflare::net
