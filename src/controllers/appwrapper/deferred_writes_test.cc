#include "controllers/appwrapper/deferred_writes.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace codeflare::controllers {
namespace {

using std::chrono::milliseconds;

const Instant kNow{};

// Releases with so much unfinished; each release adds one, as waking a worker does.
struct Desk {
  DeferredWrites writes{};
  std::size_t unfinished = 0;
  std::vector<std::string> gone{};

  void release(Instant now) {
    const auto note = [this](const char* line) {
      return [this, line](const std::string& uid) {
        gone.push_back(line + uid);
        ++unfinished;
        return true;
      };
    };
    writes.release(
        now, [this] { return unfinished; },
        {.refusal = note("refusal "), .unplaced = note("unplaced "), .idle = note("idle ")});
  }
};

TEST(DeferredWrites, go_at_once_while_workers_have_little_to_do_refusals_first) {
  Desk desk;
  desk.unfinished = 2;
  desk.writes.add_refusal("a", kNow);
  desk.writes.add_unplaced("p", kNow);
  desk.release(kNow);
  EXPECT_EQ(desk.gone, (std::vector<std::string>{"refusal a", "unplaced p"}));
  EXPECT_TRUE(desk.writes.empty());
}

TEST(DeferredWrites, go_one_in_each_pause_while_workers_are_busy) {
  Desk desk;
  desk.unfinished = 100;
  for (const char* uid : {"a", "b", "c"}) {
    desk.writes.add_refusal(uid, kNow);
  }
  desk.release(kNow + milliseconds(199));
  EXPECT_TRUE(desk.gone.empty());
  desk.release(kNow + milliseconds(200));
  EXPECT_EQ(desk.gone, std::vector<std::string>{"refusal a"});
  desk.release(kNow + milliseconds(399));
  EXPECT_EQ(desk.gone.size(), 1U);
  desk.release(kNow + milliseconds(400));
  EXPECT_EQ(desk.gone.back(), "refusal b");
}

TEST(DeferredWrites, wait_for_a_slow_server_even_when_no_worker_is_busy) {
  Desk desk;
  desk.writes.wrote(milliseconds(1), kNow);
  for (int i = 0; i < 50; ++i) {
    desk.writes.wrote(milliseconds(200), kNow);
  }
  desk.writes.add_refusal("a", kNow);
  desk.release(kNow);
  EXPECT_TRUE(desk.gone.empty());
  EXPECT_FALSE(desk.writes.flooded(15, kNow));
  EXPECT_TRUE(desk.writes.flooded(16, kNow)) << "48 on a server that is quick";
}

TEST(DeferredWrites, an_idle_write_that_has_to_wait_goes_when_its_owner_was_woken_for_it) {
  Desk desk;
  EXPECT_TRUE(desk.writes.may_write_idly("a", 3, kNow));
  EXPECT_FALSE(desk.writes.may_write_idly("a", 4, kNow));
  EXPECT_FALSE(desk.writes.may_write_idly("b", 0, kNow)) << "a is first";
  desk.unfinished = 4;
  desk.release(kNow + milliseconds(250));
  EXPECT_EQ(desk.gone, std::vector<std::string>{"idle a"});
  EXPECT_TRUE(desk.writes.may_write_idly("a", 100, kNow));
  EXPECT_FALSE(desk.writes.may_write_idly("a", 100, kNow)) << "once";
}

TEST(DeferredWrites, forget_drops_refusals_and_idle_writes) {
  Desk desk;
  desk.writes.add_refusal("a", kNow);
  EXPECT_FALSE(desk.writes.may_write_idly("a", 9, kNow));
  desk.writes.forget("a");
  desk.release(kNow);
  EXPECT_TRUE(desk.gone.empty());
  EXPECT_TRUE(desk.writes.empty());
}

}  // namespace
}  // namespace codeflare::controllers
