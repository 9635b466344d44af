#include "base/time.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace codeflare {

namespace {

// Times are written by the thousand: printf would take longer than all else about them.
void append_digits(std::string& text, std::int64_t value, std::size_t count) {
  const std::size_t end = text.size() + count;
  text.resize(end, '0');
  for (std::size_t at = end; at > end - count; value /= 10) {
    text[--at] = static_cast<char>('0' + value % 10);
  }
}

}  // namespace

std::string to_rfc3339(WallTime time, int fraction_digits) {
  using namespace std::chrono;
  auto day = floor<days>(time);
  year_month_day date(day);
  hh_mm_ss<Duration> clock(time - day);
  std::string text;
  text.reserve(32);
  append_digits(text, static_cast<int>(date.year()), 4);
  text += '-';
  append_digits(text, static_cast<unsigned>(date.month()), 2);
  text += '-';
  append_digits(text, static_cast<unsigned>(date.day()), 2);
  text += 'T';
  append_digits(text, clock.hours().count(), 2);
  text += ':';
  append_digits(text, clock.minutes().count(), 2);
  text += ':';
  append_digits(text, clock.seconds().count(), 2);
  if (fraction_digits > 0) {
    text += '.';
    const std::size_t whole = text.size();
    append_digits(text, clock.subseconds().count(), 9);
    text.resize(whole + static_cast<std::size_t>(fraction_digits));
  }
  text += 'Z';
  return text;
}

namespace {

// Reads exactly `count` digits.
bool read_digits(std::string_view& text, std::size_t count, int& value) {
  if (text.size() < count) {
    return false;
  }
  value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (text[i] < '0' || text[i] > '9') {
      return false;
    }
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(count);
  return true;
}

bool read_char(std::string_view& text, char expected) {
  if (text.empty() || text.front() != expected) {
    return false;
  }
  text.remove_prefix(1);
  return true;
}

bool read_fraction(std::string_view& text, std::int64_t& nanos) {
  std::int64_t scale = 100'000'000;
  std::size_t digits = 0;
  for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; ++digits) {
    nanos += (text.front() - '0') * scale;
    scale /= 10;
    text.remove_prefix(1);
  }
  return digits > 0;
}

bool read_offset(std::string_view& text, std::chrono::minutes& offset) {
  if (read_char(text, 'Z') || read_char(text, 'z')) {
    return true;
  }
  bool negative = !text.empty() && text.front() == '-';
  int hours = 0;
  int minutes = 0;
  if (!(read_char(text, '+') || read_char(text, '-')) || !read_digits(text, 2, hours) ||
      !read_char(text, ':') || !read_digits(text, 2, minutes) || hours > 23 || minutes > 59) {
    return false;
  }
  offset = std::chrono::hours(hours) + std::chrono::minutes(minutes);
  if (negative) {
    offset = -offset;
  }
  return true;
}

// Nanoseconds in 64 bits reach from 1677 to 2262.
bool is_writable(std::chrono::year year) {
  return year >= std::chrono::year(1678) && year <= std::chrono::year(2261);
}

Error no_time(std::string_view text) {
  return invalid_argument("'" + std::string(text.substr(0, 64)) +
                          "' is not a time such as 2006-01-02T15:04:05Z");
}

}  // namespace

Result<WallTime> parse_rfc3339(std::string_view text) {
  using namespace std::chrono;
  std::string_view rest = text;
  int y = 0, mo = 0, d = 0, h = 0, mi = 0, s = 0;
  std::int64_t nanos = 0;
  minutes offset{0};
  bool ok = read_digits(rest, 4, y) && read_char(rest, '-') && read_digits(rest, 2, mo) &&
            read_char(rest, '-') && read_digits(rest, 2, d) &&
            (read_char(rest, 'T') || read_char(rest, 't')) && read_digits(rest, 2, h) &&
            read_char(rest, ':') && read_digits(rest, 2, mi) && read_char(rest, ':') &&
            read_digits(rest, 2, s) && (!read_char(rest, '.') || read_fraction(rest, nanos)) &&
            read_offset(rest, offset) && rest.empty();
  year_month_day date(year(y), month(static_cast<unsigned>(mo)), day(static_cast<unsigned>(d)));
  if (!ok || !date.ok() || h > 23 || mi > 59 || s > 60 || !is_writable(date.year())) {
    return fail(no_time(text));
  }
  const WallTime time =
      WallTime(sys_days(date)) + hours(h) + minutes(mi) + seconds(s) + nanoseconds(nanos) - offset;
  // In UTC it may be another year.
  if (!is_writable(year_month_day(floor<days>(time)).year())) {
    return fail(no_time(text));
  }
  return time;
}

namespace {

// `value` of which `scale` make one unit, with as many decimals as it takes: 1500 of 1000 is 1.5.
std::string decimal(std::uint64_t value, std::uint64_t scale) {
  std::string text = std::to_string(value / scale);
  std::uint64_t rest = value % scale;
  if (rest != 0) {
    std::string digits = std::to_string(scale + rest).substr(1);
    digits.erase(digits.find_last_not_of('0') + 1);
    text += "." + digits;
  }
  return text;
}

}  // namespace

std::string to_text(Duration duration) {
  constexpr std::uint64_t kMicro = 1'000;
  constexpr std::uint64_t kMilli = 1'000'000;
  constexpr std::uint64_t kSecond = 1'000'000'000;
  bool negative = duration < Duration::zero();
  // Unsigned negation also holds for the smallest value, which has no positive counterpart.
  auto nanos = static_cast<std::uint64_t>(duration.count());
  nanos = negative ? 0 - nanos : nanos;
  std::string text = negative ? "-" : "";
  if (nanos == 0) {
    return "0s";
  }
  if (nanos < kMicro) {
    return text + decimal(nanos, 1) + "ns";
  }
  if (nanos < kMilli) {
    return text + decimal(nanos, kMicro) + "µs";
  }
  if (nanos < kSecond) {
    return text + decimal(nanos, kMilli) + "ms";
  }
  std::uint64_t minutes = nanos / (60 * kSecond);
  if (minutes >= 60) {
    text += std::to_string(minutes / 60) + "h";
  }
  if (minutes > 0) {
    text += std::to_string(minutes % 60) + "m";
  }
  return text + decimal(nanos % (60 * kSecond), kSecond) + "s";
}

}  // namespace codeflare
