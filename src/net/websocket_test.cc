#include "net/websocket.h"

#include "base/async/task_group.h"
#include "base/env/sim_env.h"
#include "net/testing/memory_stream.h"
#include "net/testing/websocket_client.h"
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
