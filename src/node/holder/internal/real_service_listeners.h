#pragma once

#include "base/posix.h"
#include "base/result.h"
#include "node/holder/internal/real_poller.h"
#include "node/holder/service_table.h"

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace codeflare::node::internal {

// An address of a service where nobody listens because that failed.
struct ListenFailure {
  ServiceAddress address;
  Error error;
};

// The sockets at the cluster addresses of services: those of TCP, or those of UDP.
class ServiceListeners {
 public:
  struct Listener {
    FileDescriptor socket;
    Poller::Id id = 0;
    std::uint64_t turn = 0;  // of ServiceTable::targets()
  };
  struct Options {
    bool udp = false;
    Result<FileDescriptor> (*open)(const SocketAddress& at);
    // There is something to read at the listener of this address.
    std::function<void(const ServiceAddress& address)> ready;
  };
  ServiceListeners(Poller& poller, Options options);
  ~ServiceListeners();
  ServiceListeners(const ServiceListeners&) = delete;
  ServiceListeners& operator=(const ServiceListeners&) = delete;

  // Begins and ends to listen as the services are now.
  std::vector<ListenFailure> update(const ServiceTable& services);
  // Null when nobody listens there.
  Listener* find(const ServiceAddress& address);

 private:
  Result<void> listen_at(const ServiceAddress& address);

  Poller& poller_;
  Options options_;
  std::map<ServiceAddress, Listener> listeners_;
};

}  // namespace codeflare::node::internal
