#include "json/internal/yaml_scalar.h"

#include <array>
#include <cstddef>

namespace codeflare::json::internal {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Takes one piece after the other off the front of a text; once something is missing, all fails.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool take(char wanted) {
    if (!rest_.starts_with(wanted)) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }

  // A number of `min` to `max` digits, or -1.
  int number(std::size_t min, std::size_t max) {
    std::size_t length = 0;
    int value = 0;
    while (length < max && length < rest_.size() && is_digit(rest_[length])) {
      value = value * 10 + (rest_[length] - '0');
      ++length;
    }
    rest_.remove_prefix(length);
    return length < min ? -1 : value;
  }

  void fraction() {
    bool dot = rest_.starts_with('.') || rest_.starts_with(',');
    if (!dot || rest_.size() < 2 || !is_digit(rest_[1])) {
      return;
    }
    rest_.remove_prefix(2);
    while (!rest_.empty() && is_digit(rest_[0])) {
      rest_.remove_prefix(1);
    }
  }

  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

int days_in_month(int year, int month) {
  static constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && leap ? 29 : kDays[static_cast<std::size_t>(month - 1)];
}

bool date(Reader& reader) {
  int year = reader.number(4, 4);
  if (year < 0 || !reader.take('-')) {
    return false;
  }
  int month = reader.number(1, 2);
  if (month < 1 || month > 12 || !reader.take('-')) {
    return false;
  }
  int day = reader.number(1, 2);
  return day >= 1 && day <= days_in_month(year, month);
}

bool below(int value, int limit) {
  return value >= 0 && value < limit;
}

bool time_of_day(Reader& reader) {
  if (!below(reader.number(1, 2), 24) || !reader.take(':') || !below(reader.number(1, 2), 60) ||
      !reader.take(':') || !below(reader.number(1, 2), 60)) {
    return false;
  }
  reader.fraction();
  return true;
}

bool zone(Reader& reader) {
  if (reader.take('Z')) {
    return true;
  }
  return (reader.take('+') || reader.take('-')) && below(reader.number(2, 2), 25) &&
         reader.take(':') && below(reader.number(2, 2), 61);
}

}  // namespace

bool looks_like_timestamp(std::string_view text) {
  Reader reader(text);
  if (!date(reader)) {
    return false;
  }
  if (reader.at_end()) {
    return true;
  }
  if (reader.take('T') || reader.take('t')) {
    return time_of_day(reader) && zone(reader) && reader.at_end();
  }
  return reader.take(' ') && time_of_day(reader) && reader.at_end();
}

}  // namespace codeflare::json::internal
