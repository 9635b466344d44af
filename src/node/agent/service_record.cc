#include "node/agent/service_record.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace codeflare::node {

namespace {

std::string or_tcp(std::string protocol) {
  return protocol.empty() ? "TCP" : std::move(protocol);
}

// The slice's number for each port of the service; 0 where it has none.
std::vector<std::int32_t> ports_in(const model::EndpointSlice& slice,
                                   const std::vector<ServicePortRecord>& wanted) {
  std::vector<std::int32_t> ports;
  for (const ServicePortRecord& port : wanted) {
    const auto found = std::ranges::find_if(slice.ports, [&](const model::EndpointPort& one) {
      return one.name.value_or("") == port.name &&
             or_tcp(one.protocol.value_or("")) == port.protocol;
    });
    ports.push_back(found == slice.ports.end() ? 0 : found->port.value_or(0));
  }
  return ports;
}

// A pod is in several slices when its ports are not those of the others.
void merge(EndpointRecord& into, const EndpointRecord& more) {
  into.ready = into.ready || more.ready;
  for (std::size_t i = 0; i < into.ports.size() && i < more.ports.size(); ++i) {
    if (into.ports[i] == 0) {
      into.ports[i] = more.ports[i];
    }
  }
}

}  // namespace

ServiceRecord service_record(const model::Service& service,
                             const std::vector<model::EndpointSlice>& slices) {
  ServiceRecord record{.ns = service.metadata.ns, .name = service.metadata.name};
  const model::ServiceSpec& spec = service.spec;
  if (spec.type == "ExternalName") {
    record.external_name = spec.external_name;
    return record;
  }
  record.headless = spec.cluster_ip == "None";
  record.address = record.headless ? "" : spec.cluster_ip;
  record.not_ready_too = spec.publish_not_ready_addresses;
  record.sticky = spec.session_affinity == "ClientIP";
  for (const model::ServicePort& port : spec.ports) {
    record.ports.push_back(
        {.name = port.name, .protocol = or_tcp(port.protocol), .port = port.port});
  }
  std::map<std::string, EndpointRecord> by_address;
  for (const model::EndpointSlice& slice : slices) {
    if (slice.address_type != "IPv4") {
      continue;
    }
    const std::vector<std::int32_t> ports = ports_in(slice, record.ports);
    for (const model::Endpoint& endpoint : slice.endpoints) {
      for (const std::string& address : endpoint.addresses) {
        const EndpointRecord one{.address = address,
                                 .hostname = endpoint.hostname.value_or(""),
                                 .ready = endpoint.conditions.ready.value_or(true),
                                 .ports = ports};
        if (const auto [at, fresh] = by_address.try_emplace(address, one); !fresh) {
          merge(at->second, one);
        }
      }
    }
  }
  for (auto& [address, endpoint] : by_address) {
    record.endpoints.push_back(std::move(endpoint));
  }
  return record;
}

}  // namespace codeflare::node
