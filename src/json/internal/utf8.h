#pragma once

#include <cstddef>
#include <string_view>

namespace codeflare::json::internal {

// The length of the well-formed UTF-8 sequence that `text` starts with, 0 when there is none
// (overlong forms, surrogates and values above U+10FFFF are not well-formed).
inline std::size_t utf8_length(std::string_view text) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  auto continues = [&](std::size_t i) { return (byte(i) & 0xc0) == 0x80; };
  if (text.empty()) {
    return 0;
  }
  unsigned char lead = byte(0);
  if (lead < 0x80) {
    return 1;
  }
  if (lead >= 0xc2 && lead <= 0xdf) {
    return text.size() >= 2 && continues(1) ? 2 : 0;
  }
  if (lead >= 0xe0 && lead <= 0xef) {
    if (text.size() < 3 || !continues(1) || !continues(2)) {
      return 0;
    }
    bool overlong = lead == 0xe0 && byte(1) < 0xa0;
    bool surrogate = lead == 0xed && byte(1) >= 0xa0;
    return overlong || surrogate ? 0 : 3;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    if (text.size() < 4 || !continues(1) || !continues(2) || !continues(3)) {
      return 0;
    }
    bool overlong = lead == 0xf0 && byte(1) < 0x90;
    bool too_large = lead == 0xf4 && byte(1) >= 0x90;
    return overlong || too_large ? 0 : 4;
  }
  return 0;
}

}  // namespace codeflare::json::internal
