#include "net/upgrade.h"

#include "net/server.h"
#include "net/testing/loopback.h"
#include "net/testing/raw_peer.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::net {
namespace {

using testing::Loopback;
using testing::RawPeer;
using namespace std::chrono_literals;

const std::string kAsk =
    "GET /up HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n";

Task<void> echo_until_stop(ByteStream& connection) {
  for (;;) {
    Result<std::string> bytes = co_await connection.read();
    if (!bytes || bytes->empty() || bytes->contains("stop")) {
      static_cast<void>(co_await connection.write("bye"));
      co_return;
    }
    if (!co_await connection.write(*std::move(bytes))) {
      co_return;
    }
  }
}

Task<Result<Response>> upgrade(Request) {
  Response response{.status = 101};
  response.headers.add("Upgrade", "echo");
  response.body = std::make_unique<Upgrade>(echo_until_stop);
  co_return response;
}

Task<Result<std::string>> talk(Env env, std::uint16_t port) {
  CO_TRY_ASSIGN(RawPeer peer, co_await RawPeer::connect(env, port));
  // What comes with the request belongs to what follows it.
  CO_TRY(co_await peer.send(kAsk + "early"));
  CO_TRY_ASSIGN(const std::string head, co_await peer.receive_until("early"));
  CO_TRY(co_await peer.send("later"));
  CO_TRY_ASSIGN(const std::string later, co_await peer.receive_until("later"));
  CO_TRY(co_await peer.send("stop"));
  CO_TRY_ASSIGN(const std::string rest, co_await peer.receive_to_end());
  co_return head + "|" + later + "|" + rest;
}

TEST(Upgrade, gives_the_connection_to_the_service_until_it_is_done) {
  Loopback loopback(upgrade);
  const auto said = loopback.world().run(talk(loopback.env(), loopback.port()));
  ASSERT_TRUE(said) << said.error().to_string();
  EXPECT_EQ(*said,
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n"
            "early|later|bye");
}

Task<Result<void>> leave(Env env, std::uint16_t port) {
  CO_TRY_ASSIGN(RawPeer peer, co_await RawPeer::connect(env, port));
  CO_TRY(co_await peer.send(kAsk));
  CO_TRY(co_await peer.receive_until("\r\n\r\n"));
  co_return Result<void>();
}

Task<Result<void>> until_empty(HttpServer& server) {
  while (server.connections() > 0) {
    CO_TRY(co_await sleep_for(1ms));
  }
  co_return Result<void>();
}

TEST(Upgrade, ends_when_the_client_goes) {
  Loopback loopback(upgrade);
  ASSERT_TRUE(loopback.world().run(leave(loopback.env(), loopback.port())));
  EXPECT_TRUE(loopback.world().run(until_empty(loopback.server())));
}

Task<Result<std::string>> be_sent_away(Env env, HttpServer& server, std::uint16_t port) {
  CO_TRY_ASSIGN(RawPeer peer, co_await RawPeer::connect(env, port));
  CO_TRY(co_await peer.send(kAsk));
  CO_TRY(co_await peer.receive_until("\r\n\r\n"));
  co_await server.drain(Duration::zero());
  co_return co_await peer.receive_to_end();
}

TEST(Upgrade, ends_when_the_server_drains) {
  Loopback loopback(upgrade);
  const auto rest =
      loopback.world().run(be_sent_away(loopback.env(), loopback.server(), loopback.port()));
  ASSERT_TRUE(rest) << rest.error().to_string();
  EXPECT_EQ(*rest, "bye");
}

Task<Result<std::string>> say_nothing(Env env, std::uint16_t port) {
  CO_TRY_ASSIGN(RawPeer peer, co_await RawPeer::connect(env, port));
  CO_TRY(co_await peer.send(kAsk));
  CO_TRY(co_await peer.receive_until("\r\n\r\n"));
  co_return co_await peer.receive_to_end();
}

TEST(Upgrade, ends_when_nothing_is_said_for_too_long) {
  Loopback loopback(upgrade, {.upgraded_idle_timeout = 20ms});
  const auto rest = loopback.world().run(say_nothing(loopback.env(), loopback.port()));
  ASSERT_TRUE(rest) << rest.error().to_string();
  EXPECT_EQ(*rest, "bye");
}

}  // namespace
}  // namespace codeflare::net
