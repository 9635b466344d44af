#include "json/internal/base64.h"

#include <cstdint>

namespace codeflare::json::internal {

namespace {

int sextet(char c) {
  if (c >= 'A' && c <= 'Z') {
    return c - 'A';
  }
  if (c >= 'a' && c <= 'z') {
    return c - 'a' + 26;
  }
  if (c >= '0' && c <= '9') {
    return c - '0' + 52;
  }
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

}  // namespace

std::optional<std::string> decode_base64(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;  // of characters in the current group of four
  int padding = 0;
  for (char c : text) {
    if (c == '\n' || c == '\r') {
      continue;
    }
    if (c == '=') {
      ++padding;
      continue;
    }
    int value = sextet(c);
    if (value < 0 || padding > 0) {
      return std::nullopt;
    }
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    if (++count == 4) {
      for (int shift : {16, 8, 0}) {
        out += static_cast<char>(bits >> shift & 0xff);
      }
      count = 0;
      bits = 0;
    }
  }
  if (count == 1 || padding != (4 - count) % 4) {
    return std::nullopt;
  }
  if (count >= 2) {
    bits <<= 6 * (4 - count);
    out += static_cast<char>(bits >> 16 & 0xff);
    if (count == 3) {
      out += static_cast<char>(bits >> 8 & 0xff);
    }
  }
  return out;
}

}  // namespace codeflare::json::internal
