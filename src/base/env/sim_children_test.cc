#include "base/env/sim_children.h"

#include "base/async/sleep.h"
#include "base/env/sim_env.h"

#include <gtest/gtest.h>

#include <csignal>
#include <string>

namespace codeflare {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

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

class SimChildrenTest : public testing::Test {
 protected:
  SimEnv world_;
  SimChildren children_{world_.env().loop};
};

Task<ChildExit> counts_to_three(std::shared_ptr<SimProcess> process) {
  for (int i = 1; i <= 3; ++i) {
    if (!co_await process->sleep(seconds(1))) {
      co_return ChildExit{};
    }
    process->write(Child::Stream::output, std::to_string(i));
  }
  co_return ChildExit{.code = 5};
}

TEST_F(SimChildrenTest, a_script_writes_and_ends) {
  children_.set_program("count", counts_to_three);
  auto child = *children_.start({.program = "count"});
  EXPECT_EQ(*run(world_.env().loop, read_all(*child, Child::Stream::output)), "123");
  EXPECT_EQ(*run(world_.env().loop, child->wait()), (ChildExit{.code = 5}));
  EXPECT_TRUE(children_.running().empty());
  run(world_.env().loop, children_.close());
}

Task<ChildExit> freeze_and_kill(Env env, SimChildren* children) {
  auto child = *children->start({.program = "count"});
  (void)co_await sleep_for(milliseconds(1500));
  child->signal(SIGSTOP);
  (void)co_await sleep_for(seconds(100));
  EXPECT_EQ(*co_await child->read(Child::Stream::output), "1");
  EXPECT_EQ(children->running().size(), 1u);
  child->signal(SIGKILL);
  Result<ChildExit> exit = co_await child->wait();
  EXPECT_EQ(env.clock.now().time_since_epoch(), seconds(1) + milliseconds(101500));
  co_return *exit;
}

TEST_F(SimChildrenTest, a_frozen_script_waits_and_can_be_killed) {
  children_.set_program("count", counts_to_three);
  EXPECT_EQ(*run(world_.env().loop, freeze_and_kill(world_.env(), &children_)),
            (ChildExit{.code = 0, .signal = SIGKILL}));
  run(world_.env().loop, children_.close());
}

Task<ChildExit> ends_by_notice(std::shared_ptr<SimProcess> process) {
  process->handle(SIGTERM);
  while (process->signals().empty()) {
    if (!co_await process->signalled().wait()) {
      co_return ChildExit{};
    }
  }
  co_return ChildExit{.code = 3};
}

Task<ChildExit> terminate(SimChildren* children) {
  auto child = *children->start({.program = "waits"});
  (void)co_await sleep_for(seconds(1));
  child->signal(SIGTERM);
  co_return *co_await child->wait();
}

TEST_F(SimChildrenTest, a_handled_signal_is_a_notice) {
  children_.set_program("waits", ends_by_notice);
  EXPECT_EQ(*run(world_.env().loop, terminate(&children_)), (ChildExit{.code = 3}));
  run(world_.env().loop, children_.close());
}

}  // namespace
}  // namespace codeflare
