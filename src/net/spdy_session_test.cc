#include "net/spdy_session.h"

#include "base/async/task_group.h"
#include "base/env/sim_env.h"
#include "net/testing/memory_stream.h"
#include "net/testing/spdy_client.h"

#include <gtest/gtest.h>

#include <string>

namespace codeflare::net {
namespace {

using testing::MemoryPair;
using testing::SpdyClient;

Task<void> run_session(SpdySession& session) {
  static_cast<void>(co_await session.run());
}

// A session and its client, and a task that plays both.
template <typename Script>
void play(Script script) {
  SimEnv world;
  MemoryPair pair;
  SpdySession session(pair.near());
  SpdyClient client(pair.far());
  TaskGroup group(world.env().loop);
  group.spawn(run_session(session));
  const auto done = run(world.env().loop, script(session, client));
  EXPECT_TRUE(done && *done) << (done ? done->error().to_string() : "it waits for ever");
  EXPECT_TRUE(run(world.env().loop, group.close()));
}

Task<Result<void>> carry(SpdySession& session, SpdyClient& client) {
  CO_TRY(co_await client.send(
      {.type = SpdyType::syn_stream, .stream = 1, .headers = {{"streamtype", "data"}}}));
  CO_TRY_ASSIGN(auto stream, co_await session.accept());
  EXPECT_EQ(stream->headers().get("streamType"), "data");
  CO_TRY_ASSIGN(SpdyFrame reply, co_await client.receive());
  EXPECT_EQ(reply.type, SpdyType::syn_reply);
  CO_TRY(co_await client.send({.stream = 1, .data = "up"}));
  CO_TRY(co_await client.send({.fin = true, .stream = 1}));
  CO_TRY_ASSIGN(const std::string up, co_await stream->read());
  EXPECT_EQ(up, "up");
  CO_TRY_ASSIGN(const std::string end, co_await stream->read());
  EXPECT_EQ(end, "");
  CO_TRY(co_await stream->write("down"));
  CO_TRY(co_await stream->finish());
  CO_TRY_ASSIGN(SpdyFrame down, co_await client.receive());
  EXPECT_EQ(down.data, "down");
  CO_TRY_ASSIGN(SpdyFrame fin, co_await client.receive());
  EXPECT_TRUE(fin.fin);
  EXPECT_FALSE(stream->was_reset());
  co_return Result<void>();
}

TEST(SpdySession, carries_bytes_both_ways_and_their_ends) {
  play([](SpdySession& session, SpdyClient& client) { return carry(session, client); });
}

Task<Result<void>> answer_pings(SpdySession&, SpdyClient& client) {
  CO_TRY(co_await client.send({.type = SpdyType::ping, .value = 2}));  // not the client's
  CO_TRY(co_await client.send({.type = SpdyType::ping, .value = 5}));
  CO_TRY_ASSIGN(SpdyFrame pong, co_await client.receive());
  EXPECT_EQ(pong.type, SpdyType::ping);
  EXPECT_EQ(pong.value, 5u);
  co_return Result<void>();
}

TEST(SpdySession, answers_pings) {
  play([](SpdySession& session, SpdyClient& client) { return answer_pings(session, client); });
}

Task<Result<void>> give_up(SpdySession& session, SpdyClient& client) {
  CO_TRY(co_await client.send({.type = SpdyType::syn_stream, .stream = 1}));
  CO_TRY_ASSIGN(auto stream, co_await session.accept());
  CO_TRY(co_await client.send({.type = SpdyType::rst_stream, .stream = 1, .value = kSpdyCancel}));
  CO_TRY_ASSIGN(const std::string end, co_await stream->read());
  EXPECT_EQ(end, "");
  EXPECT_TRUE(stream->was_reset());
  EXPECT_FALSE(co_await stream->write("nobody takes it"));
  CO_TRY(co_await client.send({.type = SpdyType::goaway}));
  CO_TRY_ASSIGN(auto none, co_await session.accept());
  EXPECT_EQ(none, nullptr);
  co_return Result<void>();
}

TEST(SpdySession, tells_of_streams_and_sessions_that_were_given_up) {
  play([](SpdySession& session, SpdyClient& client) { return give_up(session, client); });
}

Task<Result<void>> open_many(SpdySession&, SpdyClient& client) {
  for (std::uint32_t i = 0; i <= SpdySession::kStreamsMax; ++i) {
    CO_TRY(co_await client.send({.type = SpdyType::syn_stream, .stream = 2 * i + 1}));
  }
  CO_TRY_ASSIGN(SpdyFrame refusal, co_await client.receive());
  EXPECT_EQ(refusal.type, SpdyType::rst_stream);
  EXPECT_EQ(refusal.stream, 2 * SpdySession::kStreamsMax + 1);
  EXPECT_EQ(refusal.value, kSpdyRefusedStream);
  co_return Result<void>();
}

TEST(SpdySession, refuses_more_streams_than_it_serves) {
  play([](SpdySession& session, SpdyClient& client) { return open_many(session, client); });
}

Task<Result<void>> fill(SpdySession& session, SpdyClient& client) {
  CO_TRY(co_await client.send({.type = SpdyType::syn_stream, .stream = 1}));
  CO_TRY_ASSIGN(auto stream, co_await session.accept());
  // More than the queue of the stream and the pipe hold: all of it arrives, because it is read.
  const std::string piece(kSpdyFrameBytesMax / 4, 'x');
  std::size_t got = 0;
  for (int i = 0; i < 16; ++i) {
    CO_TRY(co_await client.send({.stream = 1, .data = piece}));
    CO_TRY_ASSIGN(const std::string bytes, co_await stream->read());
    got += bytes.size();
  }
  CO_TRY(co_await client.send({.fin = true, .stream = 1}));
  for (;;) {
    CO_TRY_ASSIGN(const std::string bytes, co_await stream->read());
    if (bytes.empty()) {
      break;
    }
    got += bytes.size();
  }
  EXPECT_EQ(got, 16 * piece.size());
  // A stream without a reader does not stop the others.
  CO_TRY(co_await client.send({.type = SpdyType::syn_stream, .stream = 3}));
  CO_TRY_ASSIGN(auto other, co_await session.accept());
  other->stop_reading();
  for (int i = 0; i < 16; ++i) {
    CO_TRY(co_await client.send({.stream = 3, .data = piece}));
  }
  CO_TRY(co_await client.send({.type = SpdyType::ping, .value = 1}));
  for (;;) {
    CO_TRY_ASSIGN(const SpdyFrame frame, co_await client.receive());
    if (frame.type == SpdyType::ping) {
      break;
    }
  }
  co_return Result<void>();
}

TEST(SpdySession, holds_the_client_back_but_not_for_streams_that_nobody_reads) {
  play([](SpdySession& session, SpdyClient& client) { return fill(session, client); });
}

}  // namespace
}  // namespace codeflare::net
