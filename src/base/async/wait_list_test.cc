#include "base/async/wait_list.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/test_worlds.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare {
namespace {

class WaitListTest : public BothWorlds {};
INSTANTIATE_BOTH_WORLDS(WaitListTest);

Task<void> wait_and_note(WaitList& list, std::string& order, char name) {
  Result<void> result = co_await list.wait();
  order += name;
  if (!result) {
    order += '!';
  }
}

Task<void> wait_uncancellable_and_note(WaitList& list, std::string& order, char name) {
  co_await list.wait_uncancellable();
  order += name;
}

// Lets everything that is ready run.
Task<void> settle() {
  for (int i = 0; i < 10; ++i) {
    co_await yield();
  }
}

TEST_P(WaitListTest, notify_one_wakes_the_one_that_waits_longest) {
  std::string order;
  WaitList list;
  TaskGroup group(env().loop);
  for (char name : {'a', 'b', 'c'}) {
    group.spawn(wait_and_note(list, order, name));
  }
  run(env().loop, settle());
  EXPECT_EQ(order, "");
  list.notify_one();
  run(env().loop, settle());
  EXPECT_EQ(order, "a");
  EXPECT_FALSE(list.empty());
  list.notify_all();
  EXPECT_TRUE(list.empty());
  run(env().loop, group.join());
  EXPECT_EQ(order, "abc");
}

TEST_P(WaitListTest, waking_never_runs_the_waiter_inside_the_call) {
  std::string order;
  WaitList list;
  TaskGroup group(env().loop);
  group.spawn(wait_and_note(list, order, 'a'));
  run(env().loop, settle());
  list.notify_all();
  EXPECT_EQ(order, "");
  run(env().loop, group.join());
  EXPECT_EQ(order, "a");
}

TEST_P(WaitListTest, a_notification_without_waiters_is_not_remembered) {
  std::string order;
  WaitList list;
  TaskGroup group(env().loop);
  list.notify_all();
  list.notify_one();
  group.spawn(wait_and_note(list, order, 'a'));
  run(env().loop, settle());
  EXPECT_EQ(order, "");
  run(env().loop, group.close());
  EXPECT_EQ(order, "a!");
}

TEST_P(WaitListTest, a_stop_takes_waiters_off_the_list_and_leaves_the_others) {
  std::string order;
  WaitList list;
  TaskGroup stopped(env().loop);
  TaskGroup kept(env().loop);
  kept.spawn(wait_and_note(list, order, 'a'));
  stopped.spawn(wait_and_note(list, order, 'b'));
  kept.spawn(wait_and_note(list, order, 'c'));
  stopped.spawn(wait_and_note(list, order, 'd'));
  run(env().loop, settle());
  run(env().loop, stopped.close());
  EXPECT_EQ(order, "b!d!");
  list.notify_all();
  run(env().loop, kept.join());
  EXPECT_EQ(order, "b!d!ac");
}

TEST_P(WaitListTest, a_wait_that_begins_after_the_stop_fails_at_once) {
  std::string order;
  WaitList list;
  StopSource source;
  source.request_stop();
  run(env().loop, wait_and_note(list, order, 'a'), source.token());
  EXPECT_EQ(order, "a!");
}

TEST_P(WaitListTest, whoever_was_woken_is_not_cancelled_any_more) {
  std::string order;
  WaitList list;
  TaskGroup group(env().loop);
  group.spawn(wait_and_note(list, order, 'a'));
  run(env().loop, settle());
  list.notify_one();
  group.request_stop();
  run(env().loop, group.join());
  EXPECT_EQ(order, "a");
}

TEST_P(WaitListTest, whoever_was_cancelled_takes_no_wake_up_from_others) {
  std::string order;
  WaitList list;
  TaskGroup stopped(env().loop);
  TaskGroup kept(env().loop);
  stopped.spawn(wait_and_note(list, order, 'a'));
  kept.spawn(wait_and_note(list, order, 'b'));
  run(env().loop, settle());
  stopped.request_stop();
  list.notify_one();
  run(env().loop, kept.join());
  run(env().loop, stopped.join());
  EXPECT_EQ(order, "a!b");
}

TEST_P(WaitListTest, an_uncancellable_wait_ignores_the_stop) {
  std::string order;
  WaitList list;
  TaskGroup group(env().loop);
  group.spawn(wait_uncancellable_and_note(list, order, 'a'));
  run(env().loop, settle());
  group.request_stop();
  run(env().loop, settle());
  EXPECT_EQ(order, "");
  list.notify_all();
  run(env().loop, group.join());
  EXPECT_EQ(order, "a");
}

}  // namespace
}  // namespace codeflare
