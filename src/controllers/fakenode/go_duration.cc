#include "controllers/fakenode/go_duration.h"

#include <array>
#include <cstdint>
#include <string>
#include <utility>

namespace codeflare::controllers::fakenode {

namespace {

constexpr std::int64_t kDigitsMax = 1'000'000'000'000'000;

struct Unit {
  std::string_view name;
  std::int64_t nanoseconds;
};

// Longer names first where one begins another.
constexpr std::array kUnits = {
    Unit{"ns", 1},
    Unit{"us", 1'000},
    Unit{"µs", 1'000},
    Unit{"ms", 1'000'000},
    Unit{"s", 1'000'000'000},
    Unit{"m", 60'000'000'000},
    Unit{"h", 3'600'000'000'000},
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

const Unit* take_unit(std::string_view& text) {
  for (const Unit& unit : kUnits) {
    // "m" is not the beginning of "ms".
    if (text.starts_with(unit.name) &&
        (text.size() == unit.name.size() || is_digit(text[unit.name.size()]) ||
         text[unit.name.size()] == '.')) {
      text.remove_prefix(unit.name.size());
      return &unit;
    }
  }
  return nullptr;
}

}  // namespace

Result<Duration> parse_go_duration(std::string_view text) {
  const auto wrong = [whole = text] {
    return fail(invalid_argument("\"" + std::string(whole) +
                                 "\" is no duration such as 90s, 1h30m or 250ms"));
  };
  if (text == "0") {
    return Duration::zero();
  }
  if (text.empty()) {
    return wrong();
  }
  Duration sum{};
  while (!text.empty()) {
    std::int64_t value = 0;
    std::int64_t scale = 1;
    bool fraction = false;
    bool digits = false;
    for (; !text.empty() && (is_digit(text[0]) || (text[0] == '.' && !fraction));
         text.remove_prefix(1)) {
      if (text[0] == '.') {
        fraction = true;
        continue;
      }
      digits = true;
      if (fraction && scale >= 1'000'000'000) {
        continue;  // finer than a nanosecond of any unit that is written with fractions
      }
      if (value >= kDigitsMax) {
        return wrong();
      }
      value = value * 10 + (text[0] - '0');
      scale *= fraction ? 10 : 1;
    }
    const Unit* unit = digits ? take_unit(text) : nullptr;
    std::int64_t part = 0;
    if (unit == nullptr || __builtin_mul_overflow(value / scale, unit->nanoseconds, &part)) {
      return wrong();
    }
    part +=
        static_cast<std::int64_t>(static_cast<double>(value % scale) / static_cast<double>(scale) *
                                  static_cast<double>(unit->nanoseconds));
    std::int64_t total = 0;
    if (__builtin_add_overflow(sum.count(), part, &total)) {
      return wrong();
    }
    sum = Duration(total);
  }
  return sum;
}

}  // namespace codeflare::controllers::fakenode
