#include "node/holder/internal/real_tcp_proxy.h"

#include "node/holder/internal/real_sockets.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <sys/resource.h>
#include <sys/socket.h>
#include <utility>

namespace codeflare::node::internal {

namespace {

constexpr std::size_t kConnectionsMax = 8192;
constexpr rlim_t kOtherFiles = 256;
constexpr int kAcceptedAtOnce = 32;

// Two descriptors for each, and some for everything else: one that cannot even be rejected for want
// of a descriptor would be reported again and again.
std::size_t connections_allowed() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur <= kOtherFiles) {
    return 1;
  }
  return std::min<std::size_t>((files.rlim_cur - kOtherFiles) / 2, kConnectionsMax);
}

// The client learns at once that there was nobody, instead of an orderly end without a word.
void refuse(FileDescriptor client) {
  const linger now{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(client.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

}  // namespace

TcpProxy::TcpProxy(Poller& poller, const ServiceTable& services)
    : poller_(poller),
      services_(services),
      shares_(connections_allowed()),
      listeners_(poller, {.udp = false,
                          .open = listen_tcp,
                          .ready = [this](const ServiceAddress& address) { accept_at(address); }}) {
}

TcpProxy::~TcpProxy() {
  for (const auto& [number, connection] : connections_) {
    poller_.remove(connection.id);
  }
}

void TcpProxy::accept_at(const ServiceAddress& address) {
  for (int i = 0; i < kAcceptedAtOnce; ++i) {
    const ServiceListeners::Listener* listener = listeners_.find(address);
    if (listener == nullptr) {
      return;
    }
    sockaddr_in from{};
    socklen_t size = sizeof from;
    FileDescriptor client(::accept4(listener->socket.get(), reinterpret_cast<sockaddr*>(&from),
                                    &size, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!client) {
      return;
    }
    const Ipv4 source = from_sockaddr(from).address;
    if (const std::optional<std::uint64_t> victim = shares_.victim(source)) {
      end(*victim);
    }
    begin(address, std::move(client), source);
  }
}

void TcpProxy::begin(const ServiceAddress& address, FileDescriptor client, Ipv4 from) {
  std::vector<SocketAddress> targets =
      services_.targets(address, from, listeners_.find(address)->turn++);
  std::ranges::reverse(targets);
  const std::uint64_t number = next_++;
  shares_.add(from, number);
  connections_.emplace(number,
                       Connection{.client = std::move(client), .targets = std::move(targets)});
  try_next(number);
}

void TcpProxy::end(std::uint64_t number) {
  const auto found = connections_.find(number);
  poller_.remove(found->second.id);
  shares_.remove(number);
  connections_.erase(found);
}

void TcpProxy::try_next(std::uint64_t number) {
  Connection& connection = connections_.find(number)->second;
  poller_.remove(std::exchange(connection.id, 0));
  while (!connection.targets.empty()) {
    const sockaddr_in address = to_sockaddr(connection.targets.back());
    connection.targets.pop_back();
    Result<FileDescriptor> socket = tcp_socket();
    if (!socket) {
      break;
    }
    connection.server = *std::move(socket);
    const int began = ::connect(connection.server.get(),
                                reinterpret_cast<const sockaddr*>(&address), sizeof address);
    if (began != 0 && errno != EINPROGRESS) {
      continue;
    }
    const Result<Poller::Id> id = poller_.add(connection.server.get(), EPOLLOUT,
                                              [this, number](std::uint32_t) { connected(number); });
    if (!id) {
      continue;
    }
    connection.id = *id;
    return;
  }
  refuse(std::move(connection.client));
  end(number);
}

void TcpProxy::connected(std::uint64_t number) {
  Connection& connection = connections_.find(number)->second;
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(connection.server.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) {
    try_next(number);
    return;
  }
  poller_.remove(std::exchange(connection.id, 0));
  connection.relay = std::make_unique<Relay>(
      poller_, std::move(connection.client), std::move(connection.server),
      [this, number] { end(number); }, [this, number] { shares_.touch(number); });
}

}  // namespace codeflare::node::internal
