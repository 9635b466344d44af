#include "apiserver/rest/internal/proxy_target.h"

#include "apiserver/rest/internal/errors.h"
#include "json/parse.h"

#include <charconv>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace codeflare::apiserver::internal {
namespace {

constexpr std::string_view kServiceNameLabel = "kubernetes.io/service-name";
constexpr std::uint16_t kHttpPort = 80;
constexpr std::uint16_t kHttpsPort = 443;

std::string quoted(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

std::optional<std::uint16_t> port_of(std::optional<std::int64_t> number) {
  return number && *number > 0 && *number <= UINT16_MAX
             ? std::optional(static_cast<std::uint16_t>(*number))
             : std::nullopt;
}

std::optional<std::int64_t> integer_at(const json::Value& object, std::string_view key) {
  const json::Value* value = object.find(key);
  return value == nullptr ? std::nullopt : value->to_int64();
}

std::span<const json::Value> items_at(const json::Value& object, std::string_view key) {
  const json::Value* value = object.find(key);
  return value == nullptr ? std::span<const json::Value>() : value->items();
}

bool is_tcp(const json::Value& port) {
  const std::string_view protocol = port.string_or_empty("protocol");
  return protocol.empty() || protocol == "TCP";
}

// Of the containers' ports the named one, or without a name the first.
std::optional<std::uint16_t> container_port(const json::Value& pod, std::string_view name) {
  const json::Value* spec = pod.find("spec");
  if (spec == nullptr) {
    return std::nullopt;
  }
  for (const json::Value& container : items_at(*spec, "containers")) {
    for (const json::Value& port : items_at(container, "ports")) {
      if (name.empty() || (port.string_or_empty("name") == name && is_tcp(port))) {
        return port_of(integer_at(port, "containerPort"));
      }
    }
  }
  return std::nullopt;
}

Result<std::uint16_t> pod_port(const json::Value& pod, const ProxyName& wanted) {
  std::optional<std::uint16_t> port = port_of(number_of(wanted.port));
  if (!port) {
    port = container_port(pod, wanted.port);
  }
  if (!port && wanted.port.empty()) {
    port = wanted.tls ? kHttpsPort : kHttpPort;
  }
  if (!port) {
    return fail(service_unavailable("no port " + quoted(wanted.port) + " found for pod " +
                                    quoted(wanted.name)));
  }
  return *port;
}

// The name of the service's port, by which its endpoints know it.
Result<std::string> port_name(const json::Value& service, const ProxyName& wanted) {
  const std::optional<std::int64_t> number = number_of(wanted.port);
  if (!number) {
    return wanted.port;
  }
  if (const json::Value* spec = service.find("spec")) {
    for (const json::Value& port : items_at(*spec, "ports")) {
      if (integer_at(port, "port") == number) {
        return std::string(port.string_or_empty("name"));
      }
    }
  }
  return fail(service_unavailable("no service port " + std::to_string(*number) +
                                  " found for service " + quoted(wanted.name)));
}

bool is_ready(const json::Value& endpoint) {
  const json::Value* ready = endpoint.get({"conditions", "ready"});
  return ready == nullptr || !ready->is_boolean() || ready->as_bool();
}

// The ready pods of one slice, with the port of that name. Addresses that belong to no pod of the
// namespace are left out: a slice must not lead anywhere else.
void add_ready(const Call& call, const Resource& pods, const json::Value& slice,
               std::string_view port_name, std::vector<ProxyTarget>& found) {
  for (const json::Value& port : items_at(slice, "ports")) {
    const std::optional<std::uint16_t> number = port_of(integer_at(port, "port"));
    if (!number || !is_tcp(port) || port.string_or_empty("name") != port_name) {
      continue;
    }
    for (const json::Value& endpoint : items_at(slice, "endpoints")) {
      const json::Value* pod = endpoint.find("targetRef");
      if (pod == nullptr || pod->string_or_empty("kind") != "Pod" || !is_ready(endpoint)) {
        continue;
      }
      ObjectPtr object =
          call.server.store().get(pods.collection, call.ns(), pod->string_or_empty("name"));
      if (object != nullptr) {
        found.push_back({.pod = std::move(object), .port = *number});
      }
    }
  }
}

Result<std::vector<ProxyTarget>> ready_targets(const Call& call, std::string_view service,
                                               std::string_view port_name) {
  std::vector<ProxyTarget> found;
  const ResourcePtr slices = call.server.parts.registry.find("discovery.k8s.io", "endpointslices");
  const ResourcePtr pods = call.server.parts.registry.find("", "pods");
  if (slices == nullptr || pods == nullptr) {
    return found;
  }
  const Store::Range range{.ns = std::string(call.ns())};
  TRY(call.server.store().visit(slices->collection, range, [&](const ObjectPtr& object) {
    if (!object->labels().contains(service)) {
      return true;  // saves parsing it
    }
    const Result<json::Document> slice = json::parse(object->json());
    const json::Value* labels = slice ? slice->root.get({"metadata", "labels"}) : nullptr;
    if (labels != nullptr && labels->string_or_empty(kServiceNameLabel) == service) {
      add_ready(call, *pods, slice->root, port_name, found);
    }
    return true;
  }));
  return found;
}

Result<ProxyTarget> service_target(const Call& call, const json::Value& service,
                                   const ProxyName& wanted) {
  TRY_ASSIGN(const std::string name, port_name(service, wanted));
  TRY_ASSIGN(std::vector<ProxyTarget> ready, ready_targets(call, wanted.name, name));
  if (ready.empty()) {
    return fail(service_unavailable("no endpoints available for service " + quoted(wanted.name)));
  }
  const std::uint64_t chosen = call.server.env().random.below(ready.size());
  return std::move(ready[static_cast<std::size_t>(chosen)]);
}

}  // namespace

std::optional<ProxyName> parse_proxy_name(std::string_view text) {
  ProxyName name;
  const std::size_t first = text.find(':');
  const std::size_t second = first == std::string_view::npos ? first : text.find(':', first + 1);
  if (second != std::string_view::npos) {
    const std::string_view scheme = text.substr(0, first);
    if (!scheme.empty() && scheme != "http" && scheme != "https") {
      return std::nullopt;
    }
    name.tls = scheme == "https";
    name.name = text.substr(first + 1, second - first - 1);
    name.port = text.substr(second + 1);
  } else {
    name.name = text.substr(0, first);
    name.port = first == std::string_view::npos ? std::string_view() : text.substr(first + 1);
  }
  if (name.name.empty() || name.port.contains(':')) {
    return std::nullopt;
  }
  return name;
}

Result<ProxyTarget> proxy_target(const Call& call) {
  const bool of_pod = call.resource->plural == "pods";
  const std::optional<ProxyName> wanted = parse_proxy_name(call.info.name);
  if (!wanted) {
    return fail(bad_request("invalid " + std::string(of_pod ? "pod" : "service") + " request " +
                            quoted(call.info.name)));
  }
  ObjectPtr object = call.server.store().get(call.resource->collection, call.ns(), wanted->name);
  if (object == nullptr) {
    return fail(not_found_error(*call.resource, wanted->name));
  }
  if (call.server.parts.connect == nullptr) {
    return fail(not_implemented("no node serves " + call.resource->plural + "/proxy here"));
  }
  TRY_ASSIGN(const json::Document document, json::parse(object->json()));
  ProxyTarget target;
  if (of_pod) {
    TRY_ASSIGN(target.port, pod_port(document.root, *wanted));
    target.pod = std::move(object);
  } else {
    TRY_ASSIGN(target, service_target(call, document.root, *wanted));
  }
  target.tls = wanted->tls;
  return target;
}

}  // namespace codeflare::apiserver::internal
