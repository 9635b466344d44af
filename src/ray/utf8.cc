#include "ray/utf8.h"

namespace codeflare::ray {

namespace {

struct Lead {
  std::size_t size;   // of the sequence
  char32_t bits;      // of the first byte
  char32_t smallest;  // that needs a sequence of this size
};

std::optional<Lead> lead_of(std::uint8_t byte) {
  if (byte < 0x80) {
    return Lead{1, byte, 0};
  }
  if ((byte & 0xe0) == 0xc0) {
    return Lead{2, byte & 0x1fu, 0x80};
  }
  if ((byte & 0xf0) == 0xe0) {
    return Lead{3, byte & 0x0fu, 0x800};
  }
  if ((byte & 0xf8) == 0xf0) {
    return Lead{4, byte & 0x07u, 0x10000};
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::u32string> from_utf8(std::string_view text) {
  std::u32string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::optional<Lead> lead = lead_of(static_cast<std::uint8_t>(text.front()));
    if (!lead || text.size() < lead->size) {
      return std::nullopt;
    }
    char32_t character = lead->bits;
    for (char c : text.substr(1, lead->size - 1)) {
      const auto byte = static_cast<std::uint8_t>(c);
      if ((byte & 0xc0) != 0x80) {
        return std::nullopt;
      }
      character = character << 6 | (byte & 0x3fu);
    }
    const bool surrogate = character >= 0xd800 && character <= 0xdfff;
    if (character < lead->smallest || character > 0x10ffff || surrogate) {
      return std::nullopt;
    }
    out.push_back(character);
    text.remove_prefix(lead->size);
  }
  return out;
}

}  // namespace codeflare::ray
