#include "net/client.h"

#include "base/async/channel.h"
#include "base/async/task_group.h"
#include "base/async/when.h"
#include "net/testing/loopback.h"
#include "net/testing/raw_peer.h"

namespace codeflare::net {
namespace {

using testing::Loopback;
using testing::RawPeer;
using testing::RawServer;
using testing::RealWorld;
using namespace std::chrono_literals;

Task<Result<Response>> echo(Request request) {
  CO_TRY_ASSIGN(std::string body, co_await read_all(std::move(request.body), 1u << 20));
  co_return make_response(200, "text/plain",
                          Bytes::from(request.method + " " + request.target + " " + body));
}

TEST(Client, reuses_one_connection_for_ten_thousand_requests) {
  Loopback loopback(echo);
  for (int i = 0; i < 10000; ++i) {
    Request request{.method = "POST", .target = "/" + std::to_string(i), .body = body_of("x")};
    request.body_size = 1;
    Result<Response> response = loopback.send(std::move(request));
    ASSERT_TRUE(response) << response.error().to_string();
    ASSERT_EQ(response->body->ready()->view(), "POST /" + std::to_string(i) + " x");
  }
  EXPECT_EQ(loopback.client().counts().connects, 1u);
}

Task<Result<std::string>> fetch(HttpClient& client, std::string target) {
  CO_TRY_ASSIGN(Response response, co_await client.send({.target = std::move(target)}));
  co_return co_await read_all(std::move(response.body), 1u << 20);
}

TEST(Client, runs_two_hundred_requests_at_a_time_and_keeps_few_connections) {
  Loopback loopback(echo);
  std::vector<Task<Result<std::string>>> tasks;
  for (int i = 0; i < 200; ++i) {
    tasks.push_back(fetch(loopback.client(), "/" + std::to_string(i)));
  }
  auto all = *run(loopback.env().loop, when_all(std::move(tasks)));
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(all[static_cast<std::size_t>(i)]);
    EXPECT_EQ(*all[static_cast<std::size_t>(i)], "GET /" + std::to_string(i) + " ");
  }
  EXPECT_LE(loopback.client().counts().idle, 25u);
  EXPECT_GT(loopback.client().counts().connects, 1u);
}

// So many bytes, made when asked for; counts how far ahead of its reader it gets.
class Generated final : public BodyStream {
 public:
  Generated(std::size_t size, std::size_t& made) : left_(size), made_(made) {}
  Task<Result<Bytes>> read() override {
    std::size_t size = std::min(left_, std::size_t{64} << 10);
    left_ -= size;
    made_ += size;
    co_return Bytes::from(std::string(size, 'g'));
  }

