#include "base/env/sim_env.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/real_env.h"

#include <gtest/gtest.h>

#include <climits>
#include <set>
#include <string>

namespace codeflare {
namespace {

using namespace std::chrono_literals;

Task<Result<CommandResult>> greet(Command command) {
  CO_TRY(co_await sleep_for(1h));
  co_return CommandResult{.exit_code = 0, .output = "hello " + command.arguments.at(0)};
}

TEST(SimLauncher, runs_the_scripted_program_in_virtual_time) {
  SimEnv world;
  Env env = world.env();
  world.set_program("greet", greet);
  Instant before = env.clock.now();
  Command command{.program = "greet", .arguments = {"world"}};
  EXPECT_EQ((*run(env.loop, env.launcher.run(command)))->output, "hello world");
  EXPECT_EQ(env.clock.now() - before, 1h);
  command.output_bytes_max = 3;
  EXPECT_EQ((*run(env.loop, env.launcher.run(command))).error().code, ErrorCode::too_large);
  EXPECT_EQ((*run(env.loop, env.launcher.run({.program = "other"}))).error().message,
            "program 'other' not found on PATH");
}

Task<void> tick(Duration period, int times, int& fired) {
  for (int i = 0; i < times; ++i) {
    if (!co_await sleep_for(period)) {
      co_return;
    }
    ++fired;
  }
}

TEST(SimLoop, an_hour_of_timers_takes_well_under_a_second) {
  SimEnv world;
  Env env = world.env();
  RealEnv stopwatch;
  Instant real_start = stopwatch.env().clock.now();
  Instant start = env.clock.now();
  WallTime wall_start = env.clock.wall();
  TaskGroup group(env.loop);
  int fired = 0;
  for (int i = 1; i <= 40; ++i) {
    // A thousand firings each, the last of them after exactly an hour.
    group.spawn(tick(3600ms, 1000, fired));
  }
  ASSERT_TRUE(run(env.loop, group.join()));
  EXPECT_EQ(fired, 40'000);
  EXPECT_EQ(env.clock.now() - start, 1h);
  EXPECT_EQ(env.clock.wall() - wall_start, 1h);
  EXPECT_LT(stopwatch.env().clock.now() - real_start, 900ms);
}

Task<void> wander(Env env, SimEnv& world, std::string name) {
  for (int i = 0; i < 20; ++i) {
    Duration pause(env.random.below(1'000'000'000));
    if (!co_await sleep_for(pause)) {
      co_return;
    }
    co_await run_blocking(env, [] {});
    world.trace(name);
  }
}

std::uint64_t wandering_hash(SimEnv::Options options) {
  SimEnv world(options);
  TaskGroup group(world.env().loop);
  for (const char* name : {"a", "b", "c"}) {
    group.spawn(wander(world.env(), world, name));
  }
  EXPECT_TRUE(run(world.env().loop, group.join()));
  EXPECT_GT(world.steps(), 120u);
  return world.trace_hash();
}

TEST(SimEnv, the_same_seed_gives_the_same_trace_and_another_seed_another) {
  for (bool shuffle : {false, true}) {
    std::set<std::uint64_t> hashes;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      SimEnv::Options options{.seed = seed, .shuffle = shuffle};
      std::uint64_t hash = wandering_hash(options);
      EXPECT_EQ(hash, wandering_hash(options));
      hashes.insert(hash);
    }
    EXPECT_EQ(hashes.size(), 50u);
  }
}

TEST(SimEnv, the_trace_covers_what_was_noted_and_where_it_ends) {
  auto hash_of = [](std::initializer_list<std::string_view> notes) {
    SimEnv world;
    for (std::string_view note : notes) {
      world.trace(note);
    }
    return world.trace_hash();
  };
  EXPECT_EQ(hash_of({"ab", "c"}), hash_of({"ab", "c"}));
  EXPECT_NE(hash_of({"ab", "c"}), hash_of({"a", "bc"}));
  EXPECT_NE(hash_of({"ab"}), hash_of({"ba"}));
}

Task<void> note(std::string& order, char name, Duration pause) {
  (void)co_await sleep_for(pause);
  order += name;
}

std::string order_with(SimEnv::Options options, Duration pause) {
  SimEnv world(options);
  TaskGroup group(world.env().loop);
  std::string order;
  for (char name : {'a', 'b', 'c', 'd'}) {
    group.spawn(note(order, name, pause));
  }
  EXPECT_TRUE(run(world.env().loop, group.join()));
  return order;
}

TEST(SimLoop, runs_first_come_first_served_without_shuffle) {
  EXPECT_EQ(order_with({.seed = 1}, 1s), "abcd");
  EXPECT_EQ(order_with({.seed = 2}, 1s), "abcd");
}

TEST(SimLoop, shuffle_finds_every_order_of_things_that_happen_at_one_instant) {
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    orders.insert(order_with({.seed = seed, .shuffle = true}, 1s));
  }
  EXPECT_EQ(orders.size(), 24u);
}

Task<void> draw(Env env, std::uint64_t& value) {
  value = env.random.next();
  co_return;
}

TEST(SimEnv, shuffle_does_not_change_what_components_draw) {
  std::uint64_t plain = 0;
  std::uint64_t shuffled = 0;
  SimEnv one({.seed = 7});
  SimEnv two({.seed = 7, .shuffle = true});
  run(one.env().loop, draw(one.env(), plain));
  run(two.env().loop, draw(two.env(), shuffled));
  EXPECT_EQ(plain, shuffled);
}

TEST(SimEnv, has_only_the_variables_it_was_given) {
  SimEnv world;
  EXPECT_EQ(world.env().variables.get("PATH"), std::nullopt);
  world.set_variable("PATH", "/bin");
  EXPECT_EQ(world.env().variables.get("PATH"), "/bin");
}

TEST(SimEnv, blocking_work_takes_virtual_time_up_to_the_limit) {
  SimEnv world({.blocking_delay_max = 10ms});
  Env env = world.env();
  std::set<Duration> delays;
  for (int i = 0; i < 100; ++i) {
    Instant before = env.clock.now();
    EXPECT_EQ(run(env.loop, run_blocking(env, [] { return 5; })), 5);
    delays.insert(env.clock.now() - before);
  }
  EXPECT_GT(delays.size(), 90u);
  EXPECT_LE(*delays.rbegin(), 10ms);
}

TEST(SimLoopDeathTest, time_that_stands_still_is_caught) {
  SimEnv world({.steps_per_instant_max = 1000});
  Env env = world.env();
  EXPECT_DEATH(
      {
        int fired = 0;
        run(env.loop, tick(0s, INT_MAX, fired));
      },
      "virtual time stands still");
}

}  // namespace
}  // namespace codeflare
