#include "base/async/task_group.h"

#include "base/async/sleep.h"
#include "base/env/test_worlds.h"

#include <gtest/gtest.h>

#include <memory>

namespace codeflare {
namespace {

using namespace std::chrono_literals;

class TaskGroupTest : public BothWorlds {};
INSTANTIATE_BOTH_WORLDS(TaskGroupTest);

Task<void> note_end(Duration duration, int& ended, int& cancelled_count) {
  Result<void> result = co_await sleep_for(duration);
  ++(result ? ended : cancelled_count);
}

TEST_P(TaskGroupTest, join_waits_until_every_task_has_ended) {
  int ended = 0;
  int stopped = 0;
  TaskGroup group(env().loop);
  for (Duration d : {3ms, 1ms, 2ms}) {
    group.spawn(note_end(d, ended, stopped));
  }
  EXPECT_EQ(group.size(), 3u);
  EXPECT_EQ(ended, 0);
  ASSERT_TRUE(run(env().loop, group.join()));
  EXPECT_EQ(ended, 3);
  EXPECT_EQ(group.size(), 0u);
  // A group can be used again after a join.
  group.spawn(note_end(1ms, ended, stopped));
  ASSERT_TRUE(run(env().loop, group.join()));
  EXPECT_EQ(ended, 4);
}

TEST_P(TaskGroupTest, close_asks_the_tasks_to_stop_and_waits) {
  int ended = 0;
  int stopped = 0;
  TaskGroup group(env().loop);
  group.spawn(note_end(1000h, ended, stopped));
  group.spawn(note_end(1000h, ended, stopped));
  ASSERT_TRUE(run(env().loop, group.close()));
  EXPECT_EQ(stopped, 2);
}

TEST_P(TaskGroupTest, refuses_tasks_after_the_stop) {
  int ended = 0;
  int stopped = 0;
  TaskGroup group(env().loop);
  group.request_stop();
  group.spawn(note_end(1ms, ended, stopped));
  EXPECT_EQ(group.size(), 0u);
  ASSERT_TRUE(run(env().loop, group.join()));
  EXPECT_EQ(ended + stopped, 0);
}

TEST_P(TaskGroupTest, stops_with_its_parent) {
  int ended = 0;
  int stopped = 0;
  StopSource parent;
  TaskGroup group(env().loop, parent.token());
  group.spawn(note_end(1000h, ended, stopped));
  parent.request_stop();
  EXPECT_TRUE(group.stop_token().stop_requested());
  ASSERT_TRUE(run(env().loop, group.join()));
  EXPECT_EQ(stopped, 1);
}

Task<void> spawns_more(TaskGroup& group, int depth, int& ended) {
  co_await yield();
  if (depth > 0) {
    group.spawn(spawns_more(group, depth - 1, ended));
    group.spawn(spawns_more(group, depth - 1, ended));
  }
  ++ended;
}

TEST_P(TaskGroupTest, tasks_may_spawn_into_their_own_group) {
  int ended = 0;
  TaskGroup group(env().loop);
  group.spawn(spawns_more(group, 5, ended));
  ASSERT_TRUE(run(env().loop, group.join()));
  EXPECT_EQ(ended, 63);
}

Task<void> stops_group(TaskGroup& group) {
  group.request_stop();
  co_return;
}

TEST_P(TaskGroupTest, a_task_may_stop_its_own_group) {
  int ended = 0;
  int stopped = 0;
  TaskGroup group(env().loop);
  group.spawn(note_end(1000h, ended, stopped));
  group.spawn(stops_group(group));
  ASSERT_TRUE(run(env().loop, group.join()));
  EXPECT_EQ(stopped, 1);
}

Task<void> own_group(Loop& loop, int& ended, int& stopped) {
  TaskGroup group(loop);
  group.spawn(note_end(1ms, ended, stopped));
  co_await group.join();
}

TEST_P(TaskGroupTest, may_be_destroyed_right_after_the_join) {
  int ended = 0;
  int stopped = 0;
  ASSERT_TRUE(run(env().loop, own_group(env().loop, ended, stopped)));
  EXPECT_EQ(ended, 1);
}

// Cancelling the task that joins does not abandon the tasks it waits for.
TEST_P(TaskGroupTest, join_holds_out_when_the_joining_task_is_stopped) {
  int ended = 0;
  int stopped = 0;
  StopSource source;
  source.request_stop();
  ASSERT_TRUE(run(env().loop, own_group(env().loop, ended, stopped), source.token()));
  EXPECT_EQ(ended, 1);
}

using TaskGroupDeathTest = TaskGroupTest;
INSTANTIATE_BOTH_WORLDS(TaskGroupDeathTest);

TEST_P(TaskGroupDeathTest, destroying_it_while_tasks_run_is_caught) {
  int ended = 0;
  int stopped = 0;
  EXPECT_DEATH(
      {
        TaskGroup group(env().loop);
        group.spawn(note_end(1ms, ended, stopped));
      },
      "destroyed while tasks run");
}

}  // namespace
}  // namespace codeflare
