#include "base/env/internal/real_launcher.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/async/when.h"
#include "base/env/real_env.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

namespace codeflare {
namespace {

using namespace std::chrono_literals;

class RealLauncherTest : public testing::Test {
 protected:
  Result<CommandResult> run_command(Command command, StopToken stop = {}) {
    return *run(env_.loop, env_.launcher.run(std::move(command)), std::move(stop));
  }
  static Command shell(std::string script) {
    return Command{.program = "sh", .arguments = {"-c", std::move(script)}};
  }

  RealEnv world_;
  Env env_ = world_.env();
};

TEST_F(RealLauncherTest, returns_both_outputs_and_the_exit_code) {
  Result<CommandResult> result = run_command(shell("echo out; echo err >&2; exit 3"));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->exit_code, 3);
  EXPECT_EQ(result->output, "out\n");
  EXPECT_EQ(result->error_output, "err\n");
}

TEST_F(RealLauncherTest, feeds_more_input_than_a_pipe_holds_while_reading_output) {
  std::string big(3u << 20, 'x');
  Command command{.program = "cat", .input = big};
  EXPECT_EQ(run_command(command)->output, big);
}

TEST_F(RealLauncherTest, survives_a_program_that_does_not_read_its_input) {
  Command command{.program = "true", .input = std::string(1u << 20, 'x')};
  EXPECT_EQ(run_command(command)->exit_code, 0);
}

TEST_F(RealLauncherTest, adds_and_removes_variables) {
  ASSERT_EQ(::setenv("CODEFLARE_TEST_GONE", "1", 1), 0);
  Command command = shell("echo \"$NEW,${CODEFLARE_TEST_GONE-gone},${PATH:+path}\"");
  command.variables = {{"NEW", "a=b"}, {"CODEFLARE_TEST_GONE", std::nullopt}};
  EXPECT_EQ(run_command(command)->output, "a=b,gone,path\n");
}

TEST_F(RealLauncherTest, starts_in_the_working_directory) {
  Command command = shell("pwd");
  command.working_directory = "/usr";
  EXPECT_EQ(run_command(command)->output, "/usr\n");
  command.working_directory = "/no/such/directory";
  EXPECT_EQ(run_command(command).error().message,
            "start sh: working directory /no/such/directory does not exist");
}

TEST_F(RealLauncherTest, says_which_program_was_not_found) {
  Result<CommandResult> bare = run_command({.program = "codeflare-no-such-program"});
  ASSERT_FALSE(bare);
  EXPECT_EQ(bare.error().code, ErrorCode::not_found);
  EXPECT_EQ(bare.error().message, "program 'codeflare-no-such-program' not found on PATH");
  Result<CommandResult> with_path = run_command({.program = "/no/such/program"});
  EXPECT_EQ(with_path.error().code, ErrorCode::not_found);
  EXPECT_EQ(with_path.error().message, "program '/no/such/program' not found");
  EXPECT_EQ(run_command({.program = ""}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(run_command({.program = "/"}).error().code, ErrorCode::permission_denied);
}

TEST_F(RealLauncherTest, looks_programs_up_on_the_path_given_to_the_program) {
  Command command{.program = "sh", .arguments = {"-c", "true"}};
  command.variables = {{"PATH", "/no/such/place::/etc"}};
  EXPECT_EQ(run_command(command).error().code, ErrorCode::not_found);
}

TEST_F(RealLauncherTest, stops_a_program_that_prints_too_much) {
  Command command = shell("yes");
  command.output_bytes_max = 100'000;
  Result<CommandResult> result = run_command(command);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::too_large);
  EXPECT_EQ(result.error().message, "sh printed more than 100000 bytes");
}

TEST_F(RealLauncherTest, reports_death_by_signal_as_a_shell_does) {
  EXPECT_EQ(run_command(shell("kill -TERM $$"))->exit_code, 128 + SIGTERM);
}

TEST_F(RealLauncherTest, does_not_wait_for_children_left_behind) {
  Result<CommandResult> result = run_command(shell("sleep 1000 & echo $!"));
  ASSERT_TRUE(result);
  pid_t left = std::stoi(result->output);
  EXPECT_EQ(::kill(left, SIGKILL), 0);
}

TEST_F(RealLauncherTest, gives_the_program_default_signals_and_no_descriptors_of_ours) {
  // The descriptor of `ls` itself is the fourth.
  EXPECT_EQ(run_command(shell("ls /proc/self/fd | wc -l"))->output, "4\n");
  // RealEnv ignores SIGPIPE; a program started by it must not.
  EXPECT_EQ(run_command(shell("kill -PIPE $$"))->exit_code, 128 + SIGPIPE);
}

TEST_F(RealLauncherTest, runs_many_programs_at_once) {
  std::vector<Task<Result<CommandResult>>> tasks;
  for (int i = 0; i < 20; ++i) {
    tasks.push_back(env_.launcher.run(shell("echo " + std::to_string(i))));
  }
  auto results = *run(env_.loop, when_all(std::move(tasks)));
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(results[static_cast<std::size_t>(i)]->output, std::to_string(i) + "\n");
  }
}

// Stops `source` once the file is there: the program has come so far.
Task<void> stop_when_there(Env env, std::string path, StopSource& source) {
  while (!env.files.exists(path)) {
    if (!co_await sleep_for(1ms)) {
      co_return;
    }
  }
  source.request_stop();
}

// Until the process is gone or a zombie, which whoever adopted it will reap.
Task<Result<void>> wait_for_end(Env env, std::string pid) {
  while (true) {
    Result<std::string> status = env.files.read("/proc/" + pid + "/stat");
    if (!status || status->contains(") Z ") || status->contains(") X ")) {
      co_return Result<void>();
    }
    CO_TRY(co_await sleep_for(1ms));
  }
}

TEST_F(RealLauncherTest, kills_the_whole_group_when_cancelled) {
  std::string directory = join_path(testing::TempDir(), "codeflare-" + env_.random.uuid());
  ASSERT_TRUE(env_.files.make_directories(directory));
  StopSource source;
  TaskGroup group(env_.loop);
  group.spawn(stop_when_there(env_, join_path(directory, "ready"), source));
  Command command = shell("sleep 1000 & echo $! > pid; echo > ready; wait");
  command.working_directory = directory;
  Result<CommandResult> result = run_command(command, source.token());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::cancelled);
  run(env_.loop, group.join());
  std::string pid = env_.files.read(join_path(directory, "pid")).value();
  pid.pop_back();
  EXPECT_TRUE(*run(env_.loop, with_timeout(30s, "end of the grandchild", wait_for_end(env_, pid))));
  EXPECT_TRUE(env_.files.remove_all(directory));
}

TEST_F(RealLauncherTest, starts_nothing_when_cancelled_before) {
  StopSource source;
  source.request_stop();
  Result<CommandResult> result = run_command({.program = "/no/such/program"}, source.token());
  EXPECT_EQ(result.error().code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace codeflare
