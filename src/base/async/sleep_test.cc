#include "base/async/sleep.h"

#include "base/async/task_group.h"
#include "base/async/wait_list.h"
#include "base/env/test_worlds.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare {
namespace {

using namespace std::chrono_literals;

class SleepTest : public BothWorlds {};
INSTANTIATE_BOTH_WORLDS(SleepTest);

Task<void> note_after(Duration duration, std::string& order, char name) {
  Result<void> result = co_await sleep_for(duration);
  order += name;
  if (!result) {
    order += '!';
  }
}

TEST_P(SleepTest, ends_in_order_of_time_and_then_of_start) {
  std::string order;
  TaskGroup group(env().loop);
  Instant start = env().clock.now();
  group.spawn(note_after(20ms, order, 'c'));
  group.spawn(note_after(0ms, order, 'a'));
  group.spawn(note_after(-1h, order, 'b'));
  run(env().loop, group.join());
  EXPECT_EQ(order, "abc");
  EXPECT_GE(env().clock.now() - start, 20ms);
}

TEST_P(SleepTest, is_cut_short_by_a_stop) {
  std::string order;
  TaskGroup group(env().loop);
  group.spawn(note_after(1000h, order, 'a'));
  group.spawn(note_after(Duration::max(), order, 'b'));
  Instant start = env().clock.now();
  run(env().loop, note_after(1ms, order, 'c'));
  EXPECT_EQ(order, "c");
  run(env().loop, group.close());
  EXPECT_EQ(order, "ca!b!");
  EXPECT_LT(env().clock.now() - start, 1h);
}

TEST_P(SleepTest, does_not_begin_after_a_stop) {
  std::string order;
  StopSource source;
  source.request_stop();
  run(env().loop, note_after(1000h, order, 'a'), source.token());
  EXPECT_EQ(order, "a!");
}

TEST(After, does_not_overflow) {
  Instant now(1h);
  EXPECT_EQ(after(now, 1s), now + 1s);
  EXPECT_EQ(after(now, Duration::max()), Instant::max());
  EXPECT_EQ(after(now, Duration::min()), now);
}

Task<Result<int>> answer(Duration duration) {
  CO_TRY(co_await sleep_for(duration));
  co_return 42;
}

Task<Result<int>> ignores_stop(Duration duration) {
  (void)co_await sleep_for(duration);
  co_return 43;
}

Task<Result<int>> fails() {
  co_return fail(conflict("somebody was faster"));
}

TEST_P(SleepTest, with_timeout_passes_results_and_errors_through) {
  EXPECT_EQ(*run(env().loop, with_timeout(1h, "the answer", answer(1ms))), 42);
  Result<int> failed = *run(env().loop, with_timeout(1h, "the answer", fails()));
  EXPECT_EQ(failed.error().code, ErrorCode::conflict);
}

TEST_P(SleepTest, with_timeout_stops_the_task_and_says_what_took_too_long) {
  Result<int> late = *run(env().loop, with_timeout(2ms, "the answer", answer(1000h)));
  EXPECT_EQ(late.error().code, ErrorCode::deadline_exceeded);
  EXPECT_EQ(late.error().message, "the answer: no answer within 2 ms");
}

TEST_P(SleepTest, with_timeout_keeps_a_result_that_came_in_spite_of_the_stop) {
  EXPECT_EQ(*run(env().loop, with_timeout(1ms, "the answer", ignores_stop(1000h))), 43);
}

Task<void> stop_after(Duration duration, StopSource& source) {
  if (co_await sleep_for(duration)) {
    source.request_stop();
  }
}

TEST_P(SleepTest, with_timeout_reports_an_outer_stop_as_cancelled) {
  StopSource source;
  TaskGroup group(env().loop);
  group.spawn(stop_after(1ms, source));
  Result<int> result =
      *run(env().loop, with_timeout(1000h, "the answer", answer(1000h)), source.token());
  EXPECT_EQ(result.error().code, ErrorCode::cancelled);
  run(env().loop, group.join());
}

TEST_P(SleepTest, the_inner_of_two_timeouts_is_reported_when_it_comes_first) {
  Result<int> inner =
      *run(env().loop, with_timeout(1h, "outer", with_timeout(1ms, "inner", answer(1000h))));
  EXPECT_EQ(inner.error().message, "inner: no answer within 1 ms");
  Result<int> outer =
      *run(env().loop, with_timeout(1ms, "outer", with_timeout(1h, "inner", answer(1000h))));
  EXPECT_EQ(outer.error().message, "outer: no answer within 1 ms");
}

TEST(SleepInVirtualTime, with_timeout_leaves_no_timer_behind) {
  SimEnv world;
  Env env = world.env();
  EXPECT_EQ(*run(env.loop, with_timeout(1000h, "the answer", answer(1h))), 42);
  // With a timer left the clock would jump to it before the deadlock is found.
  Instant before = env.clock.now();
  const bool never = false;
  EXPECT_FALSE(env.loop.run_until(never));
  EXPECT_EQ(env.clock.now(), before);
}

TEST_P(SleepTest, with_stop_listens_to_both_tokens) {
  StopSource extra;
  TaskGroup group(env().loop);
  group.spawn(stop_after(1ms, extra));
  EXPECT_EQ((*run(env().loop, with_stop(extra.token(), answer(1000h)))).error().code,
            ErrorCode::cancelled);
  run(env().loop, group.join());

  StopSource outer;
  outer.request_stop();
  EXPECT_EQ((*run(env().loop, with_stop(StopToken(), answer(1000h)), outer.token())).error().code,
            ErrorCode::cancelled);
  EXPECT_EQ(*run(env().loop, with_stop(StopToken(), answer(1ms))), 42);
}

Task<void> spin_on_timers(bool& posted) {
  while (!posted) {
    if (!co_await sleep_for(0ms)) {
      co_return;
    }
  }
}

TEST(SleepOnTheRealLoop, timers_that_are_always_due_do_not_starve_other_events) {
  RealEnv world;
  Env env = world.env();
  bool posted = false;
  env.loop.post_from_any_thread([&] { posted = true; });
  EXPECT_TRUE(run(env.loop, spin_on_timers(posted)));
}

}  // namespace
}  // namespace codeflare
