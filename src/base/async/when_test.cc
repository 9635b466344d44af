#include "base/async/when.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/test_worlds.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace codeflare {
namespace {

using namespace std::chrono_literals;

class WhenTest : public BothWorlds {};
INSTANTIATE_BOTH_WORLDS(WhenTest);

Task<Result<int>> after_delay(Duration delay, int value) {
  CO_TRY(co_await sleep_for(delay));
  co_return value;
}

template <typename... T>
auto list_of(T... tasks) {
  std::vector<std::common_type_t<T...>> list;
  (list.push_back(std::move(tasks)), ...);
  return list;
}

TEST_P(WhenTest, when_both_runs_the_two_at_the_same_time) {
  const Instant begun = env().loop.now();
  auto [first, second] = *run(env().loop, when_both(after_delay(50ms, 1), after_delay(40ms, 2)));
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 2);
  if (simulated()) {
    EXPECT_LT(env().loop.now() - begun, 90ms);
  }
}

TEST_P(WhenTest, when_all_returns_values_in_the_order_of_the_tasks) {
  auto values = *run(
      env().loop, when_all(list_of(after_delay(3ms, 1), after_delay(1ms, 2), after_delay(2ms, 3))));
  ASSERT_EQ(values.size(), 3u);
  EXPECT_EQ(values[0], 1);
  EXPECT_EQ(values[1], 2);
  EXPECT_EQ(values[2], 3);
}

TEST(WhenInVirtualTime, when_all_runs_the_tasks_at_the_same_time) {
  SimEnv world;
  Env env = world.env();
  Instant before = env.clock.now();
  run(env.loop, when_all(list_of(after_delay(3h, 1), after_delay(1h, 2))));
  EXPECT_EQ(env.clock.now() - before, 3h);
}

Task<void> count(int& n) {
  co_await yield();
  ++n;
}

TEST_P(WhenTest, when_all_of_nothing_returns_at_once) {
  EXPECT_TRUE(run(env().loop, when_all(std::vector<Task<Result<int>>>()))->empty());
  EXPECT_TRUE(run(env().loop, when_all(std::vector<Task<void>>())));
  int n = 0;
  EXPECT_TRUE(run(env().loop, when_all(list_of(count(n), count(n)))));
  EXPECT_EQ(n, 2);
}

TEST_P(WhenTest, when_all_ends_when_its_tasks_hear_the_stop) {
  StopSource source;
  source.request_stop();
  auto values = *run(env().loop, when_all(list_of(after_delay(1000h, 1), after_delay(1000h, 2))),
                     source.token());
  EXPECT_EQ(values[0].error().code, ErrorCode::cancelled);
  EXPECT_EQ(values[1].error().code, ErrorCode::cancelled);
}

Task<Result<int>> note_cancel(Duration delay, int value, std::string& notes) {
  Result<int> result = co_await after_delay(delay, value);
  notes += result ? "ended " : "cancelled ";
  co_return result;
}

TEST_P(WhenTest, when_any_returns_the_first_and_cancels_the_others_before_it_returns) {
  std::string notes;
  FirstOf<Result<int>> first =
      *run(env().loop, when_any(list_of(note_cancel(1000h, 1, notes), note_cancel(1ms, 2, notes),
                                        note_cancel(1000h, 3, notes))));
  EXPECT_EQ(first.index, 1u);
  EXPECT_EQ(first.value, 2);
  EXPECT_EQ(notes, "ended cancelled cancelled ");
}

TEST_P(WhenTest, when_any_is_cancelled_from_outside) {
  StopSource source;
  TaskGroup group(env().loop);
  source.request_stop();
  FirstOf<Result<int>> first = *run(
      env().loop, when_any(list_of(after_delay(1000h, 1), after_delay(1000h, 2))), source.token());
  EXPECT_EQ(first.value.error().code, ErrorCode::cancelled);
}

Task<Result<int>> at_once(int value) {
  co_return value;
}

TEST_P(WhenTest, when_any_takes_one_of_several_that_end_at_once) {
  FirstOf<Result<int>> first =
      *run(env().loop, when_any(list_of(at_once(1), at_once(2), at_once(3))));
  EXPECT_EQ(first.index, 0u);
  EXPECT_EQ(first.value, 1);
}

Task<Result<int>> nested(int depth) {
  if (depth == 0) {
    co_return co_await after_delay(1000h, 0);
  }
  std::vector<Task<Result<int>>> tasks = list_of(nested(depth - 1), nested(depth - 1));
  co_return (co_await when_any(std::move(tasks))).value;
}

TEST_P(WhenTest, cancellation_reaches_waits_nested_deep) {
  StopSource source;
  std::vector<Task<Result<int>>> tasks = list_of(nested(6), after_delay(1ms, 7));
  FirstOf<Result<int>> first = *run(env().loop, when_any(std::move(tasks)));
  EXPECT_EQ(first.index, 1u);
}

}  // namespace
}  // namespace codeflare
