#pragma once

#include "base/result.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace codeflare::node {

// An IPv4 address as a number, the first octet highest.
struct Ipv4 {
  std::uint32_t value = 0;

  static std::optional<Ipv4> parse(std::string_view text);
  std::string to_string() const;
  // "10-244-0-7", as names of pods have it.
  std::string to_dashed() const;
  friend auto operator<=>(const Ipv4&, const Ipv4&) = default;
};

struct Ipv4Block {
  Ipv4 base;
  int prefix = 32;

  // "10.244.0.0/16"; bits behind the prefix must be zero.
  static Result<Ipv4Block> parse(std::string_view text);
  std::string to_string() const;
  std::uint32_t size() const { return prefix == 0 ? ~0u : 1u << (32 - prefix); }
  bool contains(Ipv4 address) const {
    return prefix == 0 || (address.value ^ base.value) >> (32 - prefix) == 0;
  }
  friend bool operator==(const Ipv4Block&, const Ipv4Block&) = default;
};

}  // namespace codeflare::node
