#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace codeflare::json::internal {

// A JSON number taken apart without rounding: 0.DDDD * 10^magnitude, where DDDD are the
// significant digits (neither the first nor the last is zero). Points into the number's text.
struct Decimal {
  bool negative = false;
  bool zero = true;
  // The exponent does not fit in our arithmetic; such numbers equal only their own spelling.
  bool huge_exponent = false;
  std::string_view digits;  // from the first to the last significant digit, may hold the point
  std::int64_t digit_count = 0;
  std::int64_t magnitude = 0;
};

// `text` must be a JSON number.
Decimal decompose(std::string_view text);

bool numbers_equal(std::string_view a, std::string_view b);
std::optional<std::int64_t> integral(std::string_view text);

}  // namespace codeflare::json::internal
