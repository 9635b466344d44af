#include "base/env/real_children.h"

#include "base/async/sleep.h"
#include "base/env/real_env.h"

#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace codeflare {
namespace {

using std::chrono::milliseconds;

Task<std::string> read_all(Child& child, Child::Stream stream) {
  std::string all;
  while (true) {
    Result<std::string> piece = co_await child.read(stream);
    if (!piece || piece->empty()) {
      co_return all;
    }
    all += *piece;
  }
}

// Reads until the text is there, or to the end.
Task<std::string> read_until(Child& child, std::string_view wanted) {
  std::string all;
  while (!all.contains(wanted)) {
    Result<std::string> piece = co_await child.read(Child::Stream::output);
    if (!piece || piece->empty()) {
      break;
    }
    all += *piece;
  }
  co_return all;
}

class RealChildrenTest : public testing::Test {
 protected:
  std::unique_ptr<Child> shell(std::string script) {
    Result<std::unique_ptr<Child>> child = children_->start({.program = "/bin/sh",
                                                             .arguments = {"-c", std::move(script)},
                                                             .variables = {{"X", "y z"}}});
    EXPECT_TRUE(child) << child.error().to_string();
    return *std::move(child);
  }
  ChildExit end_of(Child& child) {
    Result<ChildExit> exit = *run(world_.env().loop, child.wait());
    EXPECT_TRUE(exit);
    return *exit;
  }
  std::string output_of(Child& child) {
    return *run(world_.env().loop, read_all(child, Child::Stream::output));
  }

  RealEnv world_;
  std::unique_ptr<Children> children_ =
      make_real_children(world_.env().loop, {.reap_orphans = true});
};

TEST_F(RealChildrenTest, the_output_and_the_exit_code_arrive) {
  auto child = shell("echo \"$X\"; echo wrong >&2; exit 7");
  EXPECT_EQ(output_of(*child), "y z\n");
  EXPECT_EQ(*run(world_.env().loop, read_all(*child, Child::Stream::error_output)), "wrong\n");
  EXPECT_EQ(end_of(*child), (ChildExit{.code = 7}));
}

TEST_F(RealChildrenTest, arguments_arrive_byte_for_byte) {
  Result<std::unique_ptr<Child>> child = children_->start(
      {.program = "printf", .arguments = {"[%s]", "", " a  b ", "$HOME `id` \"'\\", "\n\t\x01"}});
  ASSERT_TRUE(child);
  EXPECT_EQ(output_of(**child), "[][ a  b ][$HOME `id` \"'\\][\n\t\x01]");
}

TEST_F(RealChildrenTest, a_signal_reaches_the_whole_group) {
  auto child = shell("sleep 1000 & echo ready; wait");
  EXPECT_EQ(*run(world_.env().loop, read_until(*child, "ready")), "ready\n");
  child->signal(SIGTERM);
  EXPECT_EQ(end_of(*child), (ChildExit{.code = 0, .signal = SIGTERM}));
}

TEST_F(RealChildrenTest, a_group_is_killed_when_its_first_process_ends) {
  auto child = shell("trap '' TERM; (trap '' TERM; sleep 1000) & echo $!; exit 0");
  const std::string pid = output_of(*child);  // ends although the sleeper holds the pipe
  EXPECT_TRUE(end_of(*child).success());
  const pid_t sleeper = std::stoi(pid);
  // Its parent is gone, so it became ours and is reaped.
  while (::kill(sleeper, 0) == 0) {
    (void)*run(world_.env().loop, sleep_for(milliseconds(5)));
  }
}

TEST_F(RealChildrenTest, orphans_that_left_the_group_are_reaped) {
  auto child = shell("setsid sh -c 'echo $$; sleep 0.05' & read x </dev/null; sleep 0.02");
  const pid_t orphan = std::stoi(*run(world_.env().loop, read_until(*child, "\n")));
  EXPECT_TRUE(end_of(*child).success());
  while (::kill(orphan, 0) == 0) {
    (void)*run(world_.env().loop, sleep_for(milliseconds(5)));
  }
}

TEST_F(RealChildrenTest, a_child_that_is_dropped_is_killed) {
  auto child = shell("echo ready; sleep 1000");
  EXPECT_EQ(*run(world_.env().loop, read_until(*child, "ready")), "ready\n");
  const auto pid = static_cast<pid_t>(child->pid());
  child.reset();
  while (::kill(pid, 0) == 0) {
    (void)*run(world_.env().loop, sleep_for(milliseconds(5)));
  }
}

TEST_F(RealChildrenTest, a_missing_program_or_directory_is_an_error) {
  EXPECT_EQ(children_->start({.program = "no-such-program-here"}).error().code,
            ErrorCode::not_found);
  EXPECT_EQ(children_->start({.program = "/no/such/program"}).error().code, ErrorCode::not_found);
  EXPECT_EQ(
      children_->start({.program = "/bin/true", .working_directory = "/no/such"}).error().code,
      ErrorCode::failed_precondition);
}

TEST_F(RealChildrenTest, a_child_dies_with_its_parent) {
  // A process between us and the child: it starts the child as we do, tells its number and dies.
  int fds[2];
  ASSERT_EQ(::pipe(fds), 0);
  const pid_t middle = ::fork();
  if (middle == 0) {
    RealEnv world;
    auto children = make_real_children(world.env().loop);
    auto child = children->start({.program = "/bin/sleep", .arguments = {"1000"}});
    const pid_t pid = child ? static_cast<pid_t>((*child)->pid()) : -1;
    (void)!::write(fds[1], &pid, sizeof pid);
    ::raise(SIGKILL);
  }
  pid_t child = 0;
  ASSERT_EQ(::read(fds[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  ASSERT_GT(child, 0);
  while (::kill(child, 0) == 0) {
    (void)*run(world_.env().loop, sleep_for(milliseconds(5)));
  }
  ::close(fds[0]);
  ::close(fds[1]);
}

}  // namespace
}  // namespace codeflare
