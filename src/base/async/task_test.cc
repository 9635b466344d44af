#include "base/async/task.h"

#include "base/async/sleep.h"
#include "base/env/test_worlds.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

namespace codeflare {
namespace {

using namespace std::chrono_literals;

class TaskTest : public BothWorlds {};
INSTANTIATE_BOTH_WORLDS(TaskTest);

Task<int> value(int n) {
  co_return n;
}

Task<std::int64_t> sum_to(int n) {
  std::int64_t sum = 0;
  for (int i = 1; i <= n; ++i) {
    sum += co_await value(i);
  }
  co_return sum;
}

TEST_P(TaskTest, returns_what_its_coroutine_returns) {
  EXPECT_EQ(run(env().loop, sum_to(4)), 10);
}

Task<void> set(bool& flag) {
  flag = true;
  co_return;
}

TEST_P(TaskTest, is_lazy) {
  bool ran = false;
  {
    Task<void> never_awaited = set(ran);
  }
  EXPECT_FALSE(ran);
  EXPECT_TRUE(run(env().loop, set(ran)));
  EXPECT_TRUE(ran);
}

Task<std::unique_ptr<int>> move_only() {
  co_return std::make_unique<int>(7);
}

Task<Result<std::string>> braces() {
  co_return {};
}

TEST_P(TaskTest, carries_values_that_only_move) {
  EXPECT_EQ(**run(env().loop, move_only()), 7);
  EXPECT_EQ((*run(env().loop, braces())).value(), "");
}

Task<Result<int>> failing() {
  co_return fail(not_found("nothing here"));
}

Task<Result<int>> passes_on(bool& went_on) {
  CO_TRY_ASSIGN(int n, co_await failing());
  went_on = true;
  co_return n;
}

TEST_P(TaskTest, errors_leave_by_the_statement_macros) {
  bool went_on = false;
  Result<int> result = *run(env().loop, passes_on(went_on));
  EXPECT_EQ(result.error().code, ErrorCode::not_found);
  EXPECT_FALSE(went_on);
}

// Each call returns to the one that awaits it without a stack frame left behind; under the address
// sanitizer a growing stack would overflow long before the end.
TEST_P(TaskTest, a_million_awaits_in_a_row_do_not_grow_the_stack) {
  EXPECT_EQ(run(env().loop, sum_to(1'000'000)), 500'000'500'000);
}

Task<int> depth(int n) {
  if (n == 0) {
    co_await yield();
    co_return 0;
  }
  co_return 1 + co_await depth(n - 1);
}

TEST_P(TaskTest, a_deep_chain_of_awaits_does_not_grow_the_stack) {
  EXPECT_EQ(run(env().loop, depth(100'000)), 100'000);
}

Task<void> append_with_yields(std::string& order, char name) {
  for (int i = 0; i < 3; ++i) {
    order += name;
    co_await yield();
  }
}

TEST_P(TaskTest, yield_gives_others_a_turn) {
  std::string order;
  TaskContext context{&env().loop, {}};
  int running = 2;
  bool done = false;
  auto ended = [&] { done = --running == 0; };
  start(context, append_with_yields(order, 'a'), ended);
  start(context, append_with_yields(order, 'b'), ended);
  EXPECT_EQ(order, "");
  env().loop.run_until(done);
  EXPECT_EQ(order, "ababab");
}

struct Tracked {
  explicit Tracked(int& alive_in) : alive(alive_in) { ++alive; }
  Tracked(const Tracked&) = delete;
  Tracked& operator=(const Tracked&) = delete;
  ~Tracked() { --alive; }
  int& alive;
};

Task<int> holds(std::shared_ptr<Tracked> held) {
  co_await yield();
  co_return held->alive;
}

TEST_P(TaskTest, its_frame_is_gone_before_the_end_is_told) {
  int alive = 0;
  int alive_at_end = -1;
  bool done = false;
  TaskContext context{&env().loop, {}};
  start(context, holds(std::make_shared<Tracked>(alive)), [&](int alive_inside) {
    EXPECT_EQ(alive_inside, 1);
    alive_at_end = alive;
    done = true;
  });
  env().loop.run_until(done);
  EXPECT_EQ(alive_at_end, 0);
}

Task<bool> sees_stop() {
  const TaskContext& context = co_await current_context();
  co_return context.stop.stop_requested();
}

Task<bool> nested_sees_stop() {
  co_return co_await sees_stop();
}

TEST_P(TaskTest, takes_over_the_context_of_whoever_awaits_it) {
  StopSource source;
  EXPECT_EQ(run(env().loop, nested_sees_stop(), source.token()), false);
  source.request_stop();
  EXPECT_EQ(run(env().loop, nested_sees_stop(), source.token()), true);
}

TEST_P(TaskTest, posted_work_runs_later_and_in_order) {
  std::string order;
  bool done = false;
  env().loop.post([&] {
    env().loop.post([&] {
      order += "3";
      done = true;
    });
    order += "1";
  });
  env().loop.post([&] { order += "2"; });
  order += "0";
  env().loop.run_until(done);
  EXPECT_EQ(order, "0123");
}

using TaskDeathTest = TaskTest;
INSTANTIATE_BOTH_WORLDS(TaskDeathTest);

Task<void> awaits_what_was_moved_away() {
  Task<int> first = value(1);
  Task<int> second = std::move(first);
  co_await std::move(second);
  co_await std::move(first);
}

TEST_P(TaskDeathTest, awaiting_a_task_that_was_moved_away_is_caught) {
  EXPECT_DEATH(run(env().loop, awaits_what_was_moved_away()), "moved away");
}

TEST_P(TaskDeathTest, running_the_loop_inside_itself_is_caught) {
  bool done = false;
  env().loop.post([&] { run(env().loop, sum_to(1)); });
  EXPECT_DEATH(env().loop.run_until(done), "inside its own work");
}

Task<Result<void>> waits_in(WaitList& list, bool& unwound) {
  Result<void> result = co_await list.wait();
  unwound = true;
  co_return result;
}

TEST(Run, reports_a_deadlock_and_unwinds_the_task) {
  SimEnv world;
  WaitList never;
  bool unwound = false;
  EXPECT_EQ(run(world.env().loop, waits_in(never, unwound)), std::nullopt);
  EXPECT_TRUE(unwound);
}

}  // namespace
}  // namespace codeflare
