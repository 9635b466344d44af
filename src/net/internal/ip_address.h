#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace codeflare::net::internal {

// An IPv4 or IPv6 address; IPv4 in its IPv6 form, so that both compare.
struct IpAddress {
  std::array<std::uint8_t, 16> bytes{};
  bool v4 = false;

  bool is_loopback() const;
  friend bool operator==(const IpAddress&, const IpAddress&) = default;
};

std::optional<IpAddress> parse_ip(std::string_view text);

// "10.0.0.0/8", "fd00::/8".
struct IpBlock {
  IpAddress address;
  int prefix = 0;  // in bits of the address's own kind

  bool contains(const IpAddress& other) const;
};

std::optional<IpBlock> parse_ip_block(std::string_view text);

}  // namespace codeflare::net::internal
