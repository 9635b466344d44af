#pragma once

#include "base/error.h"

#include <cstddef>
#include <string_view>

namespace codeflare::json {

// Where a text is wrong; parse errors carry it as their detail. Lines and columns count from 1,
// columns in bytes, the offset from 0.
struct TextPosition : ErrorDetail {
  std::size_t line = 1;
  std::size_t column = 1;
  std::size_t offset = 0;
};

TextPosition position_of(std::string_view text, std::size_t offset);

// "line 3, column 7 (byte 52): cause", with the position as detail.
Error error_at(ErrorCode code, TextPosition position, std::string_view cause);

}  // namespace codeflare::json
