#include "base/go_duration.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>

namespace codeflare {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t nanoseconds;
};

constexpr std::array<Unit, 8> kUnits = {{{"ns", 1},
                                         {"us", 1'000},
                                         {"\u00b5s", 1'000},
                                         {"\u03bcs", 1'000},
                                         {"ms", 1'000'000},
                                         {"s", 1'000'000'000},
                                         {"m", 60'000'000'000},
                                         {"h", 3'600'000'000'000}}};

std::string_view take_digits(std::string_view& text, bool dot) {
  std::size_t length = 0;
  while (length < text.size() &&
         ((text[length] >= '0' && text[length] <= '9') || (dot && text[length] == '.'))) {
    ++length;
  }
  std::string_view digits = text.substr(0, length);
  text.remove_prefix(length);
  return digits;
}

std::optional<std::int64_t> unit_of(std::string_view name) {
  for (const Unit& unit : kUnits) {
    if (unit.name == name) {
      return unit.nanoseconds;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Duration> go_duration(std::string_view text) {
  bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) {
    text.remove_prefix(1);
  }
  if (text == "0") {
    return Duration(0);
  }
  if (text.empty()) {
    return std::nullopt;
  }
  long double total = 0;
  while (!text.empty()) {
    std::string_view digits = take_digits(text, true);
    double amount = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), amount);
    bool number = error == std::errc() && end == digits.data() + digits.size();
    std::size_t length = text.find_first_of("0123456789.");
    std::optional<std::int64_t> unit = unit_of(text.substr(0, length));
    if (!number || !unit) {
      return std::nullopt;
    }
    text.remove_prefix(std::min(length, text.size()));
    total += static_cast<long double>(amount) * static_cast<long double>(*unit);
  }
  if (total > static_cast<long double>(std::numeric_limits<std::int64_t>::max())) {
    return std::nullopt;
  }
  auto nanoseconds = static_cast<std::int64_t>(total);
  return Duration(negative ? -nanoseconds : nanoseconds);
}

}  // namespace codeflare
