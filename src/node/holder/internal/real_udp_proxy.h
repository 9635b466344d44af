#pragma once

#include "node/holder/fair_shares.h"
#include "node/holder/internal/real_poller.h"
#include "node/holder/internal/real_service_listeners.h"
#include "node/holder/internal/real_sockets.h"
#include "node/holder/service_table.h"

#include <cstdint>
#include <map>
#include <vector>

namespace codeflare::node::internal {

// The same for datagrams. A client's datagrams to one address go to the same endpoint as long as it
// is remembered. When too many are remembered, the client address with the most of them loses the
// one that was silent for longest.
class UdpProxy {
 public:
  UdpProxy(Poller& poller, const ServiceTable& services);
  ~UdpProxy();

  std::vector<ListenFailure> update();

 private:
  struct Client {
    ServiceAddress address;
    SocketAddress from;
    friend auto operator<=>(const Client&, const Client&) = default;
  };
  struct Session {
    FileDescriptor socket;  // connected to the endpoint
    SocketAddress endpoint{};
    Poller::Id id = 0;
  };
  void from_client(const ServiceAddress& address);
  void from_server(const Client& client);
  Session* session_of(const Client& client);
  void end(const Client& client);
  void end_those_without_endpoint();

  Poller& poller_;
  const ServiceTable& services_;
  ServiceListeners listeners_;
  std::map<Client, Session> sessions_;
  FairShares<Client> shares_;
};

}  // namespace codeflare::node::internal
