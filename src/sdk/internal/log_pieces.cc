#include "sdk/internal/log_pieces.h"

#include <algorithm>
#include <cstddef>

namespace codeflare::sdk::internal {

namespace {

// Bytes of `text` before a character that has only begun.
std::size_t whole_characters(std::string_view text) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0U) == 0x80U) {
      continue;  // within a character
    }
    const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    return length > back ? text.size() - back : text.size();
  }
  return text.size();
}

}  // namespace

void LogPieces::add(std::string_view text) {
  rest_ += text;
  give(whole_characters(rest_));
}

void LogPieces::finish() {
  give(rest_.size());
}

void LogPieces::give(std::size_t bytes) {
  if (bytes > 0) {
    sink_(std::string_view(rest_).substr(0, bytes));
    rest_.erase(0, bytes);
  }
}

}  // namespace codeflare::sdk::internal
