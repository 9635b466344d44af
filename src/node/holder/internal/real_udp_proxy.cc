#include "node/holder/internal/real_udp_proxy.h"

#include "node/holder/internal/real_sockets.h"

#include <algorithm>
#include <array>
#include <optional>
#include <sys/socket.h>
#include <utility>

namespace codeflare::node::internal {

namespace {

constexpr std::size_t kSessionsMax = 512;
constexpr std::size_t kDatagramMax = 65535;
constexpr int kTakenAtOnce = 64;

}  // namespace

UdpProxy::UdpProxy(Poller& poller, const ServiceTable& services)
    : poller_(poller),
      services_(services),
      listeners_(poller,
                 {.udp = true,
                  .open = bind_udp,
                  .ready = [this](const ServiceAddress& address) { from_client(address); }}),
      shares_(kSessionsMax) {}

UdpProxy::~UdpProxy() {
  for (const auto& [client, session] : sessions_) {
    poller_.remove(session.id);
  }
}

std::vector<ListenFailure> UdpProxy::update() {
  end_those_without_endpoint();
  return listeners_.update(services_);
}

// A client that still sends is brought to another one.
void UdpProxy::end_those_without_endpoint() {
  std::vector<Client> gone;
  for (const auto& [client, session] : sessions_) {
    const auto targets = services_.targets(client.address, client.from.address, 0);
    if (std::ranges::find(targets, session.endpoint) == targets.end()) {
      gone.push_back(client);
    }
  }
  for (const Client& client : gone) {
    end(client);
  }
}

void UdpProxy::end(const Client& client) {
  const auto found = sessions_.find(client);
  poller_.remove(found->second.id);
  shares_.remove(client);
  sessions_.erase(found);
}

UdpProxy::Session* UdpProxy::session_of(const Client& client) {
  if (const auto known = sessions_.find(client); known != sessions_.end()) {
    shares_.touch(client);
    return &known->second;
  }
  ServiceListeners::Listener& listener = *listeners_.find(client.address);
  const std::vector<SocketAddress> targets =
      services_.targets(client.address, client.from.address, listener.turn++);
  Result<FileDescriptor> socket = bind_udp({});
  if (targets.empty() || !socket) {
    return nullptr;
  }
  const sockaddr_in address = to_sockaddr(targets.front());
  if (::connect(socket->get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return nullptr;
  }
  if (const std::optional<Client> victim = shares_.victim(client.from.address)) {
    end(*victim);
  }
  const Result<Poller::Id> id =
      poller_.add(socket->get(), EPOLLIN, [this, client](std::uint32_t) { from_server(client); });
  if (!id) {
    return nullptr;
  }
  shares_.add(client.from.address, client);
  return &sessions_.emplace(client, Session{*std::move(socket), targets.front(), *id})
              .first->second;
}

void UdpProxy::from_client(const ServiceAddress& address) {
  std::array<char, kDatagramMax> buffer;
  for (int i = 0; i < kTakenAtOnce; ++i) {
    const ServiceListeners::Listener& listener = *listeners_.find(address);
    sockaddr_in from{};
    socklen_t size = sizeof from;
    const ssize_t got = ::recvfrom(listener.socket.get(), buffer.data(), buffer.size(), 0,
                                   reinterpret_cast<sockaddr*>(&from), &size);
    if (got < 0) {
      return;
    }
    const Session* session = session_of({.address = address, .from = from_sockaddr(from)});
    if (session != nullptr) {
      ::send(session->socket.get(), buffer.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL);
    }
  }
}

void UdpProxy::from_server(const Client& client) {
  std::array<char, kDatagramMax> buffer;
  const auto session = sessions_.find(client);
  const ServiceListeners::Listener* listener = listeners_.find(client.address);
  for (int i = 0; i < kTakenAtOnce; ++i) {
    const ssize_t got = ::recv(session->second.socket.get(), buffer.data(), buffer.size(), 0);
    if (got < 0) {
      return;  // nothing more now, or the endpoint's "nobody is there", which the client can't see
    }
    const sockaddr_in to = to_sockaddr(client.from);
    ::sendto(listener->socket.get(), buffer.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL,
             reinterpret_cast<const sockaddr*>(&to), sizeof to);
  }
}

}  // namespace codeflare::node::internal
