#pragma once

#include "node/holder/ipv4.h"
#include "node/wire/holder_protocol.h"

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::node {

struct SocketAddress {
  Ipv4 address{};
  std::uint16_t port = 0;
  friend auto operator<=>(const SocketAddress&, const SocketAddress&) = default;
};

// A port of the cluster address of a service.
struct ServiceAddress {
  SocketAddress at{};
  bool udp = false;
  friend auto operator<=>(const ServiceAddress&, const ServiceAddress&) = default;
};

// The services of the cluster, as the agent tells them. Pure.
class ServiceTable {
 public:
  void set(ServiceRecord service);
  void forget(const std::string& key);  // "NAMESPACE/NAME"
  void keep(const std::vector<std::string>& keys);

  // Null when there is none.
  const ServiceRecord* find(std::string_view ns, std::string_view name) const;
  bool has_namespace(std::string_view ns) const;
  bool has_address(Ipv4 address) const { return by_address_.contains(address); }
  const std::map<std::string, ServiceRecord, std::less<>>& all() const { return services_; }

  // Where somebody has to listen: every port that has a ready endpoint. An address without one has
  // no listener, so that the kernel rejects connections, which clients understand at once.
  std::set<ServiceAddress> addresses() const;

  // Endpoints in the order in which they are tried for the `turn`-th client of this address; of a
  // sticky service the client's address says where to begin.
  std::vector<SocketAddress> targets(const ServiceAddress& of, Ipv4 client,
                                     std::uint64_t turn) const;

 private:
  std::map<std::string, ServiceRecord, std::less<>> services_;
  std::map<Ipv4, std::string> by_address_;
};

}  // namespace codeflare::node
