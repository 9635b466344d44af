#include "base/human_duration.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace codeflare {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(HumanDuration, keeps_two_or_three_digits) {
  const std::vector<std::pair<Duration, std::string>> cases = {
      {seconds(0), "0s"},
      {milliseconds(-1900), "0s"},
      {seconds(-2), "<invalid>"},
      {milliseconds(59'999), "59s"},
      {seconds(119), "119s"},
      {seconds(120), "2m"},
      {seconds(330), "5m30s"},
      {seconds(599), "9m59s"},
      {minutes(10) + seconds(59), "10m"},
      {minutes(179), "179m"},
      {minutes(180), "3h"},
      {minutes(187), "3h7m"},
      {hours(8) + minutes(59), "8h"},
      {hours(47), "47h"},
      {hours(48), "2d"},
      {hours(51), "2d3h"},
      {hours(24 * 8) - seconds(1), "7d23h"},
      {hours(24 * 8), "8d"},
      {hours(24 * 729), "729d"},
      {hours(24 * 730), "2y"},
      {hours(24 * (3 * 365 + 12)), "3y12d"},
      {hours(24 * (8 * 365 + 12)), "8y"},
  };
  for (const auto& [duration, text] : cases) {
    EXPECT_EQ(human_duration(duration), text);
  }
}

}  // namespace
}  // namespace codeflare
