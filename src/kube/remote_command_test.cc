#include "kube/remote_command.h"

#include "base/async/sleep.h"
#include "base/env/sim_env.h"
#include "kube/testing/pod_server.h"
#include "net/memory_pair.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace codeflare::kube {
namespace {

using net::MemoryPair;
using net::WebSocketConnection;
using testing::hear;
using testing::PodServer;
using testing::say;
using namespace std::chrono_literals;

constexpr const char* kSuccess = R"({"kind":"Status","apiVersion":"v1","status":"Success"})";

struct World {
  SimEnv sim;
  Env env = sim.env();
  MemoryPair input;
  MemoryPair output;
  MemoryPair error_output;
  Channel<net::TerminalSize> sizes{4};

  Result<int> run(PodServer& server, RemoteCommand command, CommandStreams streams) {
    auto done = codeflare::run(env.loop,
                               with_timeout(std::chrono::hours(1), "test",
                                            run_command(env, server, std::move(command), streams)));
    return done ? *std::move(done) : Result<int>(fail(internal_error("the command hangs")));
  }
  CommandStreams all() {
    return {.input = &input.near(), .output = &output.near(), .error_output = &error_output.near()};
  }
  // The text that was written; the other end is closed first.
  std::string text(MemoryPair& pair) {
    pair.close_near();
    auto bytes = codeflare::run(env.loop, pair.far().read());
    return bytes && *bytes ? **bytes : "?";
  }
};

Task<void> say_both_and_fail(WebSocketConnection& socket) {
  co_await say(socket, '\x01', "");
  co_await say(socket, '\x01', "out");
  co_await say(socket, '\x02', "err");
  co_await say(socket, '\x03', R"({"kind":"Status","status":"Failure","reason":"NonZeroExitCode",
      "details":{"causes":[{"reason":"ExitCode","message":"7"}]}})");
}

TEST(RemoteCommand, keeps_outputs_apart_and_returns_the_exit_code) {
  World world;
  PodServer server("v5.channel.k8s.io", say_both_and_fail);
  const Result<int> code = world.run(
      server, {.pod = {"ns", "p"}, .container = "c", .command = {"sh", "-c", "a b"}}, world.all());
  ASSERT_TRUE(code) << code.error().to_string();
  EXPECT_EQ(*code, 7);
  EXPECT_EQ(world.text(world.output), "out");
  EXPECT_EQ(world.text(world.error_output), "err");
  EXPECT_EQ(server.target,
            "/api/v1/namespaces/ns/pods/p/exec?container=c&command=sh&command=-c&command=a%20b"
            "&stdin=true&stdout=true&stderr=true");
}

// Answers with what came, until input ends.
Task<void> echo_to_the_end(WebSocketConnection& socket) {
  std::string all;
  for (;;) {
    const std::string piece = co_await hear(socket);
    if (piece.empty() || piece == std::string("\xff\0", 2)) {
      break;
    }
    all += piece.substr(1);
  }
  co_await say(socket, '\x01', all);
  co_await say(socket, '\x03', kSuccess);
}

TEST(RemoteCommand, ends_the_input_of_the_program_with_v5) {
  World world;
  PodServer server("v5.channel.k8s.io", echo_to_the_end);
  codeflare::run(world.env.loop, world.input.far().write("hello"));
  world.input.close_far();
  const Result<int> code = world.run(server, {.pod = {"ns", "p"}, .command = {"cat"}}, world.all());
  ASSERT_TRUE(code) << code.error().to_string();
  EXPECT_EQ(*code, 0);
  EXPECT_EQ(world.text(world.output), "hello");
}

Task<void> repeat_the_size(WebSocketConnection& socket) {
  const std::string size = co_await hear(socket);
  co_await say(socket, '\x01', size.substr(1));
  co_await say(socket, '\x03', kSuccess);
}

TEST(RemoteCommand, sends_the_size_of_the_terminal) {
  World world;
  PodServer server("v4.channel.k8s.io", repeat_the_size);
  ASSERT_TRUE(world.sizes.try_push({.columns = 80, .rows = 24}));
  CommandStreams streams = world.all();
  streams.sizes = &world.sizes;
  const Result<int> code = world.run(server, {.pod = {"ns", "p"}, .terminal = true}, streams);
  ASSERT_TRUE(code) << code.error().to_string();
  EXPECT_EQ(world.text(world.output), R"({"Width":80,"Height":24})");
  EXPECT_EQ(server.target, "/api/v1/namespaces/ns/pods/p/attach?stdin=true&stdout=true&tty=true");
}

TEST(RemoteCommand, reports_the_rejection_of_the_server) {
  World world;
  PodServer server("v4.channel.k8s.io", say_both_and_fail);
  server.rejected_status = 403;
  server.rejection = R"({"kind":"Status","status":"Failure","message":"pods \"p\" is forbidden",
      "reason":"Forbidden","code":403})";
  const Result<int> code = world.run(server, {.pod = {"ns", "p"}, .command = {"x"}}, world.all());
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().code, ErrorCode::permission_denied);
  EXPECT_EQ(code.error().message, "pods \"p\" is forbidden");
}

Task<void> fail_to_start(WebSocketConnection& socket) {
  co_await say(socket, '\x03', R"({"kind":"Status","status":"Failure","code":500,
      "reason":"InternalError","message":"exec: \"x\": executable file not found"})");
}

TEST(RemoteCommand, reports_a_program_that_cannot_start) {
  World world;
  PodServer server("v4.channel.k8s.io", fail_to_start);
  const Result<int> code = world.run(server, {.pod = {"ns", "p"}, .command = {"x"}}, world.all());
  ASSERT_FALSE(code);
  EXPECT_TRUE(code.error().message.contains("executable file not found"));
}

Task<void> go_away(WebSocketConnection& socket) {
  co_await say(socket, '\x01', "half");
}

TEST(RemoteCommand, does_not_take_a_broken_connection_for_an_end) {
  World world;
  PodServer server("v4.channel.k8s.io", go_away);
  const Result<int> code = world.run(server, {.pod = {"ns", "p"}, .command = {"x"}}, world.all());
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().code, ErrorCode::unavailable);
}

Task<void> answer_nothing(WebSocketConnection&) {
  static_cast<void>(co_await sleep_for(std::chrono::hours(2)));
}
// Reads, and so answers pings, but has nothing to say for a while.
Task<void> think(WebSocketConnection& socket) {
  static_cast<void>(co_await with_timeout(10min, "thinking", socket.read()));
  co_await say(socket, '\x03', kSuccess);
}

TEST(RemoteCommand, notices_a_server_that_vanished_but_waits_for_a_quiet_program) {
  World world;
  PodServer dead("v4.channel.k8s.io", answer_nothing);
  const Instant begin = world.env.loop.now();
  const Result<int> lost = world.run(dead, {.pod = {"ns", "p"}, .command = {"x"}}, world.all());
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, ErrorCode::unavailable);
  EXPECT_LE(world.env.loop.now() - begin, 61s);

  PodServer quiet("v4.channel.k8s.io", think);
  const Result<int> code = world.run(quiet, {.pod = {"ns", "p"}, .command = {"x"}}, world.all());
  ASSERT_TRUE(code) << code.error().to_string();
}

}  // namespace
}  // namespace codeflare::kube
