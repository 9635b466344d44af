#include "base/time.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare {
namespace {

using namespace std::chrono_literals;

std::int64_t nanos(std::string_view text) {
  return parse_rfc3339(text).value().time_since_epoch().count();
}

std::string round_trip(std::string_view text, int digits = 0) {
  return to_rfc3339(parse_rfc3339(text).value(), digits);
}

TEST(Rfc3339, prints_seconds_or_the_digits_asked_for) {
  WallTime time(1'700'000'000s + 12'345'678ns);
  EXPECT_EQ(to_rfc3339(time), "2023-11-14T22:13:20Z");
  EXPECT_EQ(to_rfc3339(time, 3), "2023-11-14T22:13:20.012Z");
  EXPECT_EQ(to_rfc3339(time, 6), "2023-11-14T22:13:20.012345Z");
  EXPECT_EQ(to_rfc3339(time, 9), "2023-11-14T22:13:20.012345678Z");
  EXPECT_EQ(to_rfc3339(WallTime(0s), 6), "1970-01-01T00:00:00.000000Z");
}

TEST(Rfc3339, handles_times_before_1970) {
  EXPECT_EQ(to_rfc3339(WallTime(-1ns), 9), "1969-12-31T23:59:59.999999999Z");
  EXPECT_EQ(nanos("1969-12-31T23:59:59.5Z"), -500'000'000);
}

TEST(Rfc3339, reads_any_number_of_fraction_digits) {
  EXPECT_EQ(nanos("1970-01-01T00:00:01Z"), 1'000'000'000);
  EXPECT_EQ(nanos("1970-01-01T00:00:01.5Z"), 1'500'000'000);
  EXPECT_EQ(nanos("1970-01-01T00:00:01.000001Z"), 1'000'001'000);
  EXPECT_EQ(nanos("1970-01-01T00:00:01.123456789Z"), 1'123'456'789);
  EXPECT_EQ(nanos("1970-01-01T00:00:01.1234567899999Z"), 1'123'456'789);
}

TEST(Rfc3339, applies_offsets) {
  EXPECT_EQ(round_trip("2026-11-16T02:14:39+02:00"), "2026-11-16T00:14:39Z");
  EXPECT_EQ(round_trip("2026-11-16T00:14:39-05:30"), "2026-11-16T05:44:39Z");
  EXPECT_EQ(round_trip("2027-01-01T00:30:00+01:00"), "2026-12-31T23:30:00Z");
  EXPECT_EQ(round_trip("2026-11-16T00:14:39-00:00"), "2026-11-16T00:14:39Z");
  EXPECT_EQ(round_trip("2026-11-16t00:14:39z"), "2026-11-16T00:14:39Z");
}

TEST(Rfc3339, knows_leap_years) {
  EXPECT_EQ(round_trip("2024-02-29T00:00:00Z"), "2024-02-29T00:00:00Z");
  EXPECT_EQ(round_trip("2000-02-29T23:59:59Z"), "2000-02-29T23:59:59Z");
  EXPECT_FALSE(parse_rfc3339("2023-02-29T00:00:00Z"));
  EXPECT_FALSE(parse_rfc3339("2100-02-29T00:00:00Z"));
  EXPECT_FALSE(parse_rfc3339("2261-12-31T23:59:59-00:01")) << "in UTC it is too late";
  EXPECT_FALSE(parse_rfc3339("1678-01-01T00:00:00+00:01")) << "in UTC it is too early";
  EXPECT_EQ(nanos("2024-03-01T00:00:00Z") - nanos("2024-02-28T00:00:00Z"),
            Duration(std::chrono::days(2)).count());
}

TEST(Rfc3339, counts_a_leap_second_into_the_next_minute) {
  EXPECT_EQ(round_trip("2016-12-31T23:59:60Z"), "2017-01-01T00:00:00Z");
}

TEST(Rfc3339, refuses_what_is_not_a_time) {
  for (std::string_view text : {"",
                                "2026",
                                "2026-11-16",
                                "2026-11-16T00:14:39",
                                "2026-11-16 00:14:39Z",
                                "2026-13-01T00:00:00Z",
                                "2026-00-01T00:00:00Z",
                                "2026-01-32T00:00:00Z",
                                "2026-01-00T00:00:00Z",
                                "2026-04-31T00:00:00Z",
                                "2026-01-01T24:00:00Z",
                                "2026-01-01T00:60:00Z",
                                "2026-01-01T00:00:61Z",
                                "2026-01-01T00:00:00.Z",
                                "2026-01-01T00:00:00+0200",
                                "2026-01-01T00:00:00+24:00",
                                "2026-01-01T00:00:00+02:60",
                                "2026-01-01T00:00:00Zx",
                                " 2026-01-01T00:00:00Z",
                                "2026-01-01T00:00:00ZZ",
                                "26-01-01T00:00:00Z",
                                "2026-1-01T00:00:00Z",
                                "1500-01-01T00:00:00Z",
                                "9999-12-31T23:59:59Z",
                                "2026-01-01T00:00:0aZ"}) {
    Result<WallTime> time = parse_rfc3339(text);
    ASSERT_FALSE(time) << text;
    EXPECT_EQ(time.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(time.error().message,
              "'" + std::string(text) + "' is not a time such as 2006-01-02T15:04:05Z");
  }
}

TEST(Rfc3339, does_not_repeat_a_long_text_whole) {
  EXPECT_LT(parse_rfc3339(std::string(100'000, '9')).error().message.size(), 200u);
}

TEST(DurationText, is_as_go_prints_it) {
  EXPECT_EQ(to_text(0s), "0s");
  EXPECT_EQ(to_text(1ns), "1ns");
  EXPECT_EQ(to_text(1100ns), "1.1µs");
  EXPECT_EQ(to_text(250ms), "250ms");
  EXPECT_EQ(to_text(2200us), "2.2ms");
  EXPECT_EQ(to_text(3300ms), "3.3s");
  EXPECT_EQ(to_text(15s), "15s");
  EXPECT_EQ(to_text(4min + 5s), "4m5s");
  EXPECT_EQ(to_text(4min + 5001ms), "4m5.001s");
  EXPECT_EQ(to_text(1h), "1h0m0s");
  EXPECT_EQ(to_text(-90s), "-1m30s");
  EXPECT_EQ(to_text(Duration::max()), "2562047h47m16.854775807s");
  EXPECT_EQ(to_text(Duration::min()), "-2562047h47m16.854775808s");
}

}  // namespace
}  // namespace codeflare