 private:
  std::size_t left_;
  std::size_t& made_;
};

constexpr std::size_t kLarge = std::size_t{64} << 20;

TEST(Client, reads_a_large_body_at_its_own_pace) {
  for (bool sized : {true, false}) {
    std::size_t made = 0;
    Loopback loopback([&](Request) -> Task<Result<Response>> {
      Response response;
      response.body = std::make_unique<Generated>(kLarge, made);
      if (sized) {
        response.body_size = kLarge;
      }
      return
          [](Response r) -> Task<Result<Response>> { co_return std::move(r); }(std::move(response));
    });
    Result<Response> response = loopback.send({});
    ASSERT_TRUE(response);
    std::size_t read = 0;
    std::size_t ahead_max = 0;
    for (;;) {
      Result<Bytes> piece = loopback.world().run(response->body->read());
      ASSERT_TRUE(piece) << piece.error().to_string();
      if (piece->empty()) {
        break;
      }
      read += piece->size();
      ahead_max = std::max(ahead_max, made - read);
    }
    EXPECT_EQ(read, kLarge);
    // No more than the sockets' buffers hold.
    EXPECT_LT(ahead_max, std::size_t{16} << 20);
    EXPECT_EQ(loopback.client().counts().idle, 1u);
  }
}

Task<Result<Response>> count_bytes(std::size_t& made, std::size_t& ahead_max, Request request) {
  std::size_t read = 0;
  for (;;) {
    CO_TRY_ASSIGN(Bytes piece, co_await request.body->read());
    if (piece.empty()) {
      break;
    }
    read += piece.size();
    ahead_max = std::max(ahead_max, made - read);
  }
  co_return make_response(200, "text/plain", Bytes::from(std::to_string(read)));
}

TEST(Client, sends_a_large_body_at_the_servers_pace) {
  std::size_t made = 0;
  std::size_t ahead_max = 0;
  Loopback loopback(
      [&](Request request) { return count_bytes(made, ahead_max, std::move(request)); });
  Request request{.method = "PUT", .body = std::make_unique<Generated>(kLarge, made)};
  Result<Response> response = loopback.send(std::move(request));
  ASSERT_TRUE(response) << response.error().to_string();
  EXPECT_EQ(*loopback.read(*response), std::to_string(kLarge));
  EXPECT_LT(ahead_max, std::size_t{16} << 20);
}

// Answers each connection with a fixed text after the request's head.
Task<void> answer_with(RawServer& server, std::vector<std::string> answers, bool reset = false) {
  for (std::string& answer : answers) {
    Result<RawPeer> peer = co_await server.accept();
    if (!peer || !co_await peer->receive_until("\r\n\r\n")) {
      co_return;
    }
    static_cast<void>(co_await peer->send(std::move(answer)));
    if (reset) {
      peer->socket().reset_on_close();
    }
  }
}

struct Faulty {
  explicit Faulty(std::vector<std::string> answers, bool reset = false, ClientOptions options = {})
      : server(*RawServer::listen(world.env())), group(world.env().loop) {
    group.spawn(answer_with(server, std::move(answers), reset));
    Url url{.scheme = "http", .host = "127.0.0.1", .port = server.port()};
    client = *HttpClient::create(world.env(), url, options);
  }
  ~Faulty() { world.run(group.close()); }
  Result<std::string> get(std::string method = "GET") {
    return world.run([](HttpClient& c, std::string m) -> Task<Result<std::string>> {
      CO_TRY_ASSIGN(Response response, co_await c.send({.method = std::move(m)}));
      co_return co_await read_all(std::move(response.body), 1000);
    }(*client, std::move(method)));
  }
  RealWorld world;
  RawServer server;
  TaskGroup group;
  std::unique_ptr<HttpClient> client;
};

TEST(Client, reads_every_kind_of_framing_and_skips_interim_answers) {
  EXPECT_EQ(*Faulty({"HTTP/1.1 200 OK\r\n\r\nuntil close"}).get(), "until close");
  EXPECT_EQ(
      *Faulty({"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok"}).get(),
      "ok");
  EXPECT_EQ(
      *Faulty({"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"}).get(),
      "ok");
  EXPECT_EQ(*Faulty({"HTTP/1.1 204 No Content\r\n\r\n"}).get(), "");
}

TEST(Client, reports_a_body_that_breaks_off) {
  for (const char* answer : {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
                             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
                             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
                             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"}) {
    for (bool reset : {false, true}) {
      Result<std::string> body = Faulty({answer}, reset).get();
      ASSERT_FALSE(body) << answer;
      EXPECT_EQ(body.error().code, ErrorCode::unavailable) << body.error().to_string();
    }
  }
}

TEST(Client, says_whether_a_lost_request_may_have_had_an_effect) {
  for (const char* answer : {"", "HTTP/1.1 2", "rubbish\r\n\r\n", "HTTP/1.1 200 OK\r\nA\r\n\r\n"}) {
    for (bool reset : {false, true}) {
      EXPECT_EQ(Faulty({answer}, reset).get("GET").error().code, ErrorCode::unavailable) << answer;
      EXPECT_EQ(Faulty({answer}, reset).get("POST").error().code, ErrorCode::deadline_exceeded)
          << answer;
    }
  }
}

TEST(Client, a_refused_connection_surely_had_no_effect) {
  RealWorld world;
  std::uint16_t port = RawServer::listen(world.env())->port();
  Url url{.scheme = "http", .host = "127.0.0.1", .port = port};
  auto client = *HttpClient::create(world.env(), url, {});
  Result<Response> response = world.run(client->send({.method = "POST"}));
  EXPECT_EQ(response.error().code, ErrorCode::unavailable);
  EXPECT_NE(response.error().message.find("127.0.0.1:" + std::to_string(port)), std::string::npos);
}

TEST(Client, limits_the_size_of_a_response_head) {
  std::string answer = "HTTP/1.1 200 OK\r\nX: " + std::string(2000, 'x') + "\r\n\r\n";
  Result<std::string> body = Faulty({answer}, false, {.header_bytes_max = 1000}).get();
  EXPECT_NE(body.error().message.find("1000 bytes"), std::string::npos);
}

// Serves `first` on a connection that is then closed when the next request arrives, and counts.
Task<void> close_on_reuse(RawServer& server, int& requests) {
  for (int i = 0; i < 3; ++i) {
    Result<RawPeer> peer = co_await server.accept();
    if (!peer) {
      co_return;
    }
    while (co_await peer->receive_until("\r\n\r\n")) {
      if (++requests == 2) {
        break;
      }
      static_cast<void>(co_await peer->send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
    }
  }
}

TEST(Client, repeats_a_safe_request_that_met_a_dying_connection) {
  for (std::string method : {"GET", "POST"}) {
    RealWorld world;
    RawServer server = *RawServer::listen(world.env());
    int requests = 0;
    TaskGroup group(world.env().loop);
    group.spawn(close_on_reuse(server, requests));
    Url url{.scheme = "http", .host = "127.0.0.1", .port = server.port()};
    auto client = *HttpClient::create(world.env(), url, {});
    EXPECT_TRUE(world.run(client->send({.method = method})));
    Result<Response> second = world.run(client->send({.method = method}));
    if (method == "GET") {
      EXPECT_TRUE(second) << second.error().to_string();
      EXPECT_EQ(requests, 3);
    } else {
      EXPECT_EQ(second.error().code, ErrorCode::deadline_exceeded);
      EXPECT_EQ(requests, 2);
    }
    EXPECT_LE(client->counts().connects, 2u);
    client = nullptr;
    world.run(group.close());
  }
}

TEST(Client, drops_an_idle_connection_that_the_server_closed) {
  Loopback loopback(echo, {.idle_timeout = 20ms});
  ASSERT_TRUE(loopback.send({.method = "POST"}));
  EXPECT_EQ(loopback.client().counts().idle, 1u);
  loopback.world().run([](Loopback& l) -> Task<void> {
    while (l.client().counts().idle > 0) {
      EXPECT_TRUE(co_await sleep_for(5ms));
    }
  }(loopback));
  EXPECT_TRUE(loopback.send({.method = "POST"})) << "a fresh connection is used";
}

TEST(Client, closes_connections_that_idle_too_long) {
  Loopback loopback(echo, {}, {.idle_timeout = 20ms});
  ASSERT_TRUE(loopback.send({}));
  loopback.world().run([](Loopback& l) -> Task<void> {
    while (l.client().counts().idle > 0 || l.server().connections() > 0) {
      EXPECT_TRUE(co_await sleep_for(5ms));
    }
  }(loopback));
}

TEST(Client, dropping_a_body_early_closes_its_connection) {
  std::size_t made = 0;
  Loopback loopback([&](Request) -> Task<Result<Response>> {
    Response response;
    response.body = std::make_unique<Generated>(kLarge, made);
    return
        [](Response r) -> Task<Result<Response>> { co_return std::move(r); }(std::move(response));
  });
  Result<Response> response = loopback.send({});
  ASSERT_TRUE(loopback.world().run(response->body->read()));
  response->body = nullptr;
  loopback.world().run([](Loopback& l) -> Task<void> {
    while (l.server().connections() > 0) {
      EXPECT_TRUE(co_await sleep_for(1ms));
    }
  }(loopback));
  EXPECT_LT(made, kLarge);
  EXPECT_EQ(loopback.client().counts().idle, 0u);
}

Task<Result<Response>> wait_forever(Request) {
  CO_TRY(co_await sleep_for(1h));
  co_return Response{};
}

TEST(Client, gives_up_waiting_for_a_head_and_the_server_notices) {
  Loopback loopback(wait_forever, {}, {.head_timeout = 20ms});
  Result<Response> response = loopback.send({.method = "POST"});
  EXPECT_EQ(response.error().code, ErrorCode::deadline_exceeded);
  EXPECT_EQ(
      loopback.world().run(with_timeout(10ms, "caller", loopback.client().send({}))).error().code,
      ErrorCode::deadline_exceeded);
  loopback.world().run([](Loopback& l) -> Task<void> {
    while (l.server().connections() > 0) {
      EXPECT_TRUE(co_await sleep_for(1ms));
    }
  }(loopback));
}

// Ticks indefinitely, on command.
class Ticker final : public BodyStream {
 public:
  explicit Ticker(Channel<std::string>& ticks) : ticks_(ticks) {}
  Task<Result<Bytes>> read() override {
    CO_TRY_ASSIGN(std::string tick, co_await ticks_.pop());
    co_return Bytes::from(std::move(tick));
  }

 private:
  Channel<std::string>& ticks_;
};

TEST(Client, a_read_that_was_given_up_loses_no_bytes_of_a_stream) {
  Channel<std::string> ticks(10);
  Loopback loopback([&](Request) -> Task<Result<Response>> {
    Response response;
    response.body = std::make_unique<Ticker>(ticks);
    return
        [](Response r) -> Task<Result<Response>> { co_return std::move(r); }(std::move(response));
  });
  Result<Response> response = loopback.send({});
  ASSERT_TRUE(response) << "the head arrives before the first piece";
  EXPECT_EQ(loopback.world().run(with_timeout(10ms, "", response->body->read())).error().code,
            ErrorCode::deadline_exceeded);
  EXPECT_TRUE(ticks.try_push("tick"));
  EXPECT_EQ(loopback.world().run(response->body->read())->view(), "tick");
}

Task<Result<Response>> refuse_early(Request) {
  co_return make_response(403, "text/plain", Bytes::from("no"));
}

TEST(Client, takes_an_answer_that_comes_before_the_body_is_sent) {
  std::size_t made = 0;
  Loopback loopback(refuse_early);
  Request request{.method = "PUT", .body = std::make_unique<Generated>(kLarge, made)};
  Result<Response> response = loopback.send(std::move(request));
  ASSERT_TRUE(response) << response.error().to_string();
  EXPECT_EQ(response->status, 403);
  EXPECT_LT(made, kLarge);
}

class FailingBody final : public BodyStream {
 public:
  Task<Result<Bytes>> read() override { co_return fail(data_loss("disk is gone")); }
};

TEST(Client, reports_a_producer_that_fails) {
  Loopback loopback(echo);
  Request request{.method = "PUT", .body = std::make_unique<FailingBody>()};
  EXPECT_EQ(loopback.send(std::move(request)).error().code, ErrorCode::data_loss);
}

TEST(Client, resolves_names) {
  Loopback loopback(echo);
  auto client = loopback.new_client({}, "localhost");
  EXPECT_TRUE(loopback.world().run(client->send({})));
  auto nowhere = loopback.new_client({}, "no-such-host.invalid");
  Result<Response> response = loopback.world().run(nowhere->send({.method = "POST"}));
  EXPECT_EQ(response.error().code, ErrorCode::unavailable);
  EXPECT_NE(response.error().message.find("no-such-host.invalid"), std::string::npos);
}

}  // namespace
}  // namespace codeflare::net
