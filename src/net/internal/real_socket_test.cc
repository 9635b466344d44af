#include "net/internal/real_socket.h"

#include "base/async/sleep.h"
#include "net/testing/loopback.h"
#include "net/testing/raw_peer.h"

#include <gtest/gtest.h>

#include <netinet/in.h>
#include <netinet/tcp.h>

namespace codeflare::net::internal {
namespace {

using testing::RawPeer;
using testing::RawServer;
using testing::RealWorld;
using namespace std::chrono_literals;

int option(const Socket& socket, int level, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  EXPECT_EQ(getsockopt(socket.descriptor(), level, name, &value, &size), 0);
  return value;
}

struct Pair {
  RealWorld world;
  RawServer server = *RawServer::listen(world.env());
  RawPeer here = *world.run(RawPeer::connect(world.env(), server.port()));
  RawPeer there = *world.run(server.accept());
};

TEST(Socket, asks_the_kernel_to_notice_dead_peers) {
  Pair pair;
  Socket& socket = pair.here.socket();
  socket.set_dead_peer_detection({15s, 3, 30s});
  EXPECT_EQ(option(socket, SOL_SOCKET, SO_KEEPALIVE), 1);
  EXPECT_EQ(option(socket, IPPROTO_TCP, TCP_KEEPIDLE), 15);
  EXPECT_EQ(option(socket, IPPROTO_TCP, TCP_KEEPINTVL), 15);
  EXPECT_EQ(option(socket, IPPROTO_TCP, TCP_KEEPCNT), 3);
  EXPECT_EQ(option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT), 30000);
}

TEST(Socket, a_wait_that_was_given_up_does_not_eat_the_next_event) {
  Pair pair;
  for (int i = 0; i < 3; ++i) {
    Result<std::string> nothing = pair.world.run(with_timeout(1ms, "receive", pair.here.receive()));
    EXPECT_EQ(nothing.error().code, ErrorCode::deadline_exceeded);
    EXPECT_TRUE(pair.world.run(pair.there.send("x")));
    EXPECT_EQ(*pair.world.run(pair.here.receive()), "x");
  }
}

TEST(Socket, a_watch_fires_once_and_not_while_somebody_waits) {
  Pair pair;
  int fired = 0;
  pair.here.socket().watch([&] { ++fired; });
  EXPECT_TRUE(pair.world.run(pair.there.send("x")));
  EXPECT_EQ(*pair.world.run(pair.here.receive_until("x")), "x");
  pair.world.run([](RawPeer& here, RawPeer& there) -> Task<Result<void>> {
    CO_TRY(co_await there.send("y"));
    CO_TRY(co_await here.receive_until("y"));
    CO_TRY(co_await sleep_for(5ms));
    co_return Result<void>();
  }(pair.here, pair.there));
  EXPECT_LE(fired, 1);
}

TEST(Socket, closing_wakes_whoever_waits) {
  Pair pair;
  TimerId timer = pair.world.env().loop.start_timer(after(pair.world.env().loop.now(), 5ms),
                                                    [&] { pair.here.socket().close(); });
  Result<std::string> received = pair.world.run(pair.here.receive());
  EXPECT_EQ(received.error().message, "interrupted");
  pair.world.env().loop.cancel_timer(timer);
}

TEST(Endpoint, prints_what_it_parses) {
  EXPECT_EQ(parse_endpoint("127.0.0.1", 80)->to_string(), "127.0.0.1:80");
  EXPECT_EQ(parse_endpoint("::1", 80)->to_string(), "[::1]:80");
  EXPECT_FALSE(parse_endpoint("localhost", 80));
  EXPECT_FALSE(parse_endpoint("127.1", 80));
}

TEST(Listen, says_which_address_is_taken) {
  Pair pair;
  Result<Socket> second =
      listen_on(pair.world.env().loop, *parse_endpoint("127.0.0.1", pair.server.port()));
  EXPECT_EQ(second.error().message, "listen on 127.0.0.1:" + std::to_string(pair.server.port()) +
                                        ": Address already in use");
}

}  // namespace
}  // namespace codeflare::net::internal
