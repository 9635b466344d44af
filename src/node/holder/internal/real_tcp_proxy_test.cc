#include "node/holder/internal/real_tcp_proxy.h"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <sys/resource.h>
#include <sys/socket.h>
#include <utility>
#include <vector>

namespace codeflare::node::internal {
namespace {

constexpr Ipv4 loopback(std::uint32_t last) {
  return {0x7f000000u + last};
}

SocketAddress name_of(const FileDescriptor& socket) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return from_sockaddr(address);
}

// Four connections at a time: the proxy derives its limit from that of descriptors.
class FourConnections {
 public:
  FourConnections() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit low = before_;
    low.rlim_cur = 256 + 2 * 4;
    ::setrlimit(RLIMIT_NOFILE, &low);
  }
  ~FourConnections() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

class World {
 public:
  World() : backend_(*listen_tcp({loopback(8), 0})) {
    // A port that is free now.
    service_ = {loopback(9), name_of(*listen_tcp({loopback(9), 0})).port};
    services_.set({.ns = "default",
                   .name = "web",
                   .address = service_.address.to_string(),
                   .ports = {{.name = "http", .protocol = "TCP", .port = service_.port}},
                   .endpoints = {{.address = loopback(8).to_string(),
                                  .ready = true,
                                  .ports = {name_of(backend_).port}}}});
    EXPECT_TRUE(proxy_.update().empty());
  }

  // A connection from the client to the backend, through the proxy.
  FileDescriptor connect(std::uint32_t client) {
    FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in from = to_sockaddr({loopback(client), 0});
    const sockaddr_in to = to_sockaddr(service_);
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&from), sizeof from), 0);
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
    for (;;) {
      EXPECT_TRUE(poller_.turn());
      FileDescriptor accepted(::accept4(backend_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (accepted) {
        accepted_.push_back(std::move(accepted));
        break;
      }
    }
    EXPECT_TRUE(poller_.turn());  // the proxy sees that it is connected
    return socket;
  }

  // Bytes from the client reach the backend.
  void use(const FileDescriptor& client) {
    EXPECT_EQ(::send(client.get(), "x", 1, MSG_NOSIGNAL), 1);
    EXPECT_TRUE(poller_.turn());
  }

 private:
  FourConnections limit_;
  Poller poller_ = *Poller::open();
  ServiceTable services_;
  FileDescriptor backend_;
  SocketAddress service_{};
  TcpProxy proxy_{poller_, services_};
  std::vector<FileDescriptor> accepted_;
};

bool is_open(const FileDescriptor& client) {
  std::array<char, 1> byte{};
  const ssize_t got = ::recv(client.get(), byte.data(), byte.size(), MSG_DONTWAIT);
  return got < 0 && errno == EAGAIN;
}

TEST(TcpProxy, one_client_with_all_connections_keeps_nobody_else_out) {
  World w;
  std::vector<FileDescriptor> greedy;
  for (int i = 0; i < 4; ++i) {
    greedy.push_back(w.connect(2));
  }
  w.use(greedy[0]);
  const FileDescriptor modest = w.connect(3);
  EXPECT_TRUE(is_open(modest));
  EXPECT_TRUE(is_open(greedy[0])) << "it was used just now";
  EXPECT_FALSE(is_open(greedy[1])) << "the longest idle one";
  EXPECT_TRUE(is_open(greedy[2]));
  EXPECT_TRUE(is_open(greedy[3]));
}

}  // namespace
}  // namespace codeflare::node::internal
