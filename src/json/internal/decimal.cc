#include "json/internal/decimal.h"

#include <charconv>
#include <cstddef>
#include <limits>

namespace codeflare::json::internal {

namespace {

// Leaves room to add the number of digits of any text without overflow.
constexpr std::int64_t kExponentMax = 1'000'000'000'000'000;

void read_exponent(std::string_view text, Decimal& decimal) {
  bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) {
    text.remove_prefix(1);
  }
  std::int64_t exponent = 0;
  for (char c : text) {
    exponent = exponent * 10 + (c - '0');
    if (exponent > kExponentMax) {
      decimal.huge_exponent = true;
      return;
    }
  }
  decimal.magnitude += negative ? -exponent : exponent;
}

}  // namespace

Decimal decompose(std::string_view text) {
  Decimal decimal;
  decimal.negative = text.starts_with('-');
  if (decimal.negative) {
    text.remove_prefix(1);
  }
  std::string_view mantissa = text.substr(0, text.find_first_of("eE"));
  std::size_t first = mantissa.find_first_of("123456789");
  if (first == std::string_view::npos) {
    decimal.negative = false;
    return decimal;
  }
  decimal.zero = false;
  std::size_t last = mantissa.find_last_of("123456789");
  std::size_t point = mantissa.find('.');
  if (point == std::string_view::npos) {
    point = mantissa.size();
  }
  decimal.digits = mantissa.substr(first, last - first + 1);
  bool holds_point = first < point && point < last;
  decimal.digit_count = static_cast<std::int64_t>(decimal.digits.size()) - (holds_point ? 1 : 0);
  // Digits before the point count up, zeros between the point and the first digit count down.
  decimal.magnitude =
      static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first) + (first > point ? 1 : 0);
  if (mantissa.size() < text.size()) {
    read_exponent(text.substr(mantissa.size() + 1), decimal);
  }
  return decimal;
}

bool numbers_equal(std::string_view text_a, std::string_view text_b) {
  if (text_a == text_b) {
    return true;
  }
  Decimal a = decompose(text_a);
  Decimal b = decompose(text_b);
  if (a.zero || b.zero) {
    return a.zero && b.zero;
  }
  if (a.huge_exponent || b.huge_exponent || a.negative != b.negative ||
      a.magnitude != b.magnitude || a.digit_count != b.digit_count) {
    return false;
  }
  std::size_t at_b = 0;
  for (char c : a.digits) {
    if (c == '.') {
      continue;
    }
    at_b += b.digits[at_b] == '.' ? 1 : 0;
    if (c != b.digits[at_b++]) {
      return false;
    }
  }
  return true;
}

std::optional<std::int64_t> integral(std::string_view text) {
  std::int64_t plain = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), plain);
  if (error == std::errc() && end == text.data() + text.size()) {
    return plain;
  }
  Decimal decimal = decompose(text);
  if (decimal.zero) {
    return 0;
  }
  constexpr std::int64_t kDigitsMax = std::numeric_limits<std::int64_t>::digits10 + 1;
  if (decimal.huge_exponent || decimal.magnitude > kDigitsMax ||
      decimal.digit_count > decimal.magnitude) {
    return std::nullopt;
  }
  // At most 19 digits: fits an unsigned 64-bit number.
  std::uint64_t value = 0;
  for (char c : decimal.digits) {
    if (c != '.') {
      value = value * 10 + static_cast<std::uint64_t>(c - '0');
    }
  }
  for (std::int64_t i = decimal.digit_count; i < decimal.magnitude; ++i) {
    value *= 10;
  }
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  if (value > kMax + (decimal.negative ? 1 : 0)) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(decimal.negative ? ~value + 1 : value);
}

}  // namespace codeflare::json::internal
