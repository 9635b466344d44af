#include "runtime/work_queue.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/sim_env.h"

#include <gtest/gtest.h>

#include <vector>

namespace codeflare::runtime {
namespace {

using namespace std::chrono_literals;

const ObjectKey kA{"default", "a"};
const ObjectKey kB{"default", "b"};

// Takes the next key, which must be there already.
ObjectKey take_now(Env env, WorkQueue& queue) {
  auto key = run(env.loop, with_timeout(1ns, "take", queue.take()));
  return key && *key ? **key : ObjectKey{"", "nothing was ready"};
}

Duration wait_for_key(Env env, WorkQueue& queue) {
  const Instant begin = env.loop.now();
  auto key = run(env.loop, queue.take());
  EXPECT_TRUE(key && *key);
  queue.done(**key);
  return env.loop.now() - begin;
}

TEST(WorkQueue, hands_out_keys_in_the_order_of_their_first_add) {
  SimEnv world;
  WorkQueue queue(world.env());
  queue.add(kB);
  queue.add(kA);
  queue.add(kB);
  EXPECT_EQ(queue.depth(), 2u);
  EXPECT_EQ(take_now(world.env(), queue), kB);
  EXPECT_EQ(take_now(world.env(), queue), kA);
  EXPECT_EQ(queue.depth(), 0u);
}

TEST(WorkQueue, gives_a_key_to_one_worker_at_a_time_and_once_more_when_added_meanwhile) {
  SimEnv world;
  WorkQueue queue(world.env());
  queue.add(kA);
  EXPECT_EQ(take_now(world.env(), queue), kA);
  queue.add(kA);
  queue.add(kA);
  EXPECT_EQ(queue.depth(), 0u) << "a worker has it";
  queue.done(kA);
  EXPECT_EQ(take_now(world.env(), queue), kA);
  queue.done(kA);
  EXPECT_EQ(queue.depth(), 0u) << "two adds are one look";
}

TEST(WorkQueue, keeps_the_earliest_of_several_delays) {
  SimEnv world;
  WorkQueue queue(world.env());
  queue.add_after(kA, 10s);
  queue.add_after(kA, 3s);
  queue.add_after(kA, 20s);
  EXPECT_EQ(queue.delayed(), 1u);
  EXPECT_EQ(wait_for_key(world.env(), queue), 3s);
  EXPECT_EQ(queue.delayed(), 0u);
}

TEST(WorkQueue, an_immediate_add_replaces_a_delayed_one) {
  SimEnv world;
  WorkQueue queue(world.env());
  queue.add_after(kA, 10s);
  queue.add(kA);
  EXPECT_EQ(wait_for_key(world.env(), queue), 0s);
  EXPECT_EQ(queue.delayed(), 0u);
}

TEST(WorkQueue, survives_a_delay_beyond_the_end_of_time) {
  SimEnv world;
  WorkQueue queue(world.env());
  queue.add_after(kA, Duration::max());
  queue.add_after(kB, 1s);
  EXPECT_EQ(take_now(world.env(), queue).name, "nothing was ready");
  EXPECT_EQ(wait_for_key(world.env(), queue), 1s - 1ns);
}

TEST(WorkQueue, retries_of_one_key_wait_twice_as_long_each_time_up_to_the_cap) {
  SimEnv world;
  WorkQueue queue(world.env(), {.backoff_initial = 5ms, .backoff_max = 1s});
  for (Duration expected : {5ms, 10ms, 20ms, 40ms, 80ms, 160ms, 320ms, 640ms, 1000ms, 1000ms}) {
    queue.add_rate_limited(kA);
    EXPECT_EQ(wait_for_key(world.env(), queue), expected);
  }
  EXPECT_EQ(queue.failures(kA), 10);
  queue.add_rate_limited(kB);
  EXPECT_EQ(wait_for_key(world.env(), queue), 5ms) << "each key has its own backoff";
  queue.forget(kA);
  queue.add_rate_limited(kA);
  EXPECT_EQ(wait_for_key(world.env(), queue), 5ms);
}

TEST(WorkQueue, backoff_does_not_overflow_after_very_many_failures) {
  SimEnv world;
  WorkQueue queue(world.env());
  for (int i = 0; i < 200; ++i) {
    queue.add_rate_limited(kA);
    EXPECT_LE(wait_for_key(world.env(), queue), 1000s);
  }
}

TEST(WorkQueue, shut_down_ends_waiting_workers_and_takes_no_more_keys) {
  SimEnv world;
  Env env = world.env();
  WorkQueue queue(env);
  TaskGroup group(env.loop);
  std::vector<ErrorCode> ends;
  auto worker = [](WorkQueue& from, std::vector<ErrorCode>& into) -> Task<void> {
    Result<ObjectKey> key = co_await from.take();
    into.push_back(key ? ErrorCode::internal : key.error().code);
  };
  group.spawn(worker(queue, ends));
  group.spawn(worker(queue, ends));
  env.loop.post([&] { queue.shut_down(); });
  ASSERT_TRUE(run(env.loop, group.join()));
  EXPECT_EQ(ends, std::vector<ErrorCode>(2, ErrorCode::unavailable));
  queue.add(kA);
  queue.add_after(kB, 1s);
  EXPECT_EQ(queue.depth() + queue.delayed(), 0u);
}

TEST(WorkQueue, tells_how_long_keys_waited_and_were_worked_on) {
  struct Recorder : WorkQueue::Observer {
    int adds = 0;
    Duration waited{0};
    Duration worked{0};
    void added() override { ++adds; }
    void taken(Duration d) override { waited += d; }
    void finished(Duration d) override { worked += d; }
  } recorder;
  SimEnv world;
  Env env = world.env();
  WorkQueue queue(env);
  queue.set_observer(&recorder);
  queue.add(kA);
  queue.add(kA);
  ASSERT_TRUE(run(env.loop, sleep_for(2s)));
  EXPECT_EQ(take_now(env, queue), kA);
  ASSERT_TRUE(run(env.loop, sleep_for(3s)));
  EXPECT_EQ(queue.unfinished_work(), 3s);
  EXPECT_EQ(queue.longest_running(), 3s);
  queue.done(kA);
  EXPECT_EQ(recorder.adds, 1);
  EXPECT_EQ(recorder.waited, 2s);
  EXPECT_EQ(recorder.worked, 3s);
}

}  // namespace
}  // namespace codeflare::runtime
