#include "base/go_duration.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <string_view>

namespace codeflare {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

TEST(GoDuration, is_a_sum_of_numbers_with_units) {
  EXPECT_EQ(go_duration("1h30m"), hours(1) + minutes(30));
  EXPECT_EQ(go_duration("-1.5s"), -milliseconds(1500));
  EXPECT_EQ(go_duration("+2m"), minutes(2));
  EXPECT_EQ(go_duration("0"), seconds(0));
  EXPECT_EQ(go_duration(".5s"), milliseconds(500));
  EXPECT_EQ(go_duration("1.s"), seconds(1));
  EXPECT_EQ(go_duration("10us"), go_duration("10\u00b5s"));
  EXPECT_EQ(go_duration("10\u03bcs"), nanoseconds(10'000));
}

TEST(GoDuration, is_exact_to_the_nanosecond) {
  EXPECT_EQ(go_duration("1.001s"), milliseconds(1001));
  EXPECT_EQ(go_duration("0.3h"), minutes(18));
  EXPECT_EQ(go_duration("0.000000001s"), nanoseconds(1));
  EXPECT_EQ(go_duration("0.0000000019999999999999999999s"), nanoseconds(1));
  EXPECT_EQ(go_duration("9007199254740993ns"), nanoseconds(9007199254740993));
}

TEST(GoDuration, reaches_as_far_as_64_bits) {
  EXPECT_EQ(go_duration("9223372036854775807ns"), Duration::max());
  EXPECT_EQ(go_duration("-9223372036854775808ns"), Duration::min());
  for (std::string_view text :
       {"9223372036854775808ns", "-9223372036854775809ns", "99999999999999999999h",
        "2562047h47m16.854775808s", "9223372036854775807ns1ns"}) {
    EXPECT_FALSE(go_duration(text)) << text;
  }
}

TEST(GoDuration, refuses_what_go_refuses) {
  for (std::string_view text : {"", "-", "1", ".", ".s", "s", "1x", "1.2.3s", "1s ", " 1s", "1e3s",
                                "--1s", "0x1s", "1s2", "1 s"}) {
    EXPECT_FALSE(go_duration(text)) << text;
  }
}

}  // namespace
}  // namespace codeflare
