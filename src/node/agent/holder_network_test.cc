#include "node/agent/holder_network.h"

#include "base/async/sleep.h"
#include "base/env/sim_env.h"
#include "node/agent/keeper_runtime.h"
#include "node/system/forbidden.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace codeflare::node {
namespace {

// A connection that says nothing until the holder ends.
class Silence final : public net::LocalStream {
 public:
  explicit Silence(WaitList& ended) : ended_(ended) {}
  Task<Result<std::string>> read() override {
    CO_TRY(co_await ended_.wait());
    co_return std::string();
  }
  Task<Result<void>> write(std::string /*bytes*/) override { co_return Result<void>(); }

 private:
  WaitList& ended_;
};

// A scripted holder in virtual time.
struct World {
  SimEnv sim;
  Env env = sim.env();
  bool alive = false;
  int launched = 0;
  std::string why_not;
  int exit_code = 1;  // then
  WaitList ended;
  std::vector<std::string> asked;  // verbs
  std::vector<PodRecord> pods;
  HolderNetwork network{
      env,
      {.directory = "/net", .program = "me"},
      [this](const std::string&, const HolderRequest& request) { return answer(request); },
      [this](const std::string&) -> Result<std::unique_ptr<net::LocalStream>> {
        if (!alive) {
          return fail(unavailable("nobody listens"));
        }
        return std::make_unique<Silence>(ended);
      }};

  World() {
    sim.set_program("me", [this](Command command) { return launch(std::move(command)); });
  }
  ~World() { EXPECT_TRUE(run(env.loop, network.stop())); }

  Task<Result<CommandResult>> launch(Command command) {
    EXPECT_EQ(command.arguments, (std::vector<std::string>{"node-holder", "/net"}));
    ++launched;
    const bool fresh = !alive && why_not.empty();
    alive = why_not.empty();
    co_return CommandResult{.exit_code = alive ? 0 : exit_code,
                            .output = fresh ? "123\n" : "",
                            .error_output = why_not + "\nmore"};
  }
  Result<HolderReply> answer(const HolderRequest& request) {
    if (!alive) {
      return fail(unavailable("nobody listens"));
    }
    asked.push_back(request.verb);
    HolderReply reply;
    reply.answer.gateway = "10.244.0.1";
    reply.answer.pods = pods;
    if (request.verb == "attach") {
      EXPECT_EQ(request.block, "10.244.0.0/24");
      reply.answer.address = "10.244.0.2";
    }
    return reply;
  }
  void die() {
    alive = false;
    ended.notify_all();
    settle();
  }
  void settle() { EXPECT_TRUE(*run(env.loop, sleep_for(std::chrono::seconds(1)))); }
};

TEST(HolderNetwork, learns_what_a_holder_has_from_before) {
  World w;
  w.pods = {{.uid = "u", .ns = "n", .name = "p", .address = "10.244.0.7"}};
  ASSERT_TRUE(*run(w.env.loop, w.network.start()));
  EXPECT_EQ(w.network.address_of("u"), "10.244.0.7");
  EXPECT_EQ(w.network.nameserver(), "10.244.0.1");
  EXPECT_EQ(w.network.holder(), "/net/holder.sock");
  ASSERT_TRUE(*run(w.env.loop, w.network.keep({})));
  EXPECT_EQ(w.network.address_of("u"), std::nullopt);
}

TEST(HolderNetwork, says_why_there_can_be_none) {
  World w;
  w.why_not = "make user namespaces: operation not permitted";
  const auto started = *run(w.env.loop, w.network.start());
  ASSERT_FALSE(started);
  EXPECT_TRUE(started.error().message.ends_with(w.why_not)) << started.error().message;
}

TEST(HolderNetwork, knows_what_is_forbidden_from_what_went_wrong) {
  for (const int code : {1, kForbiddenExit}) {
    World w;
    w.why_not = "no";
    w.exit_code = code;
    const auto started = *run(w.env.loop, w.network.start());
    EXPECT_EQ(started.error().code == ErrorCode::unsupported, code == kForbiddenExit);
  }
}

Task<Result<CommandResult>> ends_with(int code) {
  co_return CommandResult{.exit_code = code, .error_output = "no space left on device\n"};
}

TEST(Isolation, is_not_taken_for_forbidden_because_something_went_wrong) {
  for (const int code : {0, 1, kForbiddenExit}) {
    SimEnv sim;
    const Env env = sim.env();
    sim.set_program("me", [code](const Command&) { return ends_with(code); });
    const auto probed = *run(env.loop, probe_isolation(env, "me", "/node"));
    EXPECT_EQ(probed.has_value(), code == 0);
    EXPECT_EQ(!probed && probed.error().code == ErrorCode::unsupported, code == kForbiddenExit);
  }
}

TEST(HolderNetwork, starts_another_holder_when_one_dies_and_tells_it_the_services) {
  World w;
  ASSERT_TRUE(*run(w.env.loop, w.network.start()));
  ASSERT_TRUE(*run(w.env.loop, w.network.set_service({.ns = "n", .name = "s"})));
  ASSERT_TRUE(*run(w.env.loop, w.network.set_service({.ns = "n", .name = "s"})));
  EXPECT_EQ(w.asked, (std::vector<std::string>{"state", "service"}));
  w.asked.clear();
  w.die();
  EXPECT_EQ(w.launched, 2);
  EXPECT_EQ(w.asked, (std::vector<std::string>{"state", "service"}));
}

TEST(HolderNetwork, a_holder_that_was_started_for_nobody_is_needless) {
  World w;
  ASSERT_TRUE(*run(w.env.loop, w.network.start()));
  EXPECT_TRUE(w.network.is_needless());
  ASSERT_TRUE(*run(w.env.loop, w.network.attach({.uid = "u"})));
  EXPECT_FALSE(w.network.is_needless());
}

TEST(HolderNetwork, a_holder_that_others_started_is_not_ours_to_end) {
  World w;
  w.alive = true;
  ASSERT_TRUE(*run(w.env.loop, w.network.start()));
  EXPECT_FALSE(w.network.is_needless());
}

TEST(HolderNetwork, a_request_that_meets_no_holder_is_made_once_more) {
  World w;
  ASSERT_TRUE(*run(w.env.loop, w.network.start()));
  w.alive = false;
  const auto address = *run(w.env.loop, w.network.attach({.uid = "u"}));
  ASSERT_TRUE(address) << address.error().to_string();
  EXPECT_EQ(*address, "10.244.0.2");
  EXPECT_EQ(w.launched, 2);
}

}  // namespace
}  // namespace codeflare::node
