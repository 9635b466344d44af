#include "base/human_duration.h"

#include <cstdint>

namespace codeflare {

namespace {

// "3h7m", "3h" when the smaller part is nothing.
std::string two_units(std::int64_t big, char big_unit, std::int64_t small, char small_unit) {
  std::string out = std::to_string(big) + big_unit;
  if (small != 0) {
    out += std::to_string(small) + small_unit;
  }
  return out;
}

}  // namespace

std::string human_duration(Duration duration) {
  using std::to_string;
  const std::int64_t seconds = duration / std::chrono::seconds(1);
  const std::int64_t minutes = seconds / 60;
  const std::int64_t hours = minutes / 60;
  const std::int64_t days = hours / 24;
  if (seconds < -1) {
    return "<invalid>";
  }
  if (seconds < 2 * 60) {
    return to_string(seconds < 0 ? 0 : seconds) + "s";
  }
  if (minutes < 10) {
    return two_units(minutes, 'm', seconds % 60, 's');
  }
  if (minutes < 3 * 60) {
    return to_string(minutes) + "m";
  }
  if (hours < 8) {
    return two_units(hours, 'h', minutes % 60, 'm');
  }
  if (hours < 2 * 24) {
    return to_string(hours) + "h";
  }
  if (days < 8) {
    return two_units(days, 'd', hours % 24, 'h');
  }
  if (days < 2 * 365) {
    return to_string(days) + "d";
  }
  return two_units(days / 365, 'y', days < 8 * 365 ? days % 365 : 0, 'd');
}

}  // namespace codeflare
