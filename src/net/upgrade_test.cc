#include "net/upgrade.h"

#include "base/env/sim_env.h"
#include "net/in_process.h"
#include "net/server.h"
#include "net/sim_link.h"
#include "net/testing/certificates.h"
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
  // Bytes that come with the request belong to what follows it.
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

Request ask() {
  Request request;
  request.headers = {{"Connection", "Upgrade"}, {"Upgrade", "echo"}};
  return request;
}

Task<void> say_and_hear(std::string* heard, ByteStream& connection) {
  for (const char* word : {"one", "two", "stop"}) {
    if (!co_await connection.write(word)) {
      co_return;
    }
    Result<std::string> answer = co_await connection.read();
    *heard += (answer ? *answer : answer.error().to_string()) + " ";
  }
}

Task<Result<std::string>> converse_with(HttpService& service) {
  CO_TRY_ASSIGN(Response response, co_await service.send(ask()));
  std::string heard;
  CO_TRY(co_await converse(std::move(response), [&heard](ByteStream& connection) {
    return say_and_hear(&heard, connection);
  }));
  co_return heard;
}

TEST(Converse, reaches_a_remote_server) {
  Loopback loopback(upgrade);
  const auto heard = loopback.world().run(converse_with(loopback.client()));
  ASSERT_TRUE(heard) << heard.error().to_string();
  EXPECT_EQ(*heard, "one two bye ");
  EXPECT_EQ(loopback.client().counts().idle, 0u);
}

TEST(Converse, reaches_a_remote_server_through_tls) {
  const testing::CertificateAuthority ca("test-ca");
  const testing::Identity server = ca.issue({.common_name = "server", .addresses = {"127.0.0.1"}});
  Loopback loopback(upgrade, {.tls = TlsServerOptions{server.certificate_pem, server.key_pem, {}}},
                    {.tls = {.ca_bundle_pem = ca.certificate_pem()}});
  const auto heard = loopback.world().run(converse_with(loopback.client()));
  ASSERT_TRUE(heard) << heard.error().to_string();
  EXPECT_EQ(*heard, "one two bye ");
}

TEST(Converse, reaches_a_service_of_the_same_process) {
  SimEnv world;
  testing::ScriptedService service(upgrade);
  InProcessService in_process(service, {.address = "test"});
  const auto heard = run(world.env().loop, converse_with(in_process));
  ASSERT_TRUE(heard && *heard);
  EXPECT_EQ(**heard, "one two bye ");
}

TEST(Converse, breaks_where_a_simulated_link_cuts_it) {
  int cut = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SimEnv world({.seed = seed});
    testing::ScriptedService service(upgrade);
    SimLink link(service, world.env().random, {.cut_stream = 1, .pieces_before_fault_max = 1});
    const auto heard = run(world.env().loop, converse_with(link));
    ASSERT_TRUE(heard && *heard);
    cut += **heard == "one two bye " ? 0 : 1;
  }
  EXPECT_EQ(cut, 20);
}

Task<void> never_end(ByteStream&) {
  static_cast<void>(co_await sleep_until(Instant::max()));
}

Task<Result<Response>> upgrade_for_ever(Request) {
  Response response{.status = 101};
  response.body = std::make_unique<Upgrade>(never_end);
  co_return response;
}

Task<void> leave_at_once(ByteStream&) {
  co_return;
}

TEST(Converse, stops_a_takeover_of_the_same_process_when_the_client_leaves) {
  SimEnv world;
  auto leave_service = [](HttpService& service) -> Task<Result<void>> {
    CO_TRY_ASSIGN(Response response, co_await service.send(ask()));
    co_return co_await converse(std::move(response), leave_at_once);
  };
  testing::ScriptedService service(upgrade_for_ever);
  const auto left = run(world.env().loop, leave_service(service));
  EXPECT_TRUE(left && *left);
}

TEST(Converse, rejects_an_answer_that_is_no_upgrade) {
  Loopback loopback([](Request) -> Task<Result<Response>> {
    co_return make_response(400, "text/plain", Bytes::from("no"));
  });
  const auto heard = loopback.world().run(converse_with(loopback.client()));
  ASSERT_FALSE(heard);
  EXPECT_EQ(heard.error().code, ErrorCode::failed_precondition);
}

}  // namespace
}  // namespace codeflare::net
