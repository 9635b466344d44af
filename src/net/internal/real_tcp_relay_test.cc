#include "base/async/task_group.h"
#include "net/internal/real_socket.h"
#include "net/tcp_relay.h"
#include "net/testing/loopback.h"
#include "net/testing/raw_peer.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <unistd.h>
#include <utility>

namespace codeflare::net {
namespace {

using testing::RawPeer;
using testing::RawServer;
using testing::RealWorld;

// A relay on loopback that leads to a port of this machine.
class RelayWorld {
 public:
  RealWorld world;

  explicit RelayWorld(std::uint16_t to) { begin(to); }
  RelayWorld() : server_(*RawServer::listen(world.env())) { begin(server_->port()); }
  ~RelayWorld() { stop(); }
  RelayWorld(const RelayWorld&) = delete;
  RelayWorld& operator=(const RelayWorld&) = delete;

  void stop() { world.run(group_.close()); }
  Result<RawPeer> client() { return world.run(RawPeer::connect(world.env(), port_)); }
  Result<RawPeer> accepted() { return world.run(server_->accept()); }

 private:
  void begin(std::uint16_t to) {
    Result<internal::Socket> listener =
        internal::listen_on(world.env().loop, *internal::parse_endpoint("127.0.0.1", 0));
    EXPECT_TRUE(listener);
    port_ = listener->local().port();
    FileDescriptor copy(::dup(listener->descriptor()));
    group_.spawn(relay_connections(world.env(), std::move(copy), "localhost", to));
  }

  std::optional<RawServer> server_;
  std::uint16_t port_ = 0;
  TaskGroup group_{world.env().loop};
};

// That nothing more comes is said, in whatever way.
bool is_over(RealWorld& world, RawPeer& peer) {
  const Result<std::string> rest = world.run(peer.receive_to_end());
  return rest ? rest->empty() : rest.error().code != ErrorCode::deadline_exceeded;
}

TEST(TcpRelay, copies_both_ways_and_passes_on_each_end_by_itself) {
  RelayWorld w;
  auto client = w.client();
  ASSERT_TRUE(client);
  auto server = w.accepted();
  ASSERT_TRUE(server);
  const std::string much(3u << 20, 'x');
  ASSERT_TRUE(w.world.run(client->send("hello")));
  EXPECT_EQ(w.world.run(server->receive_until("hello")).value_or(""), "hello");
  client->socket().shutdown_write();
  EXPECT_EQ(w.world.run(server->receive_to_end()).value_or("?"), "");
  // More than any buffer on the way holds: the two have to be there at the same time.
  TaskGroup sending(w.world.env().loop);
  sending.spawn([](RawPeer& peer, std::string text) -> Task<void> {
    EXPECT_TRUE(co_await peer.send(std::move(text)));
    peer.socket().shutdown_write();
  }(*server, much));
  EXPECT_TRUE(w.world.run(client->receive_to_end()).value_or("?") == much);
  w.world.run(sending.close());
}

TEST(TcpRelay, a_connection_that_breaks_on_one_side_breaks_on_the_other) {
  RelayWorld w;
  auto client = w.client();
  ASSERT_TRUE(client);
  {
    auto server = w.accepted();
    ASSERT_TRUE(server);
    ASSERT_TRUE(w.world.run(server->send("x")));
    EXPECT_EQ(w.world.run(client->receive()).value_or("?"), "x");
    server->socket().reset_on_close();
  }
  EXPECT_TRUE(is_over(w.world, *client));
  EXPECT_TRUE(w.client());  // others are brought there still
  EXPECT_TRUE(w.accepted());
}

TEST(TcpRelay, who_cannot_be_brought_there_is_not_kept_waiting) {
  std::uint16_t nobody = 0;
  {
    RealWorld world;
    nobody = RawServer::listen(world.env())->port();
  }
  RelayWorld w(nobody);
  auto client = w.client();
  ASSERT_TRUE(client);
  EXPECT_TRUE(is_over(w.world, *client));
}

TEST(TcpRelay, ends_with_all_its_connections_when_it_is_stopped) {
  RelayWorld w;
  auto client = w.client();
  ASSERT_TRUE(client);
  auto server = w.accepted();
  ASSERT_TRUE(server);
  w.stop();
  EXPECT_TRUE(is_over(w.world, *client));
  EXPECT_TRUE(is_over(w.world, *server));
}

}  // namespace
}  // namespace codeflare::net
