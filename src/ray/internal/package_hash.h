#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace codeflare::ray::internal {

// SHA-1, which Ray names packages by. Not for secrets.
using Sha1 = std::array<std::uint8_t, 20>;
Sha1 sha1(std::string_view first, std::string_view second = {});
std::string to_hex(const std::uint8_t* bytes, std::size_t count);

// The name of a tree: each of its files counts with path and content, in any order.
class TreeHash {
 public:
  void add(std::string_view path, std::string_view content);
  std::string hex() const { return to_hex(value_.data(), value_.size()); }

 private:
  static constexpr std::size_t kBytes = 8;
  std::array<std::uint8_t, kBytes> value_{'0', '0', '0', '0', '0', '0', '0', '0'};
};

}  // namespace codeflare::ray::internal
