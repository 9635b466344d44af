#include "node/agent/keeper_link.h"

#include "base/async/task_group.h"
#include "base/async/wait_list.h"
#include "base/env/sim_env.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace codeflare::node {
namespace {

// Takes nothing and says nothing, as a process does that is stopped.
class Stuck final : public net::ByteStream {
 public:
  Task<Result<std::string>> read() override {
    CO_TRY(co_await never_.wait());
    co_return std::string();
  }
  Task<Result<void>> write(std::string /*bytes*/) override {
    CO_TRY(co_await never_.wait());
    co_return Result<void>();
  }

 private:
  WaitList never_;
};

TEST(KeeperLink, ends_when_half_a_request_was_written) {
  SimEnv sim;
  const Env env = sim.env();
  KeeperLink link(std::make_unique<Stuck>(), [](const KeeperAnswer&) {});
  TaskGroup group(env.loop);
  group.spawn(link.run());
  const std::optional<Result<void>> asked = run(env.loop, link.call({.verb = "state"}));
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->error().code, ErrorCode::unavailable);
  // A follower notices, and can try another one.
  EXPECT_TRUE(run(env.loop, group.join()));
  EXPECT_FALSE(link.open());
}

}  // namespace
}  // namespace codeflare::node
