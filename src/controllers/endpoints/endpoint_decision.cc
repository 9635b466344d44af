#include "controllers/endpoints/endpoint_decision.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace codeflare::controllers::endpoints {

namespace {

constexpr std::size_t kSliceMax = 100;
constexpr const char* kServiceLabel = "kubernetes.io/service-name";
constexpr const char* kManagedByLabel = "endpointslice.kubernetes.io/managed-by";
constexpr const char* kManagedBy = "endpointslice-controller.k8s.io";
constexpr const char* kHeadlessLabel = "service.kubernetes.io/headless";

std::string or_tcp(const std::string& protocol) {
  return protocol.empty() ? "TCP" : protocol;
}

// The number on this pod; nothing when the pod has no port of that name.
std::optional<std::int32_t> resolve(const model::ServicePort& port, const EndpointPod& pod) {
  if (!port.target_port) {
    return port.port;
  }
  if (!port.target_port->is_text) {
    return port.target_port->number == 0 ? port.port : port.target_port->number;
  }
  for (const EndpointPod::Port& candidate : pod.ports) {
    if (candidate.name == port.target_port->text && candidate.protocol == or_tcp(port.protocol)) {
      return candidate.number;
    }
  }
  return std::nullopt;
}

std::vector<model::EndpointPort> ports_on(const model::Service& service, const EndpointPod& pod) {
  std::vector<model::EndpointPort> ports;
  for (const model::ServicePort& port : service.spec.ports) {
    if (const std::optional<std::int32_t> number = resolve(port, pod)) {
      ports.push_back({.name = port.name,
                       .protocol = or_tcp(port.protocol),
                       .port = *number,
                       .app_protocol = port.app_protocol});
    }
  }
  return ports;
}

model::Endpoint endpoint_of(const model::Service& service, const EndpointPod& pod) {
  model::Endpoint endpoint;
  endpoint.addresses.push_back(pod.address);
  endpoint.conditions.ready =
      service.spec.publish_not_ready_addresses || (pod.ready && !pod.deleting);
  endpoint.conditions.serving = pod.ready;
  endpoint.conditions.terminating = pod.deleting;
  if (!pod.hostname.empty() && pod.subdomain == service.metadata.name) {
    endpoint.hostname = pod.hostname;
  }
  model::ObjectReference& target = endpoint.target_ref.emplace();
  target.kind = "Pod";
  target.ns = service.metadata.ns;
  target.name = pod.name;
  target.uid = pod.uid;
  if (!pod.node.empty()) {
    endpoint.node_name = pod.node;
  }
  return endpoint;
}

model::StringMap labels_of(const model::Service& service) {
  model::StringMap labels = service.metadata.labels;
  labels.insert_or_assign(kServiceLabel, service.metadata.name);
  labels.insert_or_assign(kManagedByLabel, kManagedBy);
  if (service.spec.cluster_ip == "None") {
    labels.insert_or_assign(kHeadlessLabel, "");
  } else {
    labels.erase(kHeadlessLabel);
  }
  return labels;
}

// Endpoints that share their ports, in slices of at most a hundred.
std::vector<model::EndpointSlice> wanted_slices(const ObservedService& observed) {
  const model::Service& service = observed.service;
  // Few different ones: named ports seldom differ between the pods of a Service.
  std::vector<model::EndpointSlice> slices;
  for (const EndpointPod& pod : observed.pods) {
    if (pod.over || pod.address.empty()) {
      continue;
    }
    std::vector<model::EndpointPort> ports = ports_on(service, pod);
    auto room = std::ranges::find_if(slices, [&](const model::EndpointSlice& slice) {
      return slice.ports == ports && slice.endpoints.size() < kSliceMax;
    });
    if (room == slices.end()) {
      slices.emplace_back().ports = std::move(ports);
      room = slices.end() - 1;
    }
    room->endpoints.push_back(endpoint_of(service, pod));
  }
  if (slices.empty()) {
    slices.emplace_back();
  }
  for (model::EndpointSlice& slice : slices) {
    slice.metadata.ns = service.metadata.ns;
    slice.metadata.labels = labels_of(service);
    slice.address_type = "IPv4";
  }
  return slices;
}

bool same_content(const model::EndpointSlice& a, const model::EndpointSlice& b) {
  return a.endpoints == b.endpoints && a.ports == b.ports && a.metadata.labels == b.metadata.labels;
}

}  // namespace

DesiredSlices decide(const ObservedService& observed) {
  DesiredSlices desired;
  std::vector<model::EndpointSlice> spare = observed.slices;
  std::erase_if(spare, [](const model::EndpointSlice& slice) { return slice.metadata.deleting(); });
  std::vector<model::EndpointSlice> missing;
  // First those that are as they should be, then those with the same ports.
  for (model::EndpointSlice& slice : wanted_slices(observed)) {
    const auto same = std::ranges::find_if(
        spare, [&](const model::EndpointSlice& there) { return same_content(there, slice); });
    if (same != spare.end()) {
      spare.erase(same);
    } else {
      missing.push_back(std::move(slice));
    }
  }
  for (model::EndpointSlice& slice : missing) {
    auto there = std::ranges::find(spare, slice.ports, &model::EndpointSlice::ports);
    if (there == spare.end()) {
      there = std::ranges::find(spare, slice.address_type, &model::EndpointSlice::address_type);
    }
    if (there == spare.end()) {
      slice.metadata.generate_name = observed.service.metadata.name + "-";
      desired.create.push_back(std::move(slice));
      continue;
    }
    there->endpoints = std::move(slice.endpoints);
    there->ports = std::move(slice.ports);
    there->metadata.labels = std::move(slice.metadata.labels);
    desired.update.push_back(std::move(*there));
    spare.erase(there);
  }
  desired.remove = std::move(spare);
  return desired;
}

}  // namespace codeflare::controllers::endpoints
