#include "json/text_position.h"

#include <algorithm>
#include <memory>
#include <string>

namespace codeflare::json {

TextPosition position_of(std::string_view text, std::size_t offset) {
  TextPosition position;
  position.offset = std::min(offset, text.size());
  std::string_view before = text.substr(0, position.offset);
  position.line = 1 + static_cast<std::size_t>(std::ranges::count(before, '\n'));
  std::size_t newline = before.rfind('\n');
  position.column = newline == before.npos ? before.size() + 1 : before.size() - newline;
  return position;
}

Error error_at(ErrorCode code, TextPosition position, std::string_view cause) {
  std::string message = "line " + std::to_string(position.line) + ", column " +
                        std::to_string(position.column) + " (byte " +
                        std::to_string(position.offset) + "): " + std::string(cause);
  Error error(code, std::move(message));
  error.detail = std::make_shared<TextPosition>(position);
  return error;
}

}  // namespace codeflare::json
