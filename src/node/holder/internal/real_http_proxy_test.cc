#include "node/holder/internal/real_http_proxy.h"

#include "node/holder/internal/real_sockets.h"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <string_view>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace codeflare::node::internal {
namespace {

constexpr std::string_view kTunnel = "HTTP/1.1 200 Connection established\r\n\r\n";

constexpr Ipv4 loopback(std::uint32_t last) {
  return {0x7f000000u + last};
}

SocketAddress name_of(const FileDescriptor& socket) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return from_sockaddr(address);
}

FileDescriptor listener_at(std::uint32_t last) {
  FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in at = to_sockaddr({loopback(last), 0});
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
  EXPECT_EQ(::listen(socket.get(), 16), 0);
  return socket;
}

FileDescriptor connected(std::uint32_t from, SocketAddress to) {
  FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in source = to_sockaddr({loopback(from), 0});
  const sockaddr_in target = to_sockaddr(to);
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&source), sizeof source), 0);
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&target), sizeof target), 0);
  return socket;
}

// A proxy with four connections, in a process of its own, that leads to one backend.
class World {
 public:
  World() : backend_(listener_at(8)), proxy_(listener_at(9)) {
    const pid_t parent = ::getpid();
    process_ = ::fork();
    if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
      const SocketAddress to = name_of(backend_);
      const Result<void> ended = run_http_proxy(
          proxy_, [&](const Destination&) -> Result<FileDescriptor> { return connected(8, to); },
          [parent] { return ::getppid() == parent; }, FileDescriptor(), 4);
      ::_exit(ended ? 0 : 1);
    }
  }
  ~World() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }

  struct Tunnel {
    FileDescriptor client;
    FileDescriptor backend;
  };

  Tunnel tunnel(std::uint32_t client) {
    Tunnel made{.client = connected(client, name_of(proxy_)), .backend = FileDescriptor()};
    constexpr std::string_view request = "CONNECT backend:1 HTTP/1.1\r\n\r\n";
    EXPECT_EQ(::send(made.client.get(), request.data(), request.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(request.size()));
    made.backend = FileDescriptor(::accept4(backend_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    std::array<char, kTunnel.size()> answer{};
    EXPECT_EQ(::recv(made.client.get(), answer.data(), answer.size(), MSG_WAITALL),
              static_cast<ssize_t>(answer.size()));
    EXPECT_EQ(std::string_view(answer.data(), answer.size()), kTunnel);
    return made;
  }

 private:
  FileDescriptor backend_;
  FileDescriptor proxy_;
  pid_t process_ = -1;
};

// A byte of the client reaches the backend.
void use(const World::Tunnel& tunnel) {
  std::array<char, 1> byte{};
  EXPECT_EQ(::send(tunnel.client.get(), "x", 1, MSG_NOSIGNAL), 1);
  EXPECT_EQ(::recv(tunnel.backend.get(), byte.data(), byte.size(), 0), 1);
}

bool is_open(const World::Tunnel& tunnel) {
  std::array<char, 1> byte{};
  const ssize_t got = ::recv(tunnel.client.get(), byte.data(), byte.size(), MSG_DONTWAIT);
  return got < 0 && errno == EAGAIN;
}

TEST(HttpProxy, one_client_with_all_connections_keeps_nobody_else_out) {
  World w;
  std::vector<World::Tunnel> greedy;
  for (int i = 0; i < 4; ++i) {
    greedy.push_back(w.tunnel(2));
  }
  use(greedy[0]);
  const World::Tunnel modest = w.tunnel(3);
  use(modest);
  EXPECT_TRUE(is_open(greedy[0])) << "it was used just now";
  EXPECT_FALSE(is_open(greedy[1])) << "the longest idle one";
  EXPECT_TRUE(is_open(greedy[2]));
  EXPECT_TRUE(is_open(greedy[3]));
  const World::Tunnel next = w.tunnel(4);
  EXPECT_FALSE(is_open(greedy[2]));
  EXPECT_TRUE(is_open(modest));
}

}  // namespace
}  // namespace codeflare::node::internal
