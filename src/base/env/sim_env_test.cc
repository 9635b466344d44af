#include "base/env/sim_env.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace codeflare
