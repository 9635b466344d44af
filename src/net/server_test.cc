#include "net/server.h"

#include "base/async/task_group.h"
#include "net/cut_body.h"
#include "net/testing/loopback.h"
#include "net/testing/raw_peer.h"

namespace codeflare::net {
namespace {

using testing::Loopback;
using testing::RawPeer;
using namespace std::chrono_literals;

Task<Result<Response>> hello(Request request) {
  Response response = make_response(200, "text/plain", Bytes::from("hello " + request.target));
  response.headers.add("Date", "today");
  co_return response;
}

Task<Result<Response>> echo(Request request) {
  CO_TRY_ASSIGN(std::string body, co_await read_all(std::move(request.body), 1u << 20));
  Response response = make_response(200, "text/plain", Bytes::from(std::move(body)));
  response.headers.add("Date", "today");
  co_return response;
}

// Sends bytes as they are and returns all that comes back until the server closes.
Task<Result<std::string>> converse(Env env, std::uint16_t port, std::string text) {
  CO_TRY_ASSIGN(RawPeer peer, co_await RawPeer::connect(env, port));
  CO_TRY(co_await peer.send(std::move(text)));
  co_return co_await peer.receive_to_end();
}

std::string conversation(Loopback& loopback, std::string text) {
  Result<std::string> answer =
      loopback.world().run(converse(loopback.env(), loopback.port(), std::move(text)));
  return answer ? *answer : answer.error().to_string();
}

TEST(Server, answers_with_length_and_keeps_the_order_of_pipelined_requests) {
  Loopback loopback(hello);
  EXPECT_EQ(
      conversation(loopback,
                   "GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n"
                   "GET /3 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nDate: today\r\nContent-Length: 8\r\n\r\n"
      "hello /1"
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nDate: today\r\nContent-Length: 8\r\n\r\n"
      "hello /2"
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nDate: today\r\nContent-Length: 8\r\n"
      "Connection: close\r\n\r\nhello /3");
}

TEST(Server, answers_head_without_a_body) {
  Loopback loopback(hello);
  EXPECT_EQ(conversation(loopback, "HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nDate: today\r\nContent-Length: 7\r\n"
            "Connection: close\r\n\r\n");
}

TEST(Server, takes_absolute_targets_and_refuses_those_for_proxies) {
  Loopback loopback(hello);
  std::string answer =
      conversation(loopback, "GET http://x:1/a?b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(answer.ends_with("hello /a?b")) << answer;
  EXPECT_TRUE(conversation(loopback, "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n")
                  .starts_with("HTTP/1.1 400 "));
}

Task<Result<Response>> stream_three(Request) {
  Response response;
  response.headers.add("Date", "today");
  response.body =
      std::make_unique<testing::ListBody>(std::vector<std::string>{"one", "two", "three"});
  co_return response;
}

TEST(Server, joins_the_pieces_that_are_ready_into_one_chunk) {
  Loopback loopback(stream_three);
  EXPECT_EQ(
      conversation(loopback, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
      "HTTP/1.1 200 OK\r\nDate: today\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
      "b\r\nonetwothree\r\n0\r\n\r\n");
}

TEST(Server, ends_a_stream_by_closing_for_http_1_0) {
  Loopback loopback(stream_three);
  EXPECT_EQ(conversation(loopback, "GET / HTTP/1.0\r\n\r\n"),
            "HTTP/1.1 200 OK\r\nDate: today\r\nConnection: close\r\n\r\nonetwothree");
}

TEST(Server, reads_chunked_and_sized_bodies_on_one_connection) {
  Loopback loopback(echo);
  std::string answer = conversation(
      loopback,
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
      "chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nConnection: close\r\n\r\nxyz");
  EXPECT_NE(answer.find("Content-Length: 5\r\n\r\nabcdeHTTP/1.1 200 OK"), std::string::npos)
      << answer;
  EXPECT_TRUE(answer.ends_with("Content-Length: 3\r\nConnection: close\r\n\r\nxyz"));
}

TEST(Server, answers_bad_input_in_plain_text_and_closes) {
  Loopback loopback(echo, {.header_bytes_max = 1000, .body_bytes_max = 10});
  struct Case {
    std::string input;
    std::string status;
  };
  const std::string post = "POST / HTTP/1.1\r\nHost: x\r\n";
  for (const Case& each : std::vector<Case>{
           {"rubbish\r\n\r\n", "400"},
           {"GET / HTTP/1.1\n", "400"},
           {"GET / HTTP/3.0\r\n\r\n", "505"},
           {post + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "400"},
           {post + "Transfer-Encoding: gzip\r\n\r\n", "501"},
           {post + "X: " + std::string(1000, 'x') + "\r\n\r\n", "431"},
           {post + "Content-Length: 11\r\n\r\nhello world", "413"},
           {post + "Transfer-Encoding: chunked\r\n\r\nb\r\nhello world\r\n", "413"},
           {post + "Expect: magic\r\n\r\n", "417"},
           {std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 15), "400"},
       }) {
    std::string answer = conversation(loopback, each.input);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 " + each.status + " ")) << each.input << answer;
    EXPECT_NE(answer.find("Connection: close"), std::string::npos);
    EXPECT_NE(answer.find("Content-Type: text/plain"), std::string::npos);
  }
}

TEST(Server, a_malformed_body_fails_the_handler_and_the_connection) {
  Loopback loopback(echo);
  std::string answer = conversation(
      loopback, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ")) << answer;
  EXPECT_NE(answer.find("malformed chunk size"), std::string::npos) << answer;
}

Task<Result<std::string>> expect_continue(Env env, std::uint16_t port) {
  CO_TRY_ASSIGN(RawPeer peer, co_await RawPeer::connect(env, port));
  CO_TRY(
      co_await peer.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
                         "Expect: 100-continue\r\nConnection: close\r\n\r\n"));
  CO_TRY_ASSIGN(std::string interim, co_await peer.receive_until("\r\n\r\n"));
  EXPECT_EQ(interim, "HTTP/1.1 100 Continue\r\n\r\n");
  CO_TRY(co_await peer.send("ok"));
  co_return co_await peer.receive_to_end();
}

TEST(Server, invites_a_body_only_when_the_handler_wants_it) {
  Loopback reads(echo);
  Result<std::string> answer = reads.world().run(expect_continue(reads.env(), reads.port()));
  EXPECT_TRUE(answer->ends_with("\r\n\r\nok")) << *answer;
  Loopback ignores(hello);
  std::string at_once = conversation(ignores,
                                     "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
                                     "Expect: 100-continue\r\n\r\n");
  EXPECT_TRUE(at_once.starts_with("HTTP/1.1 200 OK")) << at_once;
  EXPECT_NE(at_once.find("Connection: close"), std::string::npos) << "the body was never sent";
}

TEST(Server, reads_past_a_body_that_the_handler_left) {
  Loopback loopback(hello);
  std::string answer =
      conversation(loopback, "POST /1 HTTP/1.1\r\nHost: x\r\nContent-Length: 30000\r\n\r\n" +
                                 std::string(30000, 'x') +
                                 "GET /2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_NE(answer.find("hello /1"), std::string::npos) << answer;
  EXPECT_TRUE(answer.ends_with("hello /2")) << answer;
}

// Notes that it was stopped.
struct Hanging {
  bool started = false;
  bool stopped = false;
  WaitList changed;

  Task<Result<Response>> handle(Request) {
    started = true;
    changed.notify_all();
    Result<void> waited = co_await sleep_for(1h);
    stopped = !waited;
    changed.notify_all();
    co_return fail(cancelled());
  }
  Task<Result<void>> wait_for(const bool& flag) {
    while (!flag) {
      CO_TRY(co_await changed.wait());
    }
    co_return Result<void>();
  }
};

// A stream that stays open until it is stopped.
class OpenStream final : public BodyStream {
 public:
  OpenStream(Hanging& hanging, bool& dropped) : hanging_(hanging), dropped_(dropped) {}
  ~OpenStream() override { dropped_ = true; }
  Task<Result<Bytes>> read() override {
    if (!std::exchange(begun_, true)) {
      co_return Bytes::from("first");
    }
    hanging_.started = true;
    hanging_.changed.notify_all();
    Result<void> waited = co_await sleep_for(1h);
    hanging_.stopped = !waited;
    hanging_.changed.notify_all();
    co_return fail(cancelled());
  }

 private:
  Hanging& hanging_;
  bool& dropped_;
  bool begun_ = false;
};

TEST(Server, gives_up_on_clients_that_send_drop_by_drop) {
  Loopback loopback(hello, {.header_timeout = 50ms});
  std::string answer = conversation(loopback, "GET / HTTP/1.1\r\nHost:");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 408 ")) << answer;
}

TEST(Server, gives_up_on_a_body_that_stops_coming) {
  Loopback loopback(echo, {.stall_timeout = 50ms});
  std::string answer =
      conversation(loopback, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 408 ")) << answer;
}

// Has always more to say.
class Endless final : public CutBody {
 public:
  explicit Endless(std::size_t& made, StopToken cut = {}) : made_(made), cut_(std::move(cut)) {}
  Task<Result<Bytes>> read() override {
    made_ += 100'000;
    co_return Bytes::from(std::string(100'000, 'e'));
  }
  StopToken cut() const override { return cut_; }

 private:
  std::size_t& made_;
  StopToken cut_;
};

TEST(Server, drops_a_client_that_takes_nothing) {
  std::size_t made = 0;
  Loopback loopback(
      [&](Request) -> Task<Result<Response>> {
        Response response;
        response.body = std::make_unique<Endless>(made);
        return [](Response r) -> Task<Result<Response>> {
          co_return std::move(r);
        }(std::move(response));
      },
      {.stall_timeout = 50ms});
  loopback.world().run([](Loopback& l) -> Task<void> {
    Result<RawPeer> peer = co_await RawPeer::connect(l.env(), l.port());
    EXPECT_TRUE(co_await peer->send("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
    EXPECT_TRUE(co_await peer->receive());
    while (l.server().connections() > 0) {
      EXPECT_TRUE(co_await sleep_for(5ms));
    }
  }(loopback));
  EXPECT_LT(made, std::size_t{32} << 20) << "what the sockets hold, and no more";
}

TEST(Server, ends_the_connection_of_a_response_that_is_cut) {
  std::size_t made = 0;
  StopSource cut;
  Loopback loopback([&](Request) -> Task<Result<Response>> {
    Response response;
    response.body = std::make_unique<Endless>(made, cut.token());
    return
        [](Response r) -> Task<Result<Response>> { co_return std::move(r); }(std::move(response));
  });
  loopback.world().run([](Loopback& l, StopSource& stop) -> Task<void> {
    Result<RawPeer> peer = co_await RawPeer::connect(l.env(), l.port());
    EXPECT_TRUE(co_await peer->send("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
    EXPECT_TRUE(co_await peer->receive());
    stop.request_stop();
    while (l.server().connections() > 0) {
      EXPECT_TRUE(co_await sleep_for(5ms));
    }
    EXPECT_FALSE(co_await peer->receive_to_end()) << "a reset, not an end";
  }(loopback, cut));
}

TEST(Server, keeps_a_quiet_stream_open) {
  // No time limit applies while the service has nothing to say.
  Hanging hanging;
  bool dropped = false;
  Loopback loopback(
      [&](Request) -> Task<Result<Response>> {
        Response response;
        response.body = std::make_unique<OpenStream>(hanging, dropped);
        return [](Response r) -> Task<Result<Response>> {
          co_return std::move(r);
        }(std::move(response));
      },
      {.header_timeout = 10ms, .idle_timeout = 10ms, .stall_timeout = 10ms});
  Result<Response> response = loopback.send({});
  EXPECT_EQ(loopback.world().run(response->body->read())->view(), "first");
  EXPECT_EQ(loopback.world().run(with_timeout(100ms, "", response->body->read())).error().code,
            ErrorCode::deadline_exceeded);
  EXPECT_FALSE(hanging.stopped);
  EXPECT_EQ(loopback.server().connections(), 1u);
}

TEST(Server, closes_idle_connections) {
  Loopback loopback(hello, {.idle_timeout = 50ms});
  EXPECT_EQ(conversation(loopback, ""), "");
  std::string answer = conversation(loopback, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(answer.ends_with("hello /")) << answer;
}

Task<Result<void>> go_away(Env env, std::uint16_t port, Hanging& hanging, bool reset) {
  CO_TRY_ASSIGN(RawPeer peer, co_await RawPeer::connect(env, port));
  CO_TRY(co_await peer.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
  CO_TRY(co_await hanging.wait_for(hanging.started));
  if (reset) {
    peer.socket().reset_on_close();
  }
  peer.socket().close();
  co_return co_await hanging.wait_for(hanging.stopped);
}

TEST(Server, stops_the_handler_when_the_client_goes_away) {
  for (bool reset : {false, true}) {
    Hanging hanging;
    Loopback loopback([&](Request request) { return hanging.handle(std::move(request)); });
    Result<void> result =
        loopback.world().run(go_away(loopback.env(), loopback.port(), hanging, reset));
    EXPECT_TRUE(result) << result.error().to_string();
  }
}

TEST(Server, stops_an_open_stream_when_the_client_goes_away) {
  Hanging hanging;
  bool dropped = false;
  Loopback loopback([&](Request) -> Task<Result<Response>> {
    Response response;
    response.body = std::make_unique<OpenStream>(hanging, dropped);
    return [](Response made) -> Task<Result<Response>> {
      co_return std::move(made);
    }(std::move(response));
  });
  Result<void> result =
      loopback.world().run(go_away(loopback.env(), loopback.port(), hanging, false));
  EXPECT_TRUE(result) << result.error().to_string();
  loopback.world().run(loopback.server().drain(1h));
  EXPECT_TRUE(dropped);
}

Task<Result<std::string>> drain_under_way(Loopback& loopback, Hanging& hanging) {
  CO_TRY_ASSIGN(RawPeer idle, co_await RawPeer::connect(loopback.env(), loopback.port()));
  CO_TRY(co_await idle.send("GET /quick HTTP/1.1\r\nHost: x\r\n\r\n"));
  CO_TRY(co_await idle.receive_until("hello /quick"));
  CO_TRY_ASSIGN(RawPeer busy, co_await RawPeer::connect(loopback.env(), loopback.port()));
  CO_TRY(co_await busy.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n"));
  CO_TRY(co_await hanging.wait_for(hanging.started));
  TaskGroup group(loopback.env().loop);
  group.spawn(loopback.server().drain(1h));
  // The idle connection ends at once, new ones are rejected, the busy one gets its answer.
  CO_TRY_ASSIGN(std::string nothing, co_await idle.receive_to_end());
  EXPECT_EQ(nothing, "");
  EXPECT_FALSE(co_await RawPeer::connect(loopback.env(), loopback.port()));
  hanging.stopped = true;
  hanging.changed.notify_all();
  Result<std::string> answer = co_await busy.receive_to_end();
  co_await group.join();
  co_return answer;
}

Task<Result<Response>> slow_or_quick(Hanging& hanging, Request request) {
  if (request.target == "/slow") {
    hanging.started = true;
    hanging.changed.notify_all();
    CO_TRY(co_await hanging.wait_for(hanging.stopped));
  }
  co_return co_await hello(std::move(request));
}

TEST(Server, drain_finishes_requests_and_closes_idle_connections) {
  Hanging hanging;
  Loopback loopback([&](Request request) { return slow_or_quick(hanging, std::move(request)); });
  Result<std::string> answer = loopback.world().run(drain_under_way(loopback, hanging));
  ASSERT_TRUE(answer) << answer.error().to_string();
  EXPECT_NE(answer->find("Connection: close"), std::string::npos);
  EXPECT_TRUE(answer->ends_with("hello /slow"));
  EXPECT_EQ(loopback.server().connections(), 0u);
}

TEST(Server, drain_cancels_what_is_left_after_the_grace) {
  Hanging hanging;
  Loopback loopback([&](Request request) { return hanging.handle(std::move(request)); });
  loopback.world().run([](Loopback& l, Hanging& h) -> Task<void> {
    Result<RawPeer> peer = co_await RawPeer::connect(l.env(), l.port());
    EXPECT_TRUE(co_await peer->send("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
    EXPECT_TRUE(co_await h.wait_for(h.started));
    co_await l.server().drain(20ms);
    EXPECT_TRUE(h.stopped);
  }(loopback, hanging));
}

TEST(Server, does_not_wait_for_ever_for_the_rest_of_a_body_that_nobody_wants) {
  Loopback loopback(hello, {.header_timeout = 50ms});
  loopback.world().run([](Loopback& l) -> Task<void> {
    Result<RawPeer> peer = co_await RawPeer::connect(l.env(), l.port());
    EXPECT_TRUE(
        co_await peer->send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n"));
    EXPECT_TRUE(co_await peer->receive_until("hello /"));
    bool open = true;
    while (open) {
      // It never stops for as long as the stall timeout.
      open = (co_await peer->send("x")).has_value();
      Result<std::string> rest = co_await with_timeout(5ms, "end", peer->receive());
      open = open && !rest && rest.error().code == ErrorCode::deadline_exceeded;
    }
    EXPECT_FALSE(open);
  }(loopback));
}

TEST(Server, accepts_no_more_connections_than_allowed_and_ends_idle_ones_for_new_ones) {
  Loopback loopback(hello, {.connections_max = 2});
  loopback.world().run([](Loopback& l) -> Task<void> {
    std::vector<RawPeer> peers;
    for (int i = 0; i < 4; ++i) {
      Result<RawPeer> peer = co_await RawPeer::connect(l.env(), l.port());
      EXPECT_TRUE(co_await peer->send("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
      peers.push_back(*std::move(peer));
    }
    for (RawPeer& peer : peers) {
      EXPECT_TRUE(co_await peer.receive());
      EXPECT_LE(l.server().connections(), 2u);
    }
    // The first ones made room although they could have stayed for two minutes.
    Result<std::string> rest = co_await peers[0].receive_to_end();
    EXPECT_EQ(rest.value_or("failed"), "");
  }(loopback));
}

TEST(Server, a_request_under_way_is_not_ended_for_a_new_connection) {
  Hanging hanging;
  Loopback loopback([&](Request request) { return hanging.handle(std::move(request)); },
                    {.connections_max = 1});
  loopback.world().run([](Loopback& l, Hanging& h) -> Task<void> {
    Result<RawPeer> busy = co_await RawPeer::connect(l.env(), l.port());
    EXPECT_TRUE(co_await busy->send("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
    EXPECT_TRUE(co_await h.wait_for(h.started));
    Result<RawPeer> next = co_await RawPeer::connect(l.env(), l.port());
    EXPECT_TRUE(co_await next->send("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
    Result<std::string> nothing =
        co_await with_timeout(30ms, "answer to the one that waits", next->receive());
    EXPECT_EQ(nothing.error().code, ErrorCode::deadline_exceeded);
    EXPECT_FALSE(h.stopped);
    EXPECT_EQ(l.server().connections(), 1u);
  }(loopback, hanging));
}

// One asks beside the half request that has taken the only connection, and is answered before the
// time of that one is over. The answer of that one begins so.
Task<void> ask_beside(Loopback& l, std::string half, std::string expected) {
  Result<RawPeer> slow = co_await RawPeer::connect(l.env(), l.port());
  EXPECT_TRUE(co_await slow->send(std::move(half)));
  Task<Result<std::string>> asking =
      converse(l.env(), l.port(), "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  Result<std::string> answer = co_await with_timeout(8s, "answer", std::move(asking));
  EXPECT_TRUE(answer.value_or("none").starts_with("HTTP/1.1 200 ")) << answer.value_or("none");
  Result<std::string> end = co_await with_timeout(8s, "end", slow->receive_to_end());
  EXPECT_TRUE(end.value_or("none").starts_with(expected)) << end.value_or("none");
}

TEST(Server, requests_that_do_not_come_to_their_end_make_room_for_those_that_do) {
  const std::string head = "GET / HTTP/1.1\r\nX-Slow: ";
  const std::string body = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{";
  Loopback reads(echo, {.connections_max = 1});
  reads.world().run(ask_beside(reads, head, "HTTP/1.1 408 "));
  reads.world().run(ask_beside(reads, body, "HTTP/1.1 408 "));
  Loopback refuses(hello, {.connections_max = 1});
  refuses.world().run(ask_beside(refuses, body, "HTTP/1.1 200 "));
}

Task<Result<Response>> keep_body(Body& kept, Request request) {
  kept = std::move(request.body);
  co_return make_response(200, "text/plain", Bytes::from("kept"));
}

TEST(Server, a_body_that_outlives_its_request_only_fails) {
  Body kept;
  Loopback loopback([&](Request request) { return keep_body(kept, std::move(request)); });
  std::string answer =
      conversation(loopback, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5000000\r\n\r\nabc");
  EXPECT_TRUE(answer.ends_with("kept")) << answer;
  EXPECT_FALSE(kept->ready());
  Result<Bytes> piece = loopback.world().run(kept->read());
  EXPECT_EQ(piece.error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace codeflare::net
