#include "net/internal/ip_address.h"

#include <algorithm>
#include <charconv>

namespace codeflare::net::internal {

namespace {

// A decimal number without sign or leading zeros, as a part of an address.
std::optional<int> small_number(std::string_view text, int max) {
  int value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool plain =
      !text.empty() && text[0] >= '0' && text[0] <= '9' && (text.size() == 1 || text[0] != '0');
  if (!plain || error != std::errc() || end != text.data() + text.size() || value > max) {
    return std::nullopt;
  }
  return value;
}

bool parse_v4(std::string_view text, std::uint8_t* out) {
  for (int i = 0; i < 4; ++i) {
    std::size_t dot = text.find('.');
    if ((dot == std::string_view::npos) != (i == 3)) {
      return false;
    }
    std::optional<int> part = small_number(text.substr(0, dot), 255);
    if (!part) {
      return false;
    }
    out[i] = static_cast<std::uint8_t>(*part);
    text.remove_prefix(dot == std::string_view::npos ? text.size() : dot + 1);
  }
  return true;
}

// Groups of one side of "::" (or of the whole address); false when malformed.
bool parse_groups(std::string_view text, std::array<std::uint8_t, 16>& out, std::size_t& size) {
  size = 0;
  while (!text.empty()) {
    std::size_t colon = text.find(':');
    std::string_view group = text.substr(0, colon);
    bool last = colon == std::string_view::npos;
    if (last && group.find('.') != std::string_view::npos) {
      if (size > 12 || !parse_v4(group, out.data() + size)) {
        return false;
      }
      size += 4;
      return true;
    }
    unsigned value = 0;
    auto [end, error] = std::from_chars(group.data(), group.data() + group.size(), value, 16);
    if (group.empty() || group.size() > 4 || error != std::errc() ||
        end != group.data() + group.size() || size > 14) {
      return false;
    }
    out[size++] = static_cast<std::uint8_t>(value >> 8);
    out[size++] = static_cast<std::uint8_t>(value & 0xff);
    if (last) {
      return true;
    }
    text.remove_prefix(colon + 1);
    if (text.empty()) {
      return false;  // a single colon at the end
    }
  }
  return true;
}

bool parse_v6(std::string_view text, std::array<std::uint8_t, 16>& out) {
  std::size_t gap = text.find("::");
  std::array<std::uint8_t, 16> front{};
  std::size_t front_size = 0;
  if (gap == std::string_view::npos) {
    bool whole = parse_groups(text, front, front_size) && front_size == 16;
    out = front;
    return whole;
  }
  std::array<std::uint8_t, 16> back{};
  std::size_t back_size = 0;
  std::string_view before = text.substr(0, gap);
  // Dotted form may only end an address.
  if (before.find('.') != std::string_view::npos || !parse_groups(before, front, front_size) ||
      !parse_groups(text.substr(gap + 2), back, back_size) || front_size + back_size > 14) {
    return false;
  }
  out = front;
  std::copy_n(back.begin(), back_size, out.end() - static_cast<std::ptrdiff_t>(back_size));
  return true;
}

}  // namespace

bool IpAddress::is_loopback() const {
  if (v4) {
    return bytes[12] == 127;
  }
  return std::ranges::all_of(bytes.begin(), bytes.end() - 1,
                             [](std::uint8_t b) { return b == 0; }) &&
         bytes[15] == 1;
}

std::optional<IpAddress> parse_ip(std::string_view text) {
  IpAddress address;
  if (text.find(':') == std::string_view::npos) {
    address.bytes[10] = address.bytes[11] = 0xff;
    address.v4 = true;
    return parse_v4(text, address.bytes.data() + 12) ? std::optional(address) : std::nullopt;
  }
  if (!parse_v6(text, address.bytes)) {
    return std::nullopt;
  }
  // ::ffff:a.b.c.d is the IPv4 address.
  address.v4 = std::all_of(address.bytes.begin(), address.bytes.begin() + 10,
                           [](std::uint8_t b) { return b == 0; }) &&
               address.bytes[10] == 0xff && address.bytes[11] == 0xff;
  return address;
}

bool IpBlock::contains(const IpAddress& other) const {
  if (other.v4 != address.v4) {
    return false;
  }
  int bits = prefix + (address.v4 ? 96 : 0);
  for (std::size_t i = 0; i < 16 && bits > 0; ++i, bits -= 8) {
    auto mask = static_cast<std::uint8_t>(bits >= 8 ? 0xff : 0xff << (8 - bits));
    if ((address.bytes[i] & mask) != (other.bytes[i] & mask)) {
      return false;
    }
  }
  return true;
}

std::optional<IpBlock> parse_ip_block(std::string_view text) {
  std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    return std::nullopt;
  }
  std::optional<IpAddress> address = parse_ip(text.substr(0, slash));
  if (!address) {
    return std::nullopt;
  }
  std::optional<int> prefix = small_number(text.substr(slash + 1), address->v4 ? 32 : 128);
  return prefix ? std::optional(IpBlock{*address, *prefix}) : std::nullopt;
}

}  // namespace codeflare::net::internal
