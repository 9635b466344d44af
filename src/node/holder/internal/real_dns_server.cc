#include "node/holder/internal/real_dns_server.h"

#include "node/holder/internal/real_sockets.h"

#include <array>
#include <cerrno>
#include <sys/socket.h>
#include <utility>

namespace codeflare::node::internal {

namespace {

constexpr std::size_t kClientsMax = 64;
constexpr int kTakenAtOnce = 64;
constexpr std::size_t kLengthBytes = 2;

}  // namespace

DnsServer::~DnsServer() {
  poller_.remove(udp_id_);
  poller_.remove(tcp_id_);
  for (const auto& [number, client] : clients_) {
    poller_.remove(client.id);
  }
}

Result<void> DnsServer::listen(const SocketAddress& at) {
  TRY_ASSIGN(udp_, bind_udp(at));
  TRY_ASSIGN(tcp_, listen_tcp(at));
  TRY_ASSIGN(udp_id_,
             poller_.add(udp_.get(), EPOLLIN, [this](std::uint32_t) { answer_datagrams(); }));
  TRY_ASSIGN(tcp_id_,
             poller_.add(tcp_.get(), EPOLLIN, [this](std::uint32_t) { accept_clients(); }));
  return {};
}

// Empty: none.
std::string DnsServer::answer(std::string_view bytes, bool datagram) const {
  const Result<DnsQuery> query = parse_dns_query(bytes);
  if (!query) {
    return write_dns_refusal(bytes, query.error().code == ErrorCode::unsupported
                                        ? DnsCode::not_implemented
                                        : DnsCode::bad_format);
  }
  return write_dns_reply(*query, resolve_(*query), datagram ? query->bytes_max : kDnsBytesMax);
}

void DnsServer::answer_datagrams() {
  std::array<char, kDnsBytesMax> buffer;
  for (int i = 0; i < kTakenAtOnce; ++i) {
    sockaddr_in from{};
    socklen_t size = sizeof from;
    const ssize_t got = ::recvfrom(udp_.get(), buffer.data(), buffer.size(), 0,
                                   reinterpret_cast<sockaddr*>(&from), &size);
    if (got < 0) {
      return;
    }
    const std::string reply = answer({buffer.data(), static_cast<std::size_t>(got)}, true);
    if (!reply.empty()) {
      ::sendto(udp_.get(), reply.data(), reply.size(), MSG_NOSIGNAL,
               reinterpret_cast<const sockaddr*>(&from), size);
    }
  }
}

void DnsServer::accept_clients() {
  FileDescriptor socket(::accept4(tcp_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket) {
    return;
  }
  if (clients_.size() >= kClientsMax) {
    end(clients_.begin()->first);
  }
  const std::uint64_t number = next_++;
  const Result<Poller::Id> id =
      poller_.add(socket.get(), EPOLLIN, [this, number](std::uint32_t) { read_client(number); });
  if (id) {
    clients_.emplace(number, Client{.socket = std::move(socket), .id = *id});
  }
}

void DnsServer::end(std::uint64_t number) {
  const auto found = clients_.find(number);
  poller_.remove(found->second.id);
  clients_.erase(found);
}

void DnsServer::read_client(std::uint64_t number) {
  Client& client = clients_.find(number)->second;
  std::array<char, 4096> buffer;
  const ssize_t got = ::recv(client.socket.get(), buffer.data(), buffer.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
    return;
  }
  if (got <= 0) {
    end(number);
    return;
  }
  client.received.append(buffer.data(), static_cast<std::size_t>(got));
  while (client.received.size() >= kLengthBytes) {
    const std::size_t length = std::size_t{static_cast<unsigned char>(client.received[0])} << 8 |
                               static_cast<unsigned char>(client.received[1]);
    if (client.received.size() < kLengthBytes + length) {
      return;
    }
    const std::string reply =
        answer(std::string_view(client.received).substr(kLengthBytes, length), false);
    client.received.erase(0, kLengthBytes + length);
    std::string framed{static_cast<char>(reply.size() >> 8),
                       static_cast<char>(reply.size() & 0xff)};
    framed += reply;
    // Answers are small and clients wait for them; one that does not is not waited for.
    if (reply.empty() || ::send(client.socket.get(), framed.data(), framed.size(), MSG_NOSIGNAL) !=
                             static_cast<ssize_t>(framed.size())) {
      end(number);
      return;
    }
  }
}

}  // namespace codeflare::node::internal
