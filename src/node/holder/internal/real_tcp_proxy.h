#pragma once

#include "node/holder/internal/real_poller.h"
#include "node/holder/internal/real_relay.h"
#include "node/holder/internal/real_sockets.h"
#include "node/holder/service_table.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace codeflare::node::internal {

// Listens at the cluster addresses of services and brings connections to endpoints.
class TcpProxy {
 public:
  TcpProxy(Poller& poller, const ServiceTable& services);
  ~TcpProxy();

  // The services are others now: begins and ends to listen. Connections that are there go on.
  // Returns the places where it could not.
  std::vector<PlaceFailure> update();

 private:
  struct Listener {
    FileDescriptor socket;
    Poller::Id id = 0;
    std::uint64_t turn = 0;
  };
  struct Connection {
    FileDescriptor client;
    FileDescriptor server{};
    Poller::Id id = 0;
    std::vector<SocketAddress> targets{};  // that are still to be tried, the next one last
    std::unique_ptr<Relay> relay{};
  };
  void accept_at(const ServicePlace& place);
  void begin(const ServicePlace& place, FileDescriptor client, Ipv4 from);
  void try_next(std::uint64_t number);
  void connected(std::uint64_t number);
  void end(std::uint64_t number) { connections_.erase(number); }

  Poller& poller_;
  const ServiceTable& services_;
  std::size_t connections_max_;
  std::map<ServicePlace, Listener> listeners_;
  std::uint64_t next_ = 0;
  std::map<std::uint64_t, Connection> connections_;
};

}  // namespace codeflare::node::internal
