#include "controllers/fakenode/go_duration.h"

#include <gtest/gtest.h>

namespace codeflare::controllers::fakenode {
namespace {

using namespace std::chrono_literals;

TEST(GoDuration, reads_what_go_writes) {
  EXPECT_EQ(*parse_go_duration("0"), 0s);
  EXPECT_EQ(*parse_go_duration("0s"), 0s);
  EXPECT_EQ(*parse_go_duration("90s"), 90s);
  EXPECT_EQ(*parse_go_duration("1h30m"), 90min);
  EXPECT_EQ(*parse_go_duration("1m0.5s"), 60500ms);
  EXPECT_EQ(*parse_go_duration("250ms"), 250ms);
  EXPECT_EQ(*parse_go_duration("10us"), 10us);
  EXPECT_EQ(*parse_go_duration("10µs"), 10us);
  EXPECT_EQ(*parse_go_duration("1.5h"), 90min);
  EXPECT_EQ(*parse_go_duration(".5s"), 500ms);
}

TEST(GoDuration, refuses_the_rest) {
  for (const char* text : {"", "5", "s", "-1s", "1x", "1s2", "1.2.3s", ".s", "1 s", "9999999999h",
                           "99999999999999999999s"}) {
    EXPECT_FALSE(parse_go_duration(text)) << text;
  }
}

}  // namespace
}  // namespace codeflare::controllers::fakenode
