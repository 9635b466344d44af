#include "base/base64.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace codeflare {

namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kInvalid = 64;

constexpr std::array<std::uint8_t, 256> make_digits() {
  std::array<std::uint8_t, 256> digits{};
  digits.fill(kInvalid);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    digits[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return digits;
}
constexpr std::array<std::uint8_t, 256> kDigits = make_digits();

char byte_of(std::uint32_t bits, int shift) {
  return static_cast<char>((bits >> shift) & 0xff);
}

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::string_view group = bytes.substr(i, 3);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      bits = bits << 8 | (k < group.size() ? static_cast<unsigned char>(group[k]) : 0u);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out.push_back(k <= group.size() ? kAlphabet[bits >> (18 - 6 * k) & 63] : '=');
    }
  }
  return out;
}

Result<std::string> from_base64(std::string_view text) {
  std::string out;
  out.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  int digits = 0;   // in the current group of four
  int padding = 0;  // likewise
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '\n' || c == '\r') {
      continue;
    }
    std::uint8_t digit = kDigits[static_cast<unsigned char>(c)];
    bool ended = padding > 0 && digits + padding == 4;
    bool pads = c == '=' && digits >= 2;
    if (ended || (digit == kInvalid && !pads) || (digit != kInvalid && padding > 0)) {
      return fail(invalid_argument("invalid base64 at byte " + std::to_string(i)));
    }
    if (pads) {
      ++padding;
      continue;
    }
    bits = bits << 6 | digit;
    if (++digits == 4) {
      out.append({byte_of(bits, 16), byte_of(bits, 8), byte_of(bits, 0)});
      digits = 0;
      bits = 0;
    }
  }
  if (digits != 0 && digits + padding != 4) {
    return fail(invalid_argument("invalid base64: ends after " + std::to_string(text.size()) +
                                 " bytes inside a group of four"));
  }
  if (digits >= 2) {
    out.push_back(byte_of(bits << (24 - 6 * digits), 16));
  }
  if (digits == 3) {
    out.push_back(byte_of(bits << 6, 8));
  }
  return out;
}

}  // namespace codeflare
