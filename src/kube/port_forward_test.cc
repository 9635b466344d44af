#include "kube/port_forward.h"

#include "base/async/sleep.h"
#include "base/async/when.h"
#include "base/env/sim_env.h"
#include "kube/testing/pod_server.h"
#include "net/memory_pair.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

namespace codeflare::kube {
namespace {

using net::MemoryPair;
using net::WebSocketConnection;
using testing::hear;
using testing::PodServer;
using testing::say;

const std::string kHello{"\x49\x20", 2};  // port 8265, low byte first

struct World {
  SimEnv sim;
  Env env = sim.env();
  MemoryPair local;

  Result<void> run(PodServer& server) {
    auto done = codeflare::run(
        env.loop,
        with_timeout(std::chrono::hours(1), "test",
                     forward_connection(env, server, {{"ns", "head"}, 8265}, local.near())));
    return done ? *std::move(done) : Result<void>(fail(internal_error("the connection hangs")));
  }
};

Task<void> answer_once(WebSocketConnection& socket) {
  co_await say(socket, '\0', kHello);
  co_await say(socket, '\x01', kHello);
  const std::string request = co_await hear(socket);
  co_await say(socket, '\0', "you said " + request.substr(1));
  co_await socket.close(net::kWebSocketNormal, {});
}

TEST(PortForward, carries_a_connection_without_the_greeting_of_its_channels) {
  World world;
  PodServer server("v4.channel.k8s.io", answer_once);
  codeflare::run(world.env.loop, world.local.far().write("ping"));
  const Result<void> done = world.run(server);
  ASSERT_TRUE(done) << done.error().to_string();
  const auto answer = codeflare::run(world.env.loop, world.local.far().read());
  ASSERT_TRUE(answer && *answer);
  EXPECT_EQ(**answer, "you said ping");
  EXPECT_EQ(server.target, "/api/v1/namespaces/ns/pods/head/portforward?ports=8265");
}

// The greeting comes together with the first bytes.
Task<void> greet_late(WebSocketConnection& socket) {
  co_await say(socket, '\0', kHello.substr(0, 1));
  co_await say(socket, '\0', kHello.substr(1) + "data");
  co_await socket.close(net::kWebSocketNormal, {});
}

TEST(PortForward, takes_a_greeting_in_any_pieces) {
  World world;
  PodServer server("v4.channel.k8s.io", greet_late);
  ASSERT_TRUE(world.run(server));
  const auto answer = codeflare::run(world.env.loop, world.local.far().read());
  EXPECT_EQ(**answer, "data");
}

Task<void> refuse(WebSocketConnection& socket) {
  co_await say(socket, '\x01', kHello);
  co_await say(socket, '\x01', "connection refused");
  static_cast<void>(co_await hear(socket));
}

TEST(PortForward, reports_why_the_port_does_not_answer) {
  World world;
  PodServer server("v4.channel.k8s.io", refuse);
  const Result<void> done = world.run(server);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::unavailable);
  EXPECT_EQ(done.error().message, "connection refused");
}

Task<void> talk_for_a_while(WebSocketConnection& socket) {
  co_await say(socket, '\0', kHello);
  for (int i = 0; i < 3; ++i) {
    static_cast<void>(co_await sleep_for(std::chrono::seconds(8)));
    co_await say(socket, '\0', "x");
  }
  // The pod never closes; a reader answers pings.
  static_cast<void>(co_await socket.read());
}

TEST(PortForward, passes_on_the_rest_after_the_local_side_ended) {
  World world;
  PodServer server("v4.channel.k8s.io", talk_for_a_while);
  codeflare::run(world.env.loop, world.local.far().finish());
  const Instant begin = world.env.loop.now();
  ASSERT_TRUE(world.run(server));
  EXPECT_LE(world.env.loop.now() - begin, std::chrono::seconds(50));
  const auto answer = codeflare::run(world.env.loop, world.local.far().read());
  EXPECT_EQ(**answer, "xxx");
}

}  // namespace
}  // namespace codeflare::kube
