#include "controllers/appwrapper/write_pace.h"

#include <gtest/gtest.h>

namespace codeflare::controllers {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Instant kNow{};

void add(WritePace& pace, int count, int took) {
  for (int i = 0; i < count; ++i) {
    pace.add(milliseconds(took), kNow);
  }
}

TEST(WritePace, is_slow_when_writes_take_long_for_this_server) {
  WritePace pace;
  EXPECT_FALSE(pace.is_slow(kNow)) << "before the first write";
  add(pace, 100, 5);
  EXPECT_FALSE(pace.is_slow(kNow));
  add(pace, 3, 40);
  EXPECT_FALSE(pace.is_slow(kNow)) << "a few say nothing";
  add(pace, 20, 40);
  EXPECT_TRUE(pace.is_slow(kNow));
  EXPECT_FALSE(pace.is_slow(kNow + seconds(2))) << "that was a while ago";
  add(pace, 20, 5);
  EXPECT_FALSE(pace.is_slow(kNow));
}

TEST(WritePace, goes_by_the_best_of_a_server_that_is_far_away) {
  WritePace pace;
  add(pace, 100, 40);
  EXPECT_FALSE(pace.is_slow(kNow));
  add(pace, 100, 200);
  EXPECT_TRUE(pace.is_slow(kNow));
}

TEST(WritePace, gets_used_to_a_server_that_has_become_slower) {
  WritePace pace;
  add(pace, 1, 5);
  add(pace, 1'000, 40);
  EXPECT_TRUE(pace.is_slow(kNow));
  add(pace, 100'000, 40);
  EXPECT_FALSE(pace.is_slow(kNow));
}

}  // namespace
}  // namespace codeflare::controllers
