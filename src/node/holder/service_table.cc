#include "node/holder/service_table.h"

#include <algorithm>

namespace codeflare::node {

namespace {

std::string key_of(std::string_view ns, std::string_view name) {
  return std::string(ns) + "/" + std::string(name);
}

bool is_udp(const ServicePortRecord& port) {
  return port.protocol == "UDP";
}

bool is_proxied(const ServicePortRecord& port) {
  return (port.protocol == "TCP" || is_udp(port)) && port.port > 0 && port.port <= 65535;
}

// Where the endpoint serves the service's port of this number; 0: nowhere.
std::uint16_t port_of(const EndpointRecord& endpoint, std::size_t index) {
  const std::int32_t port = index < endpoint.ports.size() ? endpoint.ports[index] : 0;
  return port > 0 && port <= 65535 ? static_cast<std::uint16_t>(port) : std::uint16_t{0};
}

// Neighbouring addresses must not have neighbouring results.
std::uint64_t mixed(std::uint32_t address) {
  std::uint64_t value = (address + 1ull) * 0x9e3779b97f4a7c15ull;
  return value ^ value >> 32;
}

}  // namespace

void ServiceTable::set(ServiceRecord service) {
  std::string key = key_of(service.ns, service.name);
  forget(key);
  if (const auto address = Ipv4::parse(service.address)) {
    by_address_.insert_or_assign(*address, key);
  }
  services_.insert_or_assign(std::move(key), std::move(service));
}

void ServiceTable::forget(const std::string& key) {
  const auto found = services_.find(key);
  if (found == services_.end()) {
    return;
  }
  const auto address = Ipv4::parse(found->second.address);
  if (const auto at = address ? by_address_.find(*address) : by_address_.end();
      at != by_address_.end() && at->second == key) {
    by_address_.erase(at);
  }
  services_.erase(found);
}

void ServiceTable::keep(const std::vector<std::string>& keys) {
  const std::set<std::string_view> wanted(keys.begin(), keys.end());
  std::vector<std::string> gone;
  for (const auto& [key, service] : services_) {
    if (!wanted.contains(key)) {
      gone.push_back(key);
    }
  }
  for (const std::string& key : gone) {
    forget(key);
  }
}

const ServiceRecord* ServiceTable::find(std::string_view ns, std::string_view name) const {
  const auto found = services_.find(key_of(ns, name));
  return found == services_.end() ? nullptr : &found->second;
}

bool ServiceTable::has_namespace(std::string_view ns) const {
  const std::string begin = std::string(ns) + "/";
  const auto next = services_.lower_bound(begin);
  return next != services_.end() && next->first.starts_with(begin);
}

std::set<ServiceAddress> ServiceTable::addresses() const {
  std::set<ServiceAddress> addresses;
  for (const auto& [address, key] : by_address_) {
    const ServiceRecord& service = services_.find(key)->second;
    for (std::size_t i = 0; i < service.ports.size() && !service.elsewhere; ++i) {
      const bool served = std::ranges::any_of(service.endpoints, [&](const EndpointRecord& one) {
        return one.ready && port_of(one, i) != 0;
      });
      if (is_proxied(service.ports[i]) && served) {
        addresses.insert({.at = {address, static_cast<std::uint16_t>(service.ports[i].port)},
                          .udp = is_udp(service.ports[i])});
      }
    }
  }
  return addresses;
}

std::vector<SocketAddress> ServiceTable::targets(const ServiceAddress& of, Ipv4 client,
                                                 std::uint64_t turn) const {
  std::vector<SocketAddress> ready;
  const auto key = by_address_.find(of.at.address);
  if (key == by_address_.end()) {
    return ready;
  }
  const ServiceRecord& service = services_.find(key->second)->second;
  for (std::size_t i = 0; i < service.ports.size(); ++i) {
    if (service.ports[i].port != of.at.port || is_udp(service.ports[i]) != of.udp) {
      continue;
    }
    for (const EndpointRecord& endpoint : service.endpoints) {
      const auto address = Ipv4::parse(endpoint.address);
      if (endpoint.ready && address && port_of(endpoint, i) != 0) {
        ready.push_back({*address, port_of(endpoint, i)});
      }
    }
  }
  if (!ready.empty()) {
    std::ranges::sort(ready);
    const std::uint64_t first = (service.sticky ? mixed(client.value) : turn) % ready.size();
    std::ranges::rotate(ready, ready.begin() + static_cast<std::ptrdiff_t>(first));
  }
  return ready;
}

}  // namespace codeflare::node
