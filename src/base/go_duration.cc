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
  std::uint64_t nanoseconds;
};

constexpr std::array<Unit, 8> kUnits = {{{"ns", 1},
                                         {"us", 1'000},
                                         {"\u00b5s", 1'000},
                                         {"\u03bcs", 1'000},
                                         {"ms", 1'000'000},
                                         {"s", 1'000'000'000},
                                         {"m", 60'000'000'000},
                                         {"h", 3'600'000'000'000}}};

// Wide enough for the nanoseconds of an hour times all digits that are looked at.
__extension__ using Wide = unsigned __int128;

// Digits behind the dot beyond these are worth less than a nanosecond of any unit.
constexpr std::size_t kFractionDigitsMax = 18;

std::string_view take_digits(std::string_view& text) {
  const std::size_t length = std::min(text.find_first_not_of("0123456789"), text.size());
  std::string_view digits = text.substr(0, length);
  text.remove_prefix(length);
  return digits;
}

std::optional<std::uint64_t> unit_of(std::string_view name) {
  for (const Unit& unit : kUnits) {
    if (unit.name == name) {
      return unit.nanoseconds;
    }
  }
  return std::nullopt;
}

// Of that many units, in nanoseconds, rounded down: a whole number is exact, as it is in Go.
std::optional<Wide> amount_of(std::string_view whole, std::string_view fraction,
                              std::uint64_t unit) {
  std::uint64_t count = 0;
  if (!whole.empty() &&
      std::from_chars(whole.data(), whole.data() + whole.size(), count).ec != std::errc()) {
    return std::nullopt;  // too large
  }
  Wide part = 0;
  Wide scale = 1;
  for (char digit : fraction.substr(0, kFractionDigitsMax)) {
    part = part * 10 + static_cast<Wide>(digit - '0');
    scale *= 10;
  }
  return static_cast<Wide>(count) * unit + part * unit / scale;
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
  constexpr Wide kMax = std::numeric_limits<std::int64_t>::max();
  Wide total = 0;
  while (!text.empty()) {
    const std::string_view whole = take_digits(text);
    std::string_view fraction;
    if (text.starts_with('.')) {
      text.remove_prefix(1);
      fraction = take_digits(text);
    }
    const std::size_t length = std::min(text.find_first_of("0123456789."), text.size());
    const std::optional<std::uint64_t> unit = unit_of(text.substr(0, length));
    text.remove_prefix(length);
    if (!unit || (whole.empty() && fraction.empty())) {
      return std::nullopt;
    }
    const std::optional<Wide> amount = amount_of(whole, fraction, *unit);
    // There is one more negative number than there are positive ones.
    if (!amount || *amount > kMax + 1 || total + *amount > kMax + (negative ? 1 : 0)) {
      return std::nullopt;
    }
    total += *amount;
  }
  const auto nanoseconds = static_cast<std::uint64_t>(total);
  return Duration(static_cast<std::int64_t>(negative ? 0 - nanoseconds : nanoseconds));
}

}  // namespace codeflare
