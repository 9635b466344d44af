#pragma once

#include "node/holder/dns_message.h"
#include "node/holder/internal/real_poller.h"
#include "node/holder/service_table.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace codeflare::node::internal {

// Answers DNS on UDP and TCP at one address.
class DnsServer {
 public:
  using Resolve = std::function<DnsReply(const DnsQuery&)>;
  DnsServer(Poller& poller, Resolve resolve) : poller_(poller), resolve_(std::move(resolve)) {}
  ~DnsServer();

  Result<void> listen(const SocketAddress& at);

 private:
  struct Client {
    FileDescriptor socket;
    Poller::Id id = 0;
    std::string received{};
  };
  void answer_datagrams();
  void accept_clients();
  void read_client(std::uint64_t number);
  void end(std::uint64_t number);
  std::string answer(std::string_view bytes, bool datagram) const;

  Poller& poller_;
  Resolve resolve_;
  FileDescriptor udp_;
  FileDescriptor tcp_;
  Poller::Id udp_id_ = 0;
  Poller::Id tcp_id_ = 0;
  std::uint64_t next_ = 0;
  std::map<std::uint64_t, Client> clients_;  // the oldest first
};

}  // namespace codeflare::node::internal
