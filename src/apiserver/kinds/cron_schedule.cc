#include "apiserver/kinds/cron_schedule.h"

#include "base/go_duration.h"
#include "base/result.h"
#include "base/split.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <span>
#include <vector>

namespace codeflare::apiserver {

namespace {

struct Bounds {
  std::int64_t least;
  std::int64_t most;
  std::span<const std::string_view> names{};  // of least, least + 1, ...
};

constexpr std::array<std::string_view, 12> kMonths = {"jan", "feb", "mar", "apr", "may", "jun",
                                                      "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> kDays = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
const std::array<Bounds, 5> kFields = {
    {{0, 59}, {0, 23}, {1, 31}, {1, 12, kMonths}, {0, 6, kDays}}};
constexpr std::array<std::string_view, 7> kDescriptors = {
    "@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"};

Error wrong(std::string text) {
  return invalid_argument(std::move(text));
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

std::vector<std::string_view> words(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  std::vector<std::string_view> found;
  while (true) {
    const std::size_t begin = text.find_first_not_of(kSpace);
    if (begin == std::string_view::npos) {
      return found;
    }
    const std::size_t end = std::min(text.find_first_of(kSpace, begin), text.size());
    found.push_back(text.substr(begin, end - begin));
    text.remove_prefix(end);
  }
}

Result<std::int64_t> number(std::string_view text) {
  const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code == std::errc::result_out_of_range && end == digits.data() + digits.size()) {
    return std::unexpected(wrong("failed to parse int from " + std::string(text) +
                                 ": strconv.Atoi: parsing \"" + std::string(text) +
                                 "\": value out of range"));
  }
  if (code != std::errc() || end != digits.data() + digits.size() ||
      (text.starts_with('+') && digits.starts_with('-'))) {
    return std::unexpected(wrong("failed to parse int from " + std::string(text) +
                                 ": strconv.Atoi: parsing \"" + std::string(text) +
                                 "\": invalid syntax"));
  }
  if (value < 0) {
    return std::unexpected(
        wrong("negative number (" + std::to_string(value) + ") not allowed: " + std::string(text)));
  }
  return value;
}

Result<std::int64_t> number_or_name(std::string_view text, const Bounds& bounds) {
  const auto named = std::ranges::find_if(
      bounds.names, [&](std::string_view name) { return same_word(name, text); });
  if (named != bounds.names.end()) {
    return bounds.least + (named - bounds.names.begin());
  }
  return number(text);
}

// "*", "5", "mon-fri", "*/10", "10-50/20"
Result<void> check_range(std::string_view text, const Bounds& bounds) {
  const std::vector<std::string_view> range_and_step = split(text, '/');
  const std::vector<std::string_view> low_and_high = split(range_and_step[0], '-');
  const std::string shown(text);
  std::int64_t from = bounds.least;
  std::int64_t to = bounds.most;
  if (low_and_high[0] != "*" && low_and_high[0] != "?") {
    TRY_ASSIGN(from, number_or_name(low_and_high[0], bounds));
    to = from;
    if (low_and_high.size() == 2) {
      TRY_ASSIGN(to, number_or_name(low_and_high[1], bounds));
    } else if (low_and_high.size() > 2) {
      return std::unexpected(wrong("too many hyphens: " + shown));
    }
  }
  std::int64_t step = 1;
  if (range_and_step.size() == 2) {
    TRY_ASSIGN(step, number(range_and_step[1]));
    to = low_and_high.size() == 1 ? bounds.most : to;
  } else if (range_and_step.size() > 2) {
    return std::unexpected(wrong("too many slashes: " + shown));
  }
  if (from < bounds.least) {
    return std::unexpected(wrong("beginning of range (" + std::to_string(from) +
                                 ") below minimum (" + std::to_string(bounds.least) +
                                 "): " + shown));
  }
  if (to > bounds.most) {
    return std::unexpected(wrong("end of range (" + std::to_string(to) + ") above maximum (" +
                                 std::to_string(bounds.most) + "): " + shown));
  }
  if (from > to) {
    return std::unexpected(wrong("beginning of range (" + std::to_string(from) +
                                 ") beyond end of range (" + std::to_string(to) + "): " + shown));
  }
  if (step == 0) {
    return std::unexpected(wrong("step of range should be a positive number: " + shown));
  }
  return {};
}

Result<void> check_descriptor(std::string_view text) {
  if (std::ranges::find(kDescriptors, text) != kDescriptors.end()) {
    return {};
  }
  constexpr std::string_view kEvery = "@every ";
  if (!text.starts_with(kEvery)) {
    return std::unexpected(wrong("unrecognized descriptor: " + std::string(text)));
  }
  const std::string_view period = text.substr(kEvery.size());
  if (!go_duration(period)) {
    return std::unexpected(wrong("failed to parse duration " + std::string(text) +
                                 ": time: invalid duration \"" + std::string(period) + "\""));
  }
  return {};
}

Result<void> check_schedule(std::string_view schedule) {
  // A zone in the schedule is rejected elsewhere; the rest must be valid anyway.
  if (schedule.starts_with("TZ=") || schedule.starts_with("CRON_TZ=")) {
    schedule.remove_prefix(std::min(schedule.find(' '), schedule.size()));
    schedule.remove_prefix(std::min(schedule.find_first_not_of(' '), schedule.size()));
  }
  if (schedule.starts_with('@')) {
    return check_descriptor(schedule);
  }
  const std::vector<std::string_view> fields = words(schedule);
  if (fields.size() != kFields.size()) {
    std::string list;
    for (std::string_view field : fields) {
      list += (list.empty() ? "" : " ") + std::string(field);
    }
    return std::unexpected(wrong("expected exactly 5 fields, found " +
                                 std::to_string(fields.size()) + ": [" + list + "]"));
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    for (std::string_view range : split(fields[i], ',')) {
      if (!range.empty()) {
        TRY(check_range(range, kFields[i]));
      }
    }
  }
  return {};
}

bool zone_part_ok(std::string_view part) {
  constexpr std::size_t kPartMax = 14;
  return !part.empty() && part.size() <= kPartMax && part != "." && part != ".." &&
         !part.starts_with('-') && std::ranges::all_of(part, [](char c) {
           return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
                  c == '-' || c == '_' || c == '+';
         });
}

}  // namespace

std::string schedule_complaint(std::string_view schedule) {
  Result<void> checked = check_schedule(schedule);
  return checked ? "" : checked.error().message;
}

std::string time_zone_complaint(std::string_view zone) {
  if (zone.empty()) {
    return "timeZone must be nil or non-empty string";
  }
  if (!std::ranges::all_of(split(zone, '/'), zone_part_ok)) {
    return "unknown time zone " + std::string(zone);
  }
  if (same_word(zone, "local")) {
    return "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
  }
  return "";
}

}  // namespace codeflare::apiserver
