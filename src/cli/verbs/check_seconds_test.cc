#include "cli/verbs/internal/check_seconds.h"

#include <gtest/gtest.h>

namespace codeflare::cli {
namespace {

TEST(CheckSeconds, takes_what_a_clock_can_hold_and_nothing_else) {
  for (const char* good : {"0", "0.5", "60", "1e3", "1e9"}) {
    EXPECT_EQ(check_seconds(good), "") << good;
  }
  for (const char* bad : {"", "-1", "-0.001", "nan", "inf", "1e10", "1e308", "1e999", "5s", " 5"}) {
    EXPECT_EQ(check_seconds(bad),
              "expected seconds from 0 to 1000000000, got \"" + std::string(bad) + "\"");
  }
}

}  // namespace
}  // namespace codeflare::cli
