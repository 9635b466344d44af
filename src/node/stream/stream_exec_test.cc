#include "node/stream/stream_exec.h"

#include "base/async/sleep.h"
#include "base/env/sim_env.h"
#include "node/testing/fake_pod_streams.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace codeflare::node {
namespace {

using testing::FakeProgram;

struct World {
  SimEnv sim;
  Env env = sim.env();
  testing::FakePodStreams streams{env.loop};
  StreamExec programs{streams};

  ~World() { EXPECT_TRUE(codeflare::run(env.loop, streams.close())); }
};

Task<int> complain(FakeProgram& self) {
  static_cast<void>(co_await self.error_output().write("not yet"));
  co_return 1;
}

Task<int> hang(FakeProgram& self) {
  while (!self.left) {
    co_await self.changed.wait_uncancellable();
  }
  co_return 137;
}

TEST(StreamExec, a_program_that_fails_is_a_result_with_what_it_said) {
  World w;
  w.streams.program = complain;
  const auto ended = *codeflare::run(
      w.env.loop, w.programs.run({.uid = "u", .container = "c", .command = {"check", "-v"}}));
  ASSERT_TRUE(ended) << ended.error().to_string();
  EXPECT_EQ(ended->exit_code, 1);
  EXPECT_EQ(ended->output, "not yet");
  EXPECT_EQ(w.streams.last->options.container, "c");
  EXPECT_EQ(w.streams.last->options.command, (std::vector<std::string>{"check", "-v"}));
  EXPECT_FALSE(w.streams.last->options.input);
}

TEST(StreamExec, who_runs_out_of_time_is_killed) {
  World w;
  w.streams.program = hang;
  const auto ended = *codeflare::run(
      w.env.loop, with_timeout(std::chrono::seconds(1), "it",
                               w.programs.run({.uid = "u", .container = "c", .command = {"x"}})));
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::deadline_exceeded);
  EXPECT_TRUE(w.streams.last->options.kill_when_left);
  EXPECT_TRUE(w.streams.last->left);
}

TEST(StreamExec, what_cannot_be_started_is_an_error) {
  World w;
  EXPECT_FALSE(*codeflare::run(w.env.loop,
                               w.programs.run({.uid = "u", .container = "c", .command = {"x"}})));
}

}  // namespace
}  // namespace codeflare::node
