#pragma once

#include "node/holder/fair_shares.h"
#include "node/holder/internal/real_poller.h"
#include "node/holder/internal/real_relay.h"
#include "node/holder/internal/real_service_listeners.h"
#include "node/holder/internal/real_sockets.h"
#include "node/holder/service_table.h"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace codeflare::node::internal {

// Listens at the cluster addresses of services and brings connections to endpoints. When there are
// as many connections as the machine allows, a new one replaces the longest idle one of the client
// with the most.
class TcpProxy {
 public:
  TcpProxy(Poller& poller, const ServiceTable& services);
  ~TcpProxy();

  // The services are others now: begins and ends to listen. Connections that are there go on.
  std::vector<ListenFailure> update() { return listeners_.update(services_); }

 private:
  struct Connection {
    FileDescriptor client;
    FileDescriptor server{};
    Poller::Id id = 0;
    std::vector<SocketAddress> targets{};  // that are still to be tried, the next one last
    std::unique_ptr<Relay> relay{};
  };
  void accept_at(const ServiceAddress& address);
  void begin(const ServiceAddress& address, FileDescriptor client, Ipv4 from);
  void try_next(std::uint64_t number);
  void connected(std::uint64_t number);
  void end(std::uint64_t number);

  Poller& poller_;
  const ServiceTable& services_;
  FairShares<std::uint64_t> shares_;
  ServiceListeners listeners_;
  std::uint64_t next_ = 0;
  std::map<std::uint64_t, Connection> connections_;
};

}  // namespace codeflare::node::internal
