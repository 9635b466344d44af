#include "net/websocket.h"

#include "base/async/task_group.h"
#include "base/env/sim_env.h"
#include "net/testing/loopback.h"
#include "net/testing/memory_stream.h"
#include "net/testing/websocket_client.h"
#include "net/upgrade.h"
#include "net/websocket_connection.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace codeflare::net {
namespace {

using testing::masked_frame;
using testing::MemoryPair;
using testing::WebSocketClient;
using Opcode = WebSocketOpcode;

constexpr std::size_t kMany = 1u << 20;

Request handshake() {
  Request request;
  request.headers = {{"Connection", "keep-alive, Upgrade"},
                     {"Upgrade", "WebSocket"},
                     {"Sec-WebSocket-Version", "13"},
                     {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="},
                     {"Sec-WebSocket-Protocol", "v5.channel.k8s.io, v4.channel.k8s.io"},
                     {"Sec-WebSocket-Protocol", "channel.k8s.io"}};
  return request;
}

TEST(WebSocketHandshake, proves_that_the_key_was_read) {
  const Request request = handshake();
  const auto protocols = websocket_protocols(request);
  ASSERT_TRUE(protocols) << protocols.error().to_string();
  EXPECT_EQ(*protocols,
            (std::vector<std::string>{"v5.channel.k8s.io", "v4.channel.k8s.io", "channel.k8s.io"}));
  const Response response = websocket_response(request, "v4.channel.k8s.io");
  EXPECT_EQ(response.status, 101);
  EXPECT_EQ(response.headers.get("Sec-WebSocket-Accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  EXPECT_EQ(response.headers.get("Sec-WebSocket-Protocol"), "v4.channel.k8s.io");
  EXPECT_FALSE(websocket_response(request, "").headers.has("Sec-WebSocket-Protocol"));
}

TEST(WebSocketHandshake, refuses_what_is_none) {
  Request post = handshake();
  post.method = "POST";
  EXPECT_FALSE(websocket_protocols(post));
  Request old = handshake();
  old.headers.set("Sec-WebSocket-Version", "8");
  EXPECT_FALSE(websocket_protocols(old));
  Request short_key = handshake();
  short_key.headers.set("Sec-WebSocket-Key", "c2hvcnQ=");
  EXPECT_FALSE(websocket_protocols(short_key));
  Request plain = handshake();
  plain.headers.remove("Upgrade");
  EXPECT_FALSE(asks_for_websocket(plain.headers));
}

TEST(WebSocketReader, takes_messages_of_every_size_byte_by_byte) {
  for (const std::size_t size : {0u, 1u, 125u, 126u, 65535u, 65536u}) {
    const std::string payload(size, 'x');
    WebSocketReader reader(kMany);
    std::optional<WebSocketMessage> message;
    for (char c : masked_frame(Opcode::binary, payload)) {
      ASSERT_FALSE(message);
      reader.add({&c, 1});
      const auto next = reader.next();
      ASSERT_TRUE(next) << next.error().to_string();
      message = *next;
    }
    ASSERT_TRUE(message) << size;
    EXPECT_EQ(*message, (WebSocketMessage{Opcode::binary, payload}));
  }
}

TEST(WebSocketReader, joins_fragments_and_lets_control_messages_through) {
  WebSocketReader reader(kMany);
  reader.add(masked_frame(Opcode::text, "one ", false));
  reader.add(masked_frame(Opcode::ping, "still there?"));
  reader.add(masked_frame(Opcode::continuation, "two", true));
  EXPECT_EQ(**reader.next(), (WebSocketMessage{Opcode::ping, "still there?"}));
  EXPECT_EQ(**reader.next(), (WebSocketMessage{Opcode::text, "one two"}));
  EXPECT_FALSE(*reader.next());
}

TEST(WebSocketReader, refuses_clients_that_break_the_protocol) {
  const std::vector<std::string> broken = {
      websocket_frame(Opcode::binary, "not masked"),
      masked_frame(Opcode::continuation, "of nothing"),
      masked_frame(Opcode::text, "a", false) + masked_frame(Opcode::text, "b"),
      masked_frame(Opcode::ping, "x", false),
      masked_frame(Opcode::ping, std::string(126, 'x')),
      std::string("\xc1\x80\0\0\0\0", 6),  // a reserved bit
      std::string("\x83\x80\0\0\0\0", 6),  // an unknown kind
  };
  for (const std::string& bytes : broken) {
    WebSocketReader reader(kMany);
    reader.add(bytes);
    const auto next = reader.next();
    ASSERT_FALSE(next) << bytes;
    EXPECT_EQ(next.error().code, ErrorCode::invalid_argument);
  }
}

TEST(WebSocketReader, refuses_what_is_too_large_before_it_comes) {
  WebSocketReader reader(100);
  reader.add(masked_frame(Opcode::binary, std::string(101, 'x')).substr(0, 8));
  EXPECT_EQ(reader.next().error().code, ErrorCode::too_large);
  WebSocketReader in_parts(100);
  in_parts.add(masked_frame(Opcode::binary, std::string(60, 'x'), false));
  in_parts.add(masked_frame(Opcode::continuation, std::string(60, 'x')));
  EXPECT_EQ(in_parts.next().error().code, ErrorCode::too_large);
  WebSocketReader absurd(100);
  absurd.add(std::string("\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff", 10));
  EXPECT_EQ(absurd.next().error().code, ErrorCode::too_large);
}

TEST(WebSocketReader, of_a_client_takes_frames_of_a_server_alone) {
  for (const std::size_t size : {0u, 125u, 126u, 65536u}) {
    WebSocketReader reader(kMany, WebSocketSide::client);
    reader.add(websocket_frame(Opcode::text, std::string(size, 'x')));
    const auto next = reader.next();
    ASSERT_TRUE(next && *next) << size;
    EXPECT_EQ(**next, (WebSocketMessage{Opcode::text, std::string(size, 'x')}));
  }
  WebSocketReader reader(kMany, WebSocketSide::client);
  reader.add(websocket_masked_frame(Opcode::text, "x", 7));
  EXPECT_EQ(reader.next().error().code, ErrorCode::invalid_argument);
}

TEST(WebSocketFrame, masked_is_read_back_by_a_server_whatever_the_mask) {
  for (const std::uint32_t mask : {0u, 1u, 0x11223344u, 0xffffffffu}) {
    for (const std::size_t size : {0u, 3u, 125u, 126u, 65535u, 65536u}) {
      WebSocketReader reader(kMany);
      reader.add(websocket_masked_frame(Opcode::binary, std::string(size, 'y'), mask));
      const auto next = reader.next();
      ASSERT_TRUE(next && *next) << size;
      EXPECT_EQ((**next).payload, std::string(size, 'y'));
    }
  }
  EXPECT_EQ(websocket_masked_frame(Opcode::text, "hi", 0x01020304),
            masked_frame(Opcode::text, "hi").substr(0, 2) + "\x01\x02\x03\x04" + "ik");
}

TEST(WebSocketClose, is_read_back_and_rejects_codes_that_must_not_be_sent) {
  EXPECT_EQ(parse_websocket_close(websocket_close_payload(1001, "bye")),
            (WebSocketClose{1001, "bye"}));
  EXPECT_EQ(parse_websocket_close(""), (WebSocketClose{kWebSocketNoStatus, ""}));
  EXPECT_FALSE(parse_websocket_close("x"));
  for (const int code : {0, 999, 1004, 1005, 1006, 1015, 2999, 5000}) {
    EXPECT_FALSE(
        parse_websocket_close(websocket_close_payload(static_cast<std::uint16_t>(code), "")))
        << code;
  }
}

Response accepted(std::string_view key) {
  Response response{.status = 101};
  response.headers = {{"Upgrade", "websocket"},
                      {"Sec-WebSocket-Accept", websocket_accept(key)},
                      {"Sec-WebSocket-Protocol", "b"}};
  return response;
}

TEST(WebSocketHandshake, of_a_client_checks_the_answer) {
  SimEnv world;
  const std::string key = websocket_key(world.env().random);
  Request request;
  add_websocket_handshake(request, key, {"a", "b"});
  EXPECT_EQ(websocket_protocols(request), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(websocket_chosen_protocol(accepted(key), key, {"a", "b"}), "b");
  EXPECT_FALSE(websocket_chosen_protocol(accepted(key), key, {"a"})) << "not offered";
  EXPECT_FALSE(websocket_chosen_protocol(accepted("other"), key, {"b"})) << "another key";
  Response plain = accepted(key);
  plain.headers.remove("Upgrade");
  EXPECT_FALSE(websocket_chosen_protocol(plain, key, {"b"}));
  Response extended = accepted(key);
  extended.headers.add("Sec-WebSocket-Extensions", "permessage-deflate");
  EXPECT_FALSE(websocket_chosen_protocol(extended, key, {"b"}));
  Response silent = accepted(key);
  silent.headers.remove("Sec-WebSocket-Protocol");
  EXPECT_EQ(websocket_chosen_protocol(silent, key, {"b"}), "");
}

Task<Result<void>> talk(MemoryPair& pair) {
  WebSocketConnection server(pair.near());
  WebSocketClient client(pair.far());
  CO_TRY(co_await client.send(Opcode::ping, "p"));
  CO_TRY(co_await client.send(Opcode::binary, "hello"));
  CO_TRY_ASSIGN(auto heard, co_await server.read());
  EXPECT_EQ(heard->payload, "hello");
  CO_TRY_ASSIGN(auto pong, co_await client.receive());
  EXPECT_EQ(*pong, (WebSocketMessage{Opcode::pong, "p"}));
  CO_TRY(co_await server.write(Opcode::text, "hi"));
  CO_TRY_ASSIGN(auto answer, co_await client.receive());
  EXPECT_EQ(*answer, (WebSocketMessage{Opcode::text, "hi"}));
  CO_TRY(co_await client.send(Opcode::close, websocket_close_payload(1000, "bye")));
  CO_TRY_ASSIGN(auto end, co_await server.read());
  EXPECT_FALSE(end);
  CO_TRY_ASSIGN(auto goodbye, co_await client.receive());
  EXPECT_EQ(goodbye->opcode, Opcode::close);
  EXPECT_FALSE(co_await server.write(Opcode::text, "too late"));
  co_return Result<void>();
}

TEST(WebSocketConnection, answers_pings_and_goodbyes) {
  SimEnv world;
  MemoryPair pair;
  const auto done = run(world.env().loop, talk(pair));
  ASSERT_TRUE(done && *done);
}

Task<Result<void>> both_sides(MemoryPair& pair, Random& random) {
  WebSocketConnection server(pair.near());
  WebSocketConnection client(pair.far(), random);
  CO_TRY(co_await client.write(Opcode::text, "hello"));
  CO_TRY_ASSIGN(auto heard, co_await server.read());
  EXPECT_EQ(heard->payload, "hello");
  CO_TRY(co_await server.write(Opcode::ping, "p"));
  CO_TRY(co_await server.write(Opcode::text, "hi"));
  CO_TRY_ASSIGN(auto answer, co_await client.read());
  EXPECT_EQ(*answer, (WebSocketMessage{Opcode::text, "hi"}));
  EXPECT_EQ(client.arrivals(), 1u);
  EXPECT_EQ(client.peer_close().code, kWebSocketAbnormal);
  co_await server.close(kWebSocketGoingAway, "draining");
  CO_TRY_ASSIGN(auto end, co_await client.read());
  EXPECT_FALSE(end);
  EXPECT_EQ(client.peer_close(), (WebSocketClose{kWebSocketGoingAway, "draining"}));
  // The pong, then the client's goodbye with the server's code.
  CO_TRY_ASSIGN(end, co_await server.read());
  EXPECT_FALSE(end);
  EXPECT_EQ(server.peer_close().code, kWebSocketGoingAway);
  co_return Result<void>();
}

TEST(WebSocketConnection, of_a_client_talks_with_that_of_a_server) {
  SimEnv world;
  MemoryPair pair;
  const auto done = run(world.env().loop, both_sides(pair, world.env().random));
  ASSERT_TRUE(done && *done);
}

Task<void> greet(ByteStream& connection) {
  WebSocketConnection socket(connection);
  static_cast<void>(co_await socket.write(Opcode::text, "welcome"));
  co_await socket.close(kWebSocketNormal, "");
}

Task<Result<Response>> serve_websocket(Request request) {
  if (!websocket_protocols(request)) {
    co_return make_response(400, "text/plain", Bytes::from("no handshake"));
  }
  Response response = websocket_response(request, "");
  response.body = std::make_unique<Upgrade>(greet);
  co_return response;
}

Task<void> hear_greeting(std::string* heard, Random& random, ByteStream& connection) {
  WebSocketConnection socket(connection, random);
  while (auto message = co_await socket.read()) {
    if (!*message) {
      *heard += "|" + std::to_string(socket.peer_close().code);
      co_return;
    }
    *heard += (*message)->payload;
  }
}

Task<Result<std::string>> be_greeted(HttpService& service, Random& random) {
  CO_TRY_ASSIGN(WebSocketAnswer answer, co_await ask_for_websocket(service, {}, {}, random));
  std::string heard;
  CO_TRY(co_await converse(std::move(answer.response), [&](ByteStream& connection) {
    return hear_greeting(&heard, random, connection);
  }));
  co_return heard;
}

TEST(WebSocketClientSide, opens_a_websocket_over_a_real_connection) {
  testing::Loopback loopback(serve_websocket);
  const auto heard = loopback.world().run(be_greeted(loopback.client(), loopback.env().random));
  ASSERT_TRUE(heard) << heard.error().to_string();
  EXPECT_EQ(*heard, "welcome|1000");
}

Task<Result<std::string>> break_rules(MemoryPair& pair) {
  WebSocketConnection server(pair.near(), 10);
  WebSocketClient client(pair.far());
  CO_TRY(co_await client.send(Opcode::binary, "more than ten bytes"));
  EXPECT_FALSE(co_await server.read());
  CO_TRY_ASSIGN(auto goodbye, co_await client.receive());
  co_return goodbye->payload;
}

TEST(WebSocketConnection, says_why_it_closes) {
  SimEnv world;
  MemoryPair pair;
  const auto payload = run(world.env().loop, break_rules(pair));
  ASSERT_TRUE(payload && *payload);
  EXPECT_TRUE((*payload)->starts_with("\x03\xf1")) << **payload;  // 1009
}

}  // namespace
}  // namespace codeflare::net
