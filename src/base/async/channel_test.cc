#include "base/async/channel.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/test_worlds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace codeflare {
namespace {

class ChannelTest : public BothWorlds {};
INSTANTIATE_BOTH_WORLDS(ChannelTest);

Task<void> produce(Channel<int>& channel, int from, int to, std::size_t& largest) {
  for (int i = from; i < to; ++i) {
    if (!co_await channel.push(i)) {
      co_return;
    }
    largest = std::max(largest, channel.size());
  }
}

Task<void> produce_and_close(Channel<int>& channel, int to, std::size_t& largest) {
  co_await produce(channel, 0, to, largest);
  channel.close();
}

Task<std::vector<int>> consume(Channel<int>& channel) {
  std::vector<int> values;
  while (Result<int> value = co_await channel.pop()) {
    values.push_back(*value);
    co_await yield();
  }
  co_return values;
}

TEST_P(ChannelTest, delivers_in_order_and_never_holds_more_than_its_bound) {
  Channel<int> channel(3);
  std::size_t largest = 0;
  TaskGroup group(env().loop);
  group.spawn(produce_and_close(channel, 100, largest));
  std::vector<int> values = *run(env().loop, consume(channel));
  run(env().loop, group.join());
  ASSERT_EQ(values.size(), 100u);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(values[static_cast<std::size_t>(i)], i);
  }
  EXPECT_EQ(largest, 3u);
}

Task<void> collect(Channel<int>& channel, std::vector<int>& into) {
  while (Result<int> value = co_await channel.pop()) {
    into.push_back(*value);
  }
}

TEST_P(ChannelTest, many_producers_and_consumers_lose_and_double_nothing) {
  Channel<int> channel(2);
  std::size_t largest = 0;
  std::vector<int> values;
  TaskGroup producers(env().loop);
  TaskGroup consumers(env().loop);
  for (int i = 0; i < 3; ++i) {
    consumers.spawn(collect(channel, values));
  }
  for (int i = 0; i < 5; ++i) {
    producers.spawn(produce(channel, i * 100, i * 100 + 100, largest));
  }
  run(env().loop, producers.join());
  channel.close();
  run(env().loop, consumers.join());
  std::ranges::sort(values);
  ASSERT_EQ(values.size(), 500u);
  for (int i = 0; i < 500; ++i) {
    EXPECT_EQ(values[static_cast<std::size_t>(i)], i);
  }
}

TEST_P(ChannelTest, try_push_tells_when_it_is_full) {
  Channel<int> channel(2);
  EXPECT_TRUE(channel.try_push(1));
  EXPECT_TRUE(channel.try_push(2));
  EXPECT_FALSE(channel.try_push(3));
  EXPECT_EQ(channel.try_pop(), 1);
  EXPECT_TRUE(channel.try_push(4));
  EXPECT_EQ(channel.try_pop(), 2);
  EXPECT_EQ(channel.try_pop(), 4);
  EXPECT_EQ(channel.try_pop(), std::nullopt);
}

TEST_P(ChannelTest, the_rest_can_be_popped_after_close) {
  Channel<int> channel(2);
  channel.try_push(1);
  channel.close();
  EXPECT_TRUE(channel.closed());
  EXPECT_FALSE(channel.try_push(2));
  EXPECT_EQ((*run(env().loop, channel.push(2))).error().code, ErrorCode::unavailable);
  EXPECT_EQ(*run(env().loop, channel.pop()), 1);
  EXPECT_EQ((*run(env().loop, channel.pop())).error().code, ErrorCode::unavailable);
}

Task<void> push_and_note(Channel<int>& channel, int value, std::vector<ErrorCode>& failures) {
  if (Result<void> result = co_await channel.push(value); !result) {
    failures.push_back(result.error().code);
  }
}

TEST_P(ChannelTest, close_and_stop_wake_those_who_wait_to_push) {
  Channel<int> channel(1);
  channel.try_push(0);
  std::vector<ErrorCode> failures;
  TaskGroup stopped(env().loop);
  TaskGroup closed(env().loop);
  stopped.spawn(push_and_note(channel, 1, failures));
  closed.spawn(push_and_note(channel, 2, failures));
  run(env().loop, stopped.close());
  EXPECT_EQ(failures, std::vector{ErrorCode::cancelled});
  channel.close();
  run(env().loop, closed.join());
  EXPECT_EQ(failures, (std::vector{ErrorCode::cancelled, ErrorCode::unavailable}));
  EXPECT_EQ(channel.size(), 1u);
}

TEST_P(ChannelTest, a_stopped_pop_takes_nothing) {
  Channel<int> channel(1);
  std::vector<int> values;
  TaskGroup group(env().loop);
  group.spawn(collect(channel, values));
  run(env().loop, group.close());
  EXPECT_TRUE(channel.try_push(1));
  EXPECT_EQ(*run(env().loop, channel.pop()), 1);
  EXPECT_TRUE(values.empty());
}

TEST_P(ChannelTest, carries_values_that_only_move) {
  Channel<std::unique_ptr<int>> channel(1);
  ASSERT_TRUE(*run(env().loop, channel.push(std::make_unique<int>(5))));
  EXPECT_EQ(**(*run(env().loop, channel.pop())), 5);
}

}  // namespace
}  // namespace codeflare
