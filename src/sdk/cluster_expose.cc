#include "json/parse.h"
#include "sdk/clusters.h"
#include "sdk/exposure.h"

#include <utility>

// The exposure of dashboards by what a server has.
namespace codeflare::sdk {

namespace {

const model::ResourceType kRoutes{"route.openshift.io", "v1", "Route", "routes", true};
const model::ResourceType kHttpRoutes{"gateway.networking.k8s.io", "v1", "HTTPRoute", "httproutes",
                                      true};
const model::ResourceType kGateways{"gateway.networking.k8s.io", "v1", "Gateway", "gateways", true};

Task<Result<bool>> serves(kube::Discovery& discovery, model::ResourceType type) {
  const Result<kube::ApiResource> found = co_await discovery.find(type.plural, type.group);
  if (!found && found.error().code != ErrorCode::not_found) {
    co_return fail(found.error());
  }
  co_return found.has_value();
}

// NAMESPACE/NAME/LISTENER of every listener with TLS.
std::vector<std::string> secure_listeners(const kube::ObjectList& gateways) {
  std::vector<std::string> found;
  for (const kube::ObjectRef& object : gateways.items) {
    const Result<json::Document> gateway = json::parse(object->text());
    const json::Value* spec = gateway ? gateway->root.find("spec") : nullptr;
    const json::Value* listeners = spec == nullptr ? nullptr : spec->find("listeners");
    if (listeners == nullptr || !listeners->is_array()) {
      continue;
    }
    for (const json::Value& listener : listeners->items()) {
      if (listener.string_or_empty("protocol") == "HTTPS") {
        found.push_back(std::string(object->ns()) + "/" + std::string(object->name()) + "/" +
                        std::string(listener.string_or_empty("name")));
      }
    }
  }
  return found;
}

Error gateway_missing(const std::string& name, const std::string& problem) {
  return invalid_argument("expose_gateway: is missing for Ray cluster '" + name + "': " + problem +
                          "; give NAMESPACE/NAME/LISTENER of a Gateway with TLS");
}

Task<Result<std::string>> only_gateway(kube::Client& client, std::string name) {
  const Result<kube::ObjectList> gateways = co_await client.list_all(kGateways, {});
  if (!gateways && gateways.error().code == ErrorCode::permission_denied) {
    co_return fail(gateway_missing(name, "you may not list the Gateways of all namespaces"));
  }
  if (!gateways) {
    co_return fail(gateways.error());
  }
  const std::vector<std::string> found = secure_listeners(*gateways);
  if (found.size() > 1) {
    std::string all;
    for (const std::string& each : found) {
      all += (all.empty() ? "" : ", ") + each;
    }
    co_return fail(gateway_missing(name, std::to_string(found.size()) + " fit (" + all + ")"));
  }
  co_return found.empty() ? std::string() : found.front();
}

}  // namespace

Task<Result<ClusterConfig>> Clusters::with_exposure(ClusterConfig config) {
  if (!config.expose || !config.expose_kind.empty()) {
    co_return config;
  }
  CO_TRY_ASSIGN(const bool routes, co_await serves(discovery_, kRoutes));
  if (routes) {
    config.expose_kind = kRoute;
    co_return config;
  }
  CO_TRY_ASSIGN(const bool http_routes, co_await serves(discovery_, kHttpRoutes));
  if (http_routes && config.expose_gateway.empty()) {
    CO_TRY_ASSIGN(config.expose_gateway, co_await only_gateway(client_, config.name));
  }
  config.expose_kind = http_routes && !config.expose_gateway.empty() ? kHttpRoute : kIngress;
  if (config.expose_host.empty()) {
    co_return fail(invalid_argument(
        "expose_host: is missing for Ray cluster '" + config.name + "': this server has " +
        (config.expose_kind == kIngress ? "Ingresses" : "HTTPRoutes") +
        ", which need a host name; give one that leads to it, such as " + config.name +
        ".example.com"));
  }
  co_return config;
}

Task<Result<void>> Clusters::add_exposed_host(ClusterInfo& info) {
  const std::optional<Exposure> exposure =
      info.objects.wrapper ? exposure_of(*info.objects.wrapper) : std::nullopt;
  if (!exposure || !exposure->host.empty() || exposure->kind != kRoute) {
    co_return Result<void>();
  }
  const Result<kube::ObjectRef> route = co_await client_.get(kRoutes, exposure->key);
  if (!route) {
    // Not created yet, or not for this user to see: the cluster is described without it.
    co_return route.error().code == ErrorCode::cancelled ? fail(route.error()) : Result<void>();
  }
  CO_TRY_ASSIGN(const json::Document document, json::parse((*route)->text()));
  if (const std::optional<Exposure> served = exposure_of(document.root)) {
    info.dashboard_uri = served->uri();
  }
  co_return Result<void>();
}

}  // namespace codeflare::sdk
