#include "base/env/real_env.h"

#include "base/async/channel.h"
#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/async/when.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <csignal>
#include <cstdlib>
#include <set>
#include <sys/resource.h>
#include <thread>
#include <vector>

namespace codeflare {
namespace {

using namespace std::chrono_literals;

Task<void> wait_for_count(const int& count, int wanted, WaitList& changed) {
  while (count < wanted) {
    co_await changed.wait_uncancellable();
  }
}

TEST(RealLoop, other_threads_may_post_work) {
  RealEnv world;
  Env env = world.env();
  int count = 0;
  WaitList changed;
  std::set<std::thread::id> ran_on;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) {
        env.loop.post_from_any_thread([&] {
          ++count;
          ran_on.insert(std::this_thread::get_id());
          changed.notify_all();
        });
      }
    });
  }
  EXPECT_TRUE(run(env.loop, wait_for_count(count, 4000, changed)));
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(count, 4000);
  EXPECT_EQ(ran_on, std::set{std::this_thread::get_id()});
}

TEST(RealBlocking, runs_work_off_the_loop_and_returns_its_value) {
  RealEnv world;
  Env env = world.env();
  auto here = std::this_thread::get_id();
  EXPECT_NE(run(env.loop, run_blocking(env, [] { return std::this_thread::get_id(); })), here);
  bool ran = false;
  EXPECT_TRUE(run(env.loop, run_blocking(env, [&] { ran = true; })));
  EXPECT_TRUE(ran);
}

TEST(RealBlocking, uses_as_many_threads_as_allowed_and_no_more) {
  RealEnv world({.blocking_threads = 3});
  Env env = world.env();
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  // Three must be inside at once before any may leave, so nine pass only with three threads.
  std::barrier meet(3);
  auto work = [&] {
    int now = ++inside;
    int before = most.load();
    while (before < now && !most.compare_exchange_weak(before, now)) {
    }
    meet.arrive_and_wait();
    --inside;
    meet.arrive_and_wait();
    return 1;
  };
  std::vector<Task<int>> tasks;
  for (int i = 0; i < 9; ++i) {
    tasks.push_back(run_blocking(env, work));
  }
  EXPECT_EQ(run(env.loop, when_all(std::move(tasks)))->size(), 9u);
  EXPECT_EQ(most, 3);
}

TEST(RealBlocking, an_effect_is_always_known_even_after_a_stop) {
  RealEnv world;
  Env env = world.env();
  StopSource source;
  source.request_stop();
  EXPECT_EQ(run(env.loop, run_blocking(env, [] { return 3; }), source.token()), 3);
}

TEST(RealBlocking, the_loop_goes_on_while_work_blocks) {
  RealEnv world;
  Env env = world.env();
  std::atomic<bool> release = false;
  TaskGroup group(env.loop);
  group.spawn(run_blocking(env, [&] { release.wait(false); }));
  // Would never return if the blocking work held the loop.
  EXPECT_TRUE(*run(env.loop, sleep_for(1ms)));
  EXPECT_EQ(group.size(), 1u);
  release = true;
  release.notify_all();
  EXPECT_TRUE(run(env.loop, group.join()));
}

TEST(RealBlocking, threads_apart_do_not_wait_for_the_others) {
  RealEnv world({.blocking_threads = 1});
  Env env = world.env();
  Blocking& apart = world.more_threads(1);
  std::atomic<bool> release = false;
  TaskGroup group(env.loop);
  group.spawn(run_blocking(env, [&] { release.wait(false); }));
  int done = 0;
  WaitList changed;
  apart.submit([] {},
               [&] {
                 ++done;
                 changed.notify_all();
               });
  EXPECT_TRUE(run(env.loop, wait_for_count(done, 1, changed)));
  EXPECT_EQ(group.size(), 1u);
  release = true;
  release.notify_all();
  EXPECT_TRUE(run(env.loop, group.join()));
}

TEST(RealEnv, can_be_destroyed_with_blocking_work_in_the_queue) {
  std::atomic<int> begun = 0;
  {
    RealEnv world({.blocking_threads = 1});
    Env env = world.env();
    for (int i = 0; i < 10; ++i) {
      env.blocking.submit([&] { ++begun; }, [] { FAIL() << "the loop does not run"; });
    }
  }
  EXPECT_LE(begun, 10);
}

Task<void> signal_ourselves(std::vector<int>& arrived, WaitList& changed) {
  for (int signal : {SIGUSR1, SIGUSR2, SIGUSR1}) {
    std::size_t before = arrived.size();
    std::raise(signal);
    while (arrived.size() == before) {
      co_await changed.wait_uncancellable();
    }
  }
}

TEST(RealEnv, tells_every_arrival_of_a_signal) {
  RealEnv world;
  Env env = world.env();
  std::vector<int> arrived;
  WaitList changed;
  world.on_signals({SIGUSR1, SIGUSR2}, [&](int signal) {
    arrived.push_back(signal);
    changed.notify_all();
  });
  EXPECT_TRUE(run(env.loop, signal_ourselves(arrived, changed)));
  EXPECT_EQ(arrived, (std::vector{SIGUSR1, SIGUSR2, SIGUSR1}));
}

TEST(RealEnv, reads_the_variables_of_the_process) {
  RealEnv world;
  ASSERT_EQ(::setenv("CODEFLARE_TEST", "x=y", 1), 0);
  EXPECT_EQ(world.env().variables.get("CODEFLARE_TEST"), "x=y");
  ASSERT_EQ(::unsetenv("CODEFLARE_TEST"), 0);
  EXPECT_EQ(world.env().variables.get("CODEFLARE_TEST"), std::nullopt);
}

TEST(RealFileSystem, a_lock_can_be_taken_on_a_full_disk) {
  RealEnv world;
  Env env = world.env();
  const std::string path = join_path(::testing::TempDir(), "codeflare-lock-" + env.random.uuid());
  ASSERT_TRUE(env.files.create(path));
  // No file may grow, as if there was no room for it.
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit sizes{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &sizes), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = sizes.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  const Result<void> written = env.files.append(path, "x");
  const Result<std::unique_ptr<FileLock>> taken = env.files.lock(path);
  const Result<std::unique_ptr<FileLock>> again = env.files.lock(path);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &sizes), 0);
  std::signal(SIGXFSZ, before);
  EXPECT_FALSE(written);
  EXPECT_TRUE(taken) << taken.error().to_string();
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::failed_precondition);
  EXPECT_TRUE(env.files.remove(path));
}

Task<void> take_a_turn() {
  co_await yield();
}

TEST(RealLoop, reports_steps_that_take_longer_than_the_limit) {
  RealEnv world;
  Loop& loop = world.env().loop;
  int reported = 0;
  loop.watch_steps(Duration::zero(), [&](const LoopStep& step) {
    EXPECT_GT(step.took, Duration::zero());
    ++reported;
  });
  ASSERT_TRUE(run(loop, take_a_turn()));
  EXPECT_GT(reported, 0);
  loop.watch_steps(std::chrono::hours(1), [&](const LoopStep&) { ADD_FAILURE(); });
  ASSERT_TRUE(run(loop, take_a_turn()));
  loop.watch_steps({}, nullptr);
  ASSERT_TRUE(run(loop, take_a_turn()));
}

TEST(RealClock, counts_on_and_knows_the_century) {
  RealEnv world;
  Clock& clock = world.env().clock;
  Instant before = clock.now();
  EXPECT_GE(clock.now(), before);
  EXPECT_GT(clock.wall(), parse_rfc3339("2024-01-01T00:00:00Z").value());
}

}  // namespace
}  // namespace codeflare
